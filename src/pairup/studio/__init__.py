"""The studio: albums, matchings and voices in the browser, live."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pairup.studio.server import create_app as create_app
    from pairup.studio.server import serve as serve
    from pairup.studio.workspace import Workspace as Workspace

_HOME = {"Workspace": "workspace", "create_app": "server", "serve": "server"}
__all__ = ["Workspace", "create_app", "serve"]


def __getattr__(name: str) -> Any:
    """Load a public name on first use: a worker needs no server."""
    if name not in _HOME:
        raise AttributeError(f"module 'pairup.studio' has no attribute {name!r}")
    return getattr(import_module(f"pairup.studio.{_HOME[name]}"), name)
