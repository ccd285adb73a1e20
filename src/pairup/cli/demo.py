"""``pairup demo``: pictures that ship with the install, matched and arranged."""

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
@click.option(
    "--tiles", type=click.IntRange(min=4), default=320, show_default=True, help="Number of pictures to cut in two."
)
@click.option("--open/--no-open", "show", default=None, help="Open the results [default: if there is a screen].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(output: Path, tiles: int, show: bool | None, as_json: bool) -> None:
    """Cut pictures in two, shuffle the right halves, and match them again; then arrange the pictures in a heart.

    The pictures ship with scikit-image and scikit-learn. The true pairs are used only to count the right matches.
    """
    from pairup.album import Album, Frame, Photos, Style, arrange_steps
    from pairup.cli.shell import has_screen, progress
    from pairup.datasets import half_images, load_tiles, to_lab
    from pairup.extras import require
    from pairup.files import check_writable, make_folder, replace_file
    from pairup.matching import match_steps
    from pairup.metrics import right_pairs
    from pairup.mosaic import mosaic, side_by_side
    from pairup.result import Matching

    image = require("PIL.Image", extra="album")
    names = ("halves.png", "album.png", "album.html")
    sheet, heart, page = (check_writable(make_folder(output) / name) for name in names)
    with progress("cutting pictures") as bar:
        pictures = load_tiles(tiles)
        X, Y, truth = half_images(to_lab(pictures))
        for step in match_steps(X, Y, n_jobs=-1):
            if isinstance(step, Matching):
                matching = step
            else:
                bar.update(f"matching {tiles} left with {tiles} right halves: dependence {step.value:.4g}")
        for stage in arrange_steps(Photos.from_arrays(pictures), Frame.shape("heart")):
            if isinstance(stage, Album):
                album = stage
            else:
                bar.update(f"arranging {tiles} pictures in a heart: {stage.progress:.0%}")
        right = right_pairs(matching.indices, truth, Y)
        middle = pictures.shape[2] // 2
        left, shuffled = pictures[:, :, :middle], pictures[truth.argsort(), :, middle:]
        drawn = mosaic(side_by_side(left, shuffled, matching.indices), marked=~right)
        with replace_file(sheet) as temporary:
            image.fromarray(drawn).save(temporary)
        for path in (heart, page):
            album.save(path, Style(cell=pictures.shape[1], gap=0.1, title="pairup demo"))
    found = int(right.sum())
    if as_json:
        answer = {"method": matching.method, "pairs": tiles, "right": found, "chance": 1}
        click.echo(json.dumps({**answer, "picture": str(sheet), "album": str(page)}))
    else:
        click.echo(f"{found} of {tiles} halves matched correctly by {matching.method}; at random it would be 1")
        click.echo(f"{sheet}: each left half with the right half matched to it, wrong ones framed")
        click.echo(f"{page}: the pictures in a heart, similar ones side by side")
    if has_screen() if show is None else show:
        for path in (sheet, page):
            click.launch(str(path))
