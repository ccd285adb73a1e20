"""The server: the application, its guards, and the loop that serves it."""

import asyncio
import re
import socket
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.requests import ClientDisconnect
from starlette.staticfiles import StaticFiles

import pairup
from pairup.studio import album, match, voice
from pairup.studio.guards import Guard
from pairup.studio.kinds import Kind, RefusedError
from pairup.studio.models import IDENTIFIER
from pairup.studio.routes import make_router, router
from pairup.studio.service import Studio
from pairup.studio.uploads import TooLargeUploadError

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
KINDS: dict[str, Kind] = {kind.name: kind for kind in (album.KIND, match.KIND, voice.KIND)}
STATIC = Path(str(files("pairup.studio").joinpath("static")))


def create_app(studio: Studio, *, hosts: frozenset[str] = LOOPBACK, token: str | None = None) -> FastAPI:
    """Make the application.

    Parameters
    ----------
    studio : Studio
        What it serves.
    hosts : frozenset of str, default LOOPBACK
        Names by which it may be reached; "*" for all, which needs a token.
    token : str, optional
        What a browser must show; None on this computer alone.

    Returns
    -------
    FastAPI
        The application.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        studio.bus.attach(asyncio.get_running_loop())
        await asyncio.to_thread(studio.resume)
        yield
        studio.bus.close()
        await asyncio.to_thread(studio.close)

    app = FastAPI(
        title="pairup studio",
        version=pairup.__version__,
        description="Albums, matchings and voices, live.",
        lifespan=lifespan,
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.studio = studio
    app.add_middleware(Guard, hosts=hosts, token=token)
    app.include_router(router)
    for kind in studio.kinds.values():
        app.include_router(make_router(kind))
    for part in (album, match, voice):
        app.include_router(part.router)
    _add_handlers(app)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")

    @app.get("/", include_in_schema=False)
    @app.get("/{kind}/{project_id}", include_in_schema=False)
    def page(kind: str = "", project_id: str = "") -> FileResponse:
        """Return the page, which asks for the rest."""
        if kind and (kind not in studio.kinds or not re.fullmatch(IDENTIFIER, project_id)):
            raise StarletteHTTPException(404, "there is no such page")
        return FileResponse(STATIC / "index.html", media_type="text/html")

    return app


def _add_handlers(app: FastAPI) -> None:
    """Answer every refusal with one sentence."""

    def answer(status: int) -> Callable[[Request, Exception], JSONResponse]:
        return lambda _, error: JSONResponse({"detail": str(error)}, status_code=status)

    def explain(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        first: dict[str, Any] = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body")
        text = f"{place}: {first['msg']}" if place else first["msg"]
        return JSONResponse({"detail": text.encode(errors="replace").decode()}, status_code=422)

    def report(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": f"the studio cannot write ({error}); is the disk full?"}, status_code=507)

    app.add_exception_handler(RequestValidationError, explain)
    app.add_exception_handler(sqlite3.OperationalError, report)
    app.add_exception_handler(OSError, report)
    app.add_exception_handler(
        sqlite3.ProgrammingError,  # its file is closed
        lambda *_: JSONResponse({"detail": "this project was deleted meanwhile"}, status_code=404),
    )
    app.add_exception_handler(ClientDisconnect, answer(400))  # nobody reads it: a page was closed while it sent
    app.add_exception_handler(TooLargeUploadError, answer(413))
    app.add_exception_handler(RefusedError, answer(409))


def serve(
    app: FastAPI, *, host: str = "127.0.0.1", port: int = 0, started: Callable[[int], None] | None = None
) -> None:
    """Serve the application until Ctrl-C.

    Parameters
    ----------
    app : FastAPI
        The application.
    host : str, default "127.0.0.1"
        Where to listen.
    port : int, default 0
        The port; 0 for any that is free.
    started : callable, optional
        Called with the port when the studio can be reached.
    """
    listening = bind(host, port)
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=2, lifespan="on")
    server = Server(config, app.state.studio, lambda: started and started(listening.getsockname()[1]))
    server.run(sockets=[listening])


def bind(host: str, port: int) -> socket.socket:
    """Take a port.

    Parameters
    ----------
    host : str
        Where to listen.
    port : int
        The port; 0 for any that is free.

    Returns
    -------
    socket.socket
        The socket.

    Raises
    ------
    OSError
        If the port is taken or not allowed; the text says what to do.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    if hasattr(socket, "SO_REUSEADDR") and hasattr(socket, "AF_UNIX"):  # on Windows it would share the port
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        raise OSError(f"cannot listen at {host}, port {port}: {error}; choose another --port") from error
    return listening


class Server(uvicorn.Server):
    """A server that tells when it has started, and ends open streams when it stops.

    Parameters
    ----------
    config : uvicorn.Config
        How to serve.
    studio : Studio
        What is served.
    tell : callable
        Called when it can be reached.
    """

    def __init__(self, config: uvicorn.Config, studio: Studio, tell: Callable[[], Any]) -> None:
        super().__init__(config)
        self._studio = studio
        self._tell = tell

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and tell so.

        Parameters
        ----------
        sockets : list of socket, optional
            Where to listen.
        """
        await super().startup(sockets)
        if self.started:
            self._tell()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams of open pages, then stop.

        Parameters
        ----------
        sockets : list of socket, optional
            Where it listened.
        """
        self._studio.bus.close()
        await super().shutdown(sockets)
