"""``pairup demo``: matches halves of pictures that ship with the install."""

import json
from pathlib import Path

import click


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("pairup-demo"),
    show_default=True,
    help="Folder for the results.",
)
@click.option("--tiles", type=click.IntRange(min=4), default=320, show_default=True, help="How many pictures to cut.")
@click.option("--open/--no-open", "show", default=None, help="Show the result [default: where there is a screen].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(output: Path, tiles: int, show: bool | None, as_json: bool) -> None:
    """Cut pictures in two, shuffle the right halves, and find them again.

    The pictures ship inside scikit-image and scikit-learn. The true pairs are used for nothing but counting.
    """
    from pairup.cli.shell import has_screen, progress
    from pairup.datasets import half_images, load_tiles, to_lab
    from pairup.extras import require
    from pairup.files import check_writable, make_folder, replacing
    from pairup.matching import Matching, match_steps
    from pairup.metrics import right_pairs
    from pairup.mosaic import mosaic, side_by_side

    image = require("PIL.Image", extra="album")
    picture = check_writable(make_folder(output) / "halves.png")
    with progress("cutting pictures") as bar:
        pictures = load_tiles(tiles)
        X, Y, truth = half_images(to_lab(pictures))
        matching: Matching | None = None
        for step in match_steps(X, Y, n_jobs=-1):
            if isinstance(step, Matching):
                matching = step
            else:
                bar.update(f"matching {tiles} left with {tiles} right halves: dependence {step.value:.4g}")
    assert matching is not None
    right = right_pairs(matching.indices, truth, Y)
    middle = pictures.shape[2] // 2
    left, shuffled = pictures[:, :, :middle], pictures[truth.argsort(), :, middle:]
    sheet = mosaic(side_by_side(left, shuffled, matching.indices), marked=~right)
    with replacing(picture) as temporary:
        image.fromarray(sheet).save(temporary)
    found = int(right.sum())
    if as_json:
        answer = {"method": matching.method, "pairs": tiles, "right": found, "chance": 1, "picture": str(picture)}
        click.echo(json.dumps(answer))
    else:
        click.echo(f"{found} of {tiles} right halves found by {matching.method}; chance finds 1")
        click.echo(f"{picture}: every left half with the right half found for it, wrong ones framed")
    if has_screen() if show is None else show:
        click.launch(str(picture))
