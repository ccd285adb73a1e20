"""The studio: albums, matchings and voices in the browser, live."""

from pairup.studio.server import create_app, serve
from pairup.studio.workspace import Workspace

__all__ = ["Workspace", "create_app", "serve"]
