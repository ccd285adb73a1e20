"""``pairup demo``: pictures that ship with the install, shredded, put together again, and arranged."""

import json
from dataclasses import replace
from itertools import count
from pathlib import Path

import click

from pairup.methods import CUTS

FILES = ("demo.png", "demo.html", "album.png", "album.html")
FOLDER = "pairup-demo"


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the results [default: pairup-demo, or a free name like it].",
)
@click.option(
    "--task",
    type=click.Choice(CUTS),
    default="strips",
    show_default=True,
    help="How each picture is cut; halves is the paper's task, and hard.",
)
@click.option("--tiles", type=click.IntRange(min=4), default=320, show_default=True, help="Number of pictures.")
@click.option("--open/--no-open", "show", default=None, help="Open the results [default: if there is a screen].")
@click.option("--force", is_flag=True, help="Overwrite existing results.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(output: Path | None, task: str, tiles: int, show: bool | None, force: bool, as_json: bool) -> None:
    """Shred pictures, mix the pieces up, and put them together again; then arrange the pictures in a heart.

    The pictures ship with scikit-image and scikit-learn. The true pairs are used only to count the right ones.

    \b
    Examples:
      pairup demo
      pairup demo --task halves --output halves
    """
    from pairup.album import Album, Frame, Photos, Style, arrange_steps
    from pairup.album.render import draw_picture
    from pairup.cli.shell import has_screen, progress, refuse_existing
    from pairup.datasets import load_tiles
    from pairup.files import check_writable, make_folder, replace_file
    from pairup.matching import match_steps
    from pairup.result import Matching
    from pairup.shreds import Reunion, Shreds

    folder = _free_folder() if output is None else output
    refuse_existing([folder / name for name in FILES], force)
    with progress("cutting pictures") as bar:
        pictures = load_tiles(tiles)
        sheet, page, heart, album_page = (check_writable(make_folder(folder) / name) for name in FILES)
        shreds = Shreds.cut(pictures, task)
        X, Y, _ = shreds.sets
        for step in match_steps(X, Y, n_jobs=-1):
            if isinstance(step, Matching):
                matching = step
            else:
                bar.update(f"putting {tiles} pictures together: dependence {step.value:.4g}")
        for stage in arrange_steps(Photos.from_arrays(pictures), Frame.shape("heart")):
            if isinstance(stage, Album):
                album = stage
            else:
                bar.update(f"arranging {tiles} pictures in a heart: {stage.progress:.0%}")
        bar.update("drawing")
        style = Style(cell=pictures.shape[1], gap=0.1, title="pairup demo")
        for path in (heart, album_page):
            album.save(path, style)
        reunion = Reunion(shreds, matching, task)
        with replace_file(sheet) as temporary:
            reunion.draw().save(temporary)
        with replace_file(page) as temporary:
            drawn = draw_picture(album, replace(style, background="transparent"))
            temporary.write_text(reunion.page(drawn, album_page.name), encoding="utf-8")
    if as_json:
        answer = {"method": matching.method, "task": task, "pairs": tiles, "right": int(reunion.right.sum())}
        sure = {"sure": int(reunion.sure.sum()), "sure_and_right": int((reunion.sure & reunion.right).sum())}
        paths = {"picture": str(sheet), "page": str(page), "album": str(album_page)}
        click.echo(json.dumps({**answer, "chance": 1, **sure, **paths}))
    else:
        click.echo(
            f"{reunion.words}\n"
            f"Its own verdict: {matching.verdict}.\n\n"
            f"{sheet}: the two piles, and what became of them\n"
            f"{page}: the same as a page on which the pieces move\n"
            f"{album_page}: the pictures in a heart, similar ones side by side\n\n"
            "Try next:\n"
            "  pairup album photos/ -o album.html      your photos, similar ones side by side\n"
            "  pairup match x.csv y.csv -o pairs.csv   the rows of two tables\n"
            "  pairup studio                           both in the browser"
        )
    if has_screen() if show is None else show:
        click.launch(str(page))


def _free_folder() -> Path:
    """Return the first of pairup-demo, pairup-demo-2, … that does not exist."""
    names = (FOLDER if number == 1 else f"{FOLDER}-{number}" for number in count(1))
    return next(path for path in map(Path, names) if not path.exists())
