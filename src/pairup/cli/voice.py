"""``pairup voice``: train, convert and score."""

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pairup.cli.shell import MethodChoice, progress, refuse_existing, show_help
from pairup.methods import VOICE_METHODS

if TYPE_CHECKING:
    from pairup.voice import Recording

EXISTING = click.Path(exists=True, path_type=Path)


@click.group(invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Convert one voice into another; the two need not say the same sentences.

    \b
    Examples:
      pairup voice train alice/ bob/ -o bob.npz
      pairup voice convert bob.npz alice.wav -o out.wav
    """
    show_help(ctx)


@command.command(short_help="Learn to turn one voice into another.")
@click.argument("source", type=EXISTING)
@click.argument("target", type=EXISTING)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="File to save the voice to: .npz.")
@click.option("--frames", type=click.IntRange(10), default=1200, show_default=True, help="Frames to learn from.")
@click.option("--rate", type=click.IntRange(8000), help="Samples per second to work at [default: the lowest found].")
@click.option("--random-state", "--seed", type=int, default=0, show_default=True, help="Seed of the choice of frames.")
@click.option("--listen", is_flag=True, help="Convert a sample of SOURCE at once, write it beside the voice, play it.")
@click.option("--force", is_flag=True, help="Overwrite an existing output.")
@click.option("--json", "as_json", is_flag=True, help="Print what was learned as one JSON object.")
def train(
    source: Path,
    target: Path,
    output: Path,
    frames: int,
    rate: int | None,
    random_state: int,
    listen: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Learn to turn the voice of SOURCE into that of TARGET; each is a recording or a folder of them.

    \b
    Examples:
      pairup voice train alice/ bob/ -o bob.npz
      pairup voice train alice.wav bob.wav -o bob.npz --listen
    """
    from pairup.files import check_writable

    if output.suffix.lower() != ".npz":
        raise click.UsageError(f"{output}: a voice is no sound; expected a name that ends in .npz")
    sample = output.with_name(f"{output.stem}-sample.wav")
    refuse_existing([output, sample] if listen else [output], force)
    check_writable(output)
    with _show_warnings(), progress("learning the voice", total=1.0) as bar:
        from pairup.voice import VoiceConverter
        from pairup.voice.converter import check_voice_path

        check_voice_path(output)
        voice = VoiceConverter(n_frames=frames, rate=rate, random_state=random_state)
        for step in voice.fit_steps(source, target):
            bar.update(step.text, step.progress)
        voice.save(output)
        if listen:
            bar.update("converting a sample", 1.0)
            voice.convert(_choose_sample(source), sample)
    learned = {
        "voice": str(output),
        "rate": voice.framing_.rate,
        "order": voice.framing_.order,
        "frames": len(voice.samples_),
        "skipped": voice.skipped_,
    }
    if listen:
        learned["sample"] = str(sample)
    if as_json:
        click.echo(json.dumps(learned))
    else:
        click.echo(
            f"voice learned from {learned['frames']} frames at {learned['rate']} Hz, saved to {output}", err=True
        )
    if listen:
        from pairup.cli.playback import play

        heard = play(sample)
        if not as_json:
            told = "played" if heard else "there is no player here that plays it; open it yourself"
            click.echo(f"a sample of the source in the new voice was saved to {sample} ({told})", err=True)


def _choose_sample(source: Path) -> "Recording":
    """Return the longest recording of the source, cut to ten seconds."""
    from pairup.voice import Recording, read_recordings

    with warnings.catch_warnings():  # what is wrong with a recording was told when it was learned from
        warnings.simplefilter("ignore", UserWarning)
        longest = max(read_recordings(source)[0], key=lambda recording: recording.duration)
    return Recording(longest.signal[: 10 * longest.rate], longest.rate, longest.name)


@command.command(short_help="Convert recordings with a trained voice.")
@click.argument("voice", type=EXISTING)
@click.argument("recording", type=EXISTING)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True,
    help="Sound file to write, or a folder if RECORDING is a folder.",
)  # fmt: skip
@click.option("--synthesis", type=click.Choice(["world", "residual"]), default="world", show_default=True,
              help="world changes the pitch too; residual keeps that of the source.")  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite existing outputs.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per recording.")
def convert(voice: Path, recording: Path, output: Path, synthesis: Any, force: bool, as_json: bool) -> None:
    """Convert RECORDING, a file or a folder, with a trained VOICE.

    \b
    Examples:
      pairup voice convert bob.npz alice.wav -o out.wav
      pairup voice convert bob.npz alice/ -o converted/
    """
    from pairup.voice import VoiceConverter, read_recordings

    converter = VoiceConverter.load(voice)
    if not recording.is_dir():
        refuse_existing([output], force)
        with _show_warnings(), progress(f"converting {recording}"):
            converter.convert(recording, output, synthesis=synthesis)
        _report_conversion(recording, output, as_json)
        return
    recordings, skipped = read_recordings(recording)
    outputs = [output / Path(each.name).relative_to(recording) for each in recordings]
    refuse_existing(outputs, force)
    with _show_warnings(), progress("converting", total=len(recordings), unit="recordings") as bar:
        for done, (each, path) in enumerate(zip(recordings, outputs, strict=True)):
            bar.update(f"converting {each.name}", done)
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                converter.convert(each, path, synthesis=synthesis)
            except ValueError as error:  # too short: the others are still worth converting
                skipped.append(str(error))
            else:
                _report_conversion(Path(each.name), path, as_json)
    for reason in skipped:
        click.echo(f"skipped: {reason}", err=True)


@command.command(short_help="Score conversion between two folders.")
@click.argument("source", type=EXISTING)
@click.argument("target", type=EXISTING)
@click.option("--train", "numbers", type=click.IntRange(10), multiple=True, default=(200,), show_default=True,
              help="Training frames; may be repeated.")  # fmt: skip
@click.option("--splits", type=click.IntRange(1), default=5, show_default=True, help="Random splits.")
@click.option("--test", type=click.IntRange(1), default=8000, show_default=True, help="Test frames at most.")
@click.option("--method", "methods", type=MethodChoice(VOICE_METHODS), multiple=True,
              metavar="NAME", help=f"{', '.join(VOICE_METHODS[:-1])} or {VOICE_METHODS[-1]}; auto pairs as "
              "`voice train` does, match is pairup.match; repeatable [default: all].")  # fmt: skip
@click.option("--setting", type=click.Choice(["shuffled", "disjoint"]), default="shuffled", show_default=True,
              help="Whether the training frames of both come from the same sentences.")  # fmt: skip
@click.option("--voice", type=EXISTING, help="Score this trained voice on whole recordings instead.")
@click.option("--synthesis", type=click.Choice(["world", "residual"]), default="world", show_default=True,
              help="world changes the pitch too; residual keeps that of the source.")  # fmt: skip
@click.option("--random-state", "--seed", type=int, default=0, show_default=True, help="Seed of the splits.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per measurement.")
def score(
    source: Path,
    target: Path,
    numbers: tuple[int, ...],
    splits: int,
    test: int,
    methods: tuple[str, ...],
    setting: Any,
    voice: Path | None,
    synthesis: Any,
    random_state: int,
    as_json: bool,
) -> None:
    """Score conversion from SOURCE to TARGET, two folders with the same sentences under the same file names.

    Prints the log-spectral distance (dB) of every method and baseline; with --voice, the mel-cepstral distortion (dB)
    and pitch error (cents) of every sentence before and after conversion.

    \b
    Examples:
      pairup voice score alice/ bob/ --train 200 --splits 5
      pairup voice score alice/ bob/ --voice bob.npz --json
    """
    from pairup.voice import VoiceConverter
    from pairup.voice.score import score_frames, score_voice, summarize
    from pairup.voice.splits import align_recordings

    rows = []
    with _show_warnings(), progress("reading the recordings", unit="scores") as bar:
        if voice is not None:
            measured = score_voice(VoiceConverter.load(voice), source, target, synthesis=synthesis)
        else:
            measured = score_frames(
                align_recordings(source, target),
                train=numbers,
                splits=splits,
                methods=methods or VOICE_METHODS,
                setting=setting,
                test=test,
                random_state=random_state,
            )
        for row in measured:
            rows.append(row)
            bar.update(
                f"scored {row['method']}, n = {row['n']}" if voice is None else f"scored {row['name']}", len(rows)
            )
            if as_json:
                click.echo(json.dumps(row))
    if as_json:
        return
    if voice is None:
        click.echo("n\tmethod\tLSD mean\tstd\tworst")
        for line in summarize(rows):
            click.echo(f"{line['n']}\t{line['method']}\t{line['mean']:.3f}\t{line['std']:.3f}\t{line['worst']:.3f}")
    else:
        click.echo("name\tMCD before\tafter\tpitch error before\tafter")
        for row in rows:
            click.echo(
                f"{row['name']}\t{row['mcd_before']:.2f}\t{row['mcd']:.2f}\t{row['pitch_before']:.0f}\t{row['pitch']:.0f}"
            )


def _report_conversion(recording: Path, output: Path, as_json: bool) -> None:
    """Print which file was written."""
    if as_json:
        click.echo(json.dumps({"recording": str(recording), "output": str(output)}))
    else:
        click.echo(f"{recording} converted to {output}", err=True)


@contextmanager
def _show_warnings() -> Iterator[None]:
    """Print each warning as one line on stderr."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *args, **kwargs: click.echo(f"Warning: {message}", err=True)
        yield
