"""Unpaired voice conversion on AudioMNIST: the paper's protocol beside every baseline, then whole recordings.

PAIRUP_DATA=folder python3 dev.py bench voice --splits=20

The constants of `pair_frames` were chosen among about a hundred variants, by their distance to the true pairs, on
splits of other seeds (1000 to 1007, drawn by default_rng(seed)), on splits by word and on synthetic voices. Those
splits draw on the same recordings, so their test frames overlap with these. The synthesis was chosen on takes 0 to 17:
its second pass after the result on takes 10 to 14 was seen, the number of frames and their smoothing on takes 15 to 17.
Takes 18 and 19 were not used for any choice.
"""

import argparse
import time
import warnings

import numpy as np

from pairup.datasets import data_folder
from pairup.metrics import mel_cepstral_distortion
from pairup.voice import Recording, VoiceConverter, read_recording
from pairup.voice.alignment import align
from pairup.voice.frames import mel_cepstrum
from pairup.voice.methods import METHODS
from pairup.voice.score import score_frames, score_voice, summarize
from pairup.voice.splits import align_recordings, pair_sentences
from pairup.voice.synthesis import estimate_pitch

FOLDER = data_folder() / "voice" / "audiomnist_48k"
SOURCE, TARGET = FOLDER / "spk01", FOLDER / "spk11"
TRAIN = (50, 100, 200)


def score_splits(splits: int) -> None:
    frames = align_recordings(SOURCE, TARGET)
    print(f"{len(frames.X)} and {len(frames.Y)} frames, order {frames.X.shape[1]}, {splits} splits; LSD in dB")
    for setting in ("shuffled", "disjoint"):
        begin = time.process_time()
        lines = {
            (line["method"], line["n"]): line
            for line in summarize(score_frames(frames, train=TRAIN, splits=splits, setting=setting))
        }
        print(
            f"\n{setting}: mean ± std over splits (worst split above the mean); {time.process_time() - begin:.0f} CPU s"
        )
        for method in METHODS:
            cells = (
                f"{line['mean']:.3f} ± {line['std']:.3f} (+{line['worst'] - line['mean']:.2f})"
                for line in (lines[method, n] for n in TRAIN)
            )
            print(f"{method:>14}  " + "   ".join(cells))
        for rival in ("inca", "inca-z"):
            shares = (
                (lines[rival, n]["mean"] - lines["auto", n]["mean"])
                / (lines[rival, n]["mean"] - lines["oracle", n]["mean"])
                for n in TRAIN
            )
            print(f"auto closes {', '.join(f'{share:.0%}' for share in shares)} of the gap between {rival} and oracle")


def list_recordings(folder, words, takes):
    return [folder / f"{word}_{take:02d}.wav" for word in words for take in takes]


def score_whole_recordings() -> None:
    """Five folds: two words held out, the other eight to learn from, different takes of source and target."""
    for takes, note in (
        ((18, 19), "18 and 19, not used for any choice"),
        (range(10, 20), "10 to 19, some used for choices"),
    ):
        print(f"\nwhole recordings of held-out words, no take shared with training; takes {note}")
        score_held_out_words(takes)


def score_held_out_words(takes) -> None:
    print("            MCD before  after   by CheapTrick before  after   pitch error before  after (cents)")
    medians = []
    for synthesis in ("world", "residual"):
        rows, second = [], []
        for held in ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9)):
            words = [word for word in range(10) if word not in held]
            voice = VoiceConverter().fit(
                list_recordings(SOURCE, words, range(5)), list_recordings(TARGET, words, range(5, 10))
            )
            test = list_recordings(SOURCE, held, takes), list_recordings(TARGET, held, takes)
            rows += score_voice(voice, *test, synthesis=synthesis)
            second += [score_by_cheaptrick(voice, *pair, synthesis) for pair in pair_sentences(*test)]
        mean = {key: np.nanmean([row[key] for row in rows]) for key in rows[0] if key != "name"}
        before, after = np.mean(second, axis=0)
        medians.append(f"{compare_median_pitch(voice, *test, synthesis)} by {synthesis}")
        print(
            f"{synthesis:>9}  {mean['mcd_before']:11.2f} {mean['mcd']:6.2f} {before:22.2f} {after:6.2f}"
            f" {mean['pitch_before']:20.0f} {mean['pitch']:6.0f}"
        )
    print(f"median pitch of the last two words (Hz), source → converted → target: {', '.join(medians)}")
    speech = np.concatenate([read_recording(path).signal for path in list_recordings(SOURCE, range(10), (15, 16))])
    ten_seconds = Recording(np.resize(speech, 480000), 48000)
    for synthesis in ("world", "residual"):
        begin = time.process_time()
        voice.convert(ten_seconds, synthesis=synthesis)
        print(f"10 s of speech by {synthesis}: {time.process_time() - begin:.1f} CPU s")


def compare_median_pitch(voice, source, target, synthesis) -> str:
    pairs = pair_sentences(source, target)
    spoken = ([x for x, _ in pairs], [voice.convert(x, synthesis=synthesis) for x, _ in pairs], [y for _, y in pairs])
    tracks = (np.concatenate([estimate_pitch(each, voice.framing_) for each in group]) for group in spoken)
    return " → ".join(f"{np.median(f0[f0 > 0]):.0f}" for f0 in tracks)


def score_by_cheaptrick(voice, spoken, wanted, synthesis) -> tuple[float, float]:
    """MCD before and after by WORLD's CheapTrick, an analysis that the conversion does not use."""
    import pyworld

    framing = voice.framing_

    def compute_cepstra(recording):
        f0 = estimate_pitch(recording, framing)
        times = np.arange(len(f0)) * framing.step / framing.rate
        power = pyworld.cheaptrick(recording.resample(framing.rate).signal, f0, times, framing.rate)
        speech = framing(recording).is_speech[: len(f0)]
        return mel_cepstrum(power[: len(speech)][speech], framing.rate)

    truth = compute_cepstra(wanted)
    scores = []
    for recording in (spoken, voice.convert(spoken, synthesis=synthesis)):
        C = compute_cepstra(recording)
        i, j = align(C, truth).T
        scores.append(mel_cepstral_distortion(C[i], truth[j]))
    return scores[0], scores[1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=20)
    splits = parser.parse_args().splits
    warnings.simplefilter("ignore")
    score_whole_recordings()
    score_splits(splits)
