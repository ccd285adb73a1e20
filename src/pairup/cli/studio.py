"""``pairup studio``: the same in the browser, live."""

import gc
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pairup.methods import SOUND_SUFFIXES

if TYPE_CHECKING:
    from pairup.studio.worker import Worker

TABLES = (".csv", ".tsv", ".txt", ".npy", ".npz", ".parquet", ".xlsx", ".edges", ".edgelist", ".graphml")


@click.command()
@click.argument(
    "sources", nargs=-1, metavar="[PHOTOS... | X Y | VOICES...]", type=click.Path(exists=True, path_type=Path)
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port [default: one that is free].")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Where to listen; beyond this computer, the studio asks for a token, which it prints.",
)
@click.option(
    "--workspace",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the projects [default: the system's place for data].",
)
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page.")
def command(sources: tuple[Path, ...], port: int, host: str, workspace: Path | None, browser: bool) -> None:
    """Pair and arrange in the browser, live: albums, two tables, voices.

    With a folder of PHOTOS or photo files it begins with an album of them, with two tables X and Y with their matching,
    with recordings or folders of two VOICES, source and target, with learning the second. What is to be converted may
    follow. All files are read where they are and never changed. Projects are kept in the workspace; Ctrl-C stops the
    studio, and nothing is lost.

    \b
    Examples:
      pairup studio photos/
      pairup studio customers.csv orders.csv
    """
    from pairup.studio.worker import Worker

    are_tables = [path.suffix.lower() in TABLES for path in sources]
    if any(are_tables) and not (all(are_tables) and len(sources) == 2):
        raise click.UsageError("expected photos, or two tables, such as: pairup studio x.csv y.csv")
    are_sounds = [_holds_sound(path) for path in sources] if not any(are_tables) else []
    if any(path.is_file() and sound for path, sound in zip(sources, are_sounds, strict=False)) and not (
        all(are_sounds) and len(sources) >= 2
    ):
        raise click.UsageError("expected recordings of two voices, such as: pairup studio anna.wav ben.wav")
    kind = "match" if any(are_tables) else "voice" if all(are_sounds) and len(sources) >= 2 else "album"
    worker = Worker(warm=True)  # it loads and compiles while this process loads the server
    try:
        _run(sources, kind, worker, port, host, workspace, browser)
    finally:
        worker.stop()


def _run(
    sources: tuple[Path, ...],
    kind: str,
    worker: "Worker",
    port: int,
    host: str,
    workspace: Path | None,
    browser: bool,
) -> None:
    """Open the workspace and serve it until Ctrl-C."""
    from pairup.extras import require

    with _without_collector():
        require("uvicorn", extra="studio")
        require("fastapi", extra="studio")
        from pairup.studio.server import KINDS, LOOPBACK, create_app, serve
        from pairup.studio.service import Studio
        from pairup.studio.workspace import Workspace, default_workspace

    studio = Studio(Workspace(workspace or default_workspace()), KINDS)
    studio.jobs.adopt(worker)
    path = ""
    if sources:
        name = " and ".join(path.stem for path in sources[:2]) if len(sources) <= 2 else f"{sources[0].stem} and others"
        project = studio.start_with(kind, list(sources), name)
        path = f"{kind}/{project.id}"
    local = host in ("127.0.0.1", "localhost", "::1")
    token = None if local else secrets.token_urlsafe(16)
    with _without_collector():
        app = create_app(studio, hosts=LOOPBACK if local else frozenset({"*"}), token=token)

    def tell(number: int) -> None:
        shown = "localhost" if host in ("127.0.0.1", "0.0.0.0", "::", "::1") else host
        address = f"http://{shown}:{number}/"
        studio.workspace.publish(address)
        opened = f"{address}{path}?token={token}" if token else address + path
        click.echo(f"The studio runs at {opened}\nStop it with Ctrl-C; nothing is lost.", err=True)
        if browser:
            click.launch(opened)

    with suppress(KeyboardInterrupt):  # the way to stop it, so no failure; on a busy computer it may not come through
        serve(app, host=host, port=port, started=tell)
    click.echo("The studio has stopped.", err=True)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Load modules without looking for garbage among them, which takes a quarter of the start."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # what was loaded stays
        gc.enable()


def _holds_sound(path: Path) -> bool:
    """Tell whether a file is a recording, or a folder holds one among the first files found in it."""
    files = islice(path.rglob("*"), 500) if path.is_dir() else [path]
    return any(file.suffix.lower() in SOUND_SUFFIXES for file in files)
