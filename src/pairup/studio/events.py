"""Events: what happens in a project, told to every page that shows it."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

BYE = "bye"  # the last event: the studio ends
QUIET = 15.0  # seconds after which a page without news is told that the studio is still there


class Listener:
    """One open page. Of each kind of event it gets the latest: a slow page skips steps instead of lagging behind."""

    def __init__(self) -> None:
        self._waiting: dict[str, Any] = {}
        self._news = asyncio.Event()

    def put(self, kind: str, data: Any) -> None:
        """Take an event, in the thread of the event loop.

        Parameters
        ----------
        kind : str
            Its kind: project, job or step.
        data : object
            What JSON holds.
        """
        self._waiting.pop(kind, None)
        self._waiting[kind] = data
        self._news.set()

    async def get(self) -> list[tuple[str, Any]]:
        """Wait for news.

        Returns
        -------
        list of (str, object)
            Events, oldest first; none after a while without news.
        """
        try:
            await asyncio.wait_for(self._news.wait(), QUIET)
        except TimeoutError:
            return []
        self._news.clear()
        events, self._waiting = list(self._waiting.items()), {}
        return events

    async def listen(self) -> AsyncIterator[tuple[str, Any]]:
        """Yield events until the studio ends.

        Yields
        ------
        (str, object)
            Kind and data; ("quiet", None) now and then where nothing happens.
        """
        while True:
            for kind, data in await self.get() or [("quiet", None)]:
                if kind == BYE:
                    return
                yield kind, data


class Bus:
    """Hands events to the pages that show a project."""

    def __init__(self) -> None:
        self._listeners: dict[str, set[Listener]] = defaultdict(set)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Say which event loop the pages are served by.

        Parameters
        ----------
        loop : asyncio.AbstractEventLoop
            The loop.
        """
        self._loop = loop

    def publish(self, project: str, kind: str, data: Any) -> None:
        """Tell all pages of a project; from any thread.

        Parameters
        ----------
        project : str
            Identifier of the project.
        kind : str
            Kind of the event.
        data : object
            What JSON holds.
        """
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._deliver, project, kind, data)

    def _deliver(self, project: str, kind: str, data: Any) -> None:
        for listener in self._listeners.get(project, ()):
            listener.put(kind, data)

    def close(self) -> None:
        """End all streams, so that the studio can stop; in the thread of the event loop."""
        self._closed = True
        for listeners in self._listeners.values():
            for listener in listeners:
                listener.put(BYE, None)

    @contextmanager
    def subscribe(self, project: str) -> Iterator[Listener]:
        """Let a page listen, from the moment in which the block begins.

        Parameters
        ----------
        project : str
            Identifier of the project.

        Yields
        ------
        Listener
            What the page listens to.
        """
        listener = Listener()
        if self._closed:
            listener.put(BYE, None)
        self._listeners[project].add(listener)
        try:
            yield listener
        finally:
            self._listeners[project].discard(listener)
            if not self._listeners[project]:
                del self._listeners[project]
