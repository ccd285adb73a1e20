"""Guards: who may ask the studio for what, and what its pages may do."""

import secrets
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "pairup_token"
LARGEST_JSON = 2_000_000  # bytes of a request that is no upload
HEADERS = {
    # Only what the studio itself serves is loaded or run; no inline script, no frame, no form to elsewhere.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' blob:; "
        "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "microphone=(self), camera=(), geolocation=()",
}


class Guard:
    """Refuse requests from elsewhere, and requests without the token where one is needed.

    Parameters
    ----------
    app : ASGIApp
        What is guarded.
    hosts : set of str
        Values of the Host header that are answered, without the port.
    token : str, optional
        What a browser must show before anything is answered; None on this computer alone.
    """

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str], token: str | None = None) -> None:
        self.app = app
        self.hosts = hosts
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it.

        Parameters
        ----------
        scope, receive, send : as in ASGI
            The request.
        """
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refused = self._refuse(scope)
        if refused is not None:
            await refused(scope, receive, _with_headers(send))
            return
        await self.app(scope, _limit(scope, receive), _with_headers(send))

    def _refuse(self, scope: Scope) -> Response | None:
        """Return the answer to a request that is not served, if it is one."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        if "*" not in self.hosts and name.lower() not in self.hosts:
            return _problem(421, "this studio is not reached by that name; open the address that it printed")
        site, mode = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode", "")
        opens_page = scope["method"] == "GET" and mode == "navigate" and not scope["path"].startswith("/api/")
        if site not in ("same-origin", "none") and not opens_page:
            return _problem(403, "requests of other sites are refused")
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            return _problem(403, "requests of other sites are refused")
        length = headers.get("content-length", "0")
        if not _is_upload(scope) and not (length.isdigit() and int(length[:12]) <= LARGEST_JSON):
            return _problem(413, f"a request may have {LARGEST_JSON:,} bytes")
        return None if self.token is None else self._ask_for_token(scope, headers)

    def _ask_for_token(self, scope: Scope, headers: Headers) -> Response | None:
        """Return the answer to a request without the token, or one that takes the token into a cookie."""
        assert self.token is not None
        shown = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        opens_page = scope["method"] == "GET" and not scope["path"].startswith(("/api/", "/static/", "//"))
        if opens_page and secrets.compare_digest(shown.encode(), self.token.encode()):
            answer = RedirectResponse(scope["path"], status_code=303)
            # A page opened by a link elsewhere needs its cookie too; requests of other sites are refused above.
            answer.set_cookie(COOKIE, self.token, httponly=True, samesite="lax")
            return answer
        kept = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        if not secrets.compare_digest(kept.encode(), self.token.encode()):
            return _problem(401, "open the address with the token that the studio printed when it started")
        return None


def _problem(status: int, detail: str) -> Response:
    return JSONResponse({"detail": detail}, status_code=status)


def _with_headers(send: Send) -> Send:
    """Add the headers that keep a page to itself."""

    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-cache")
        await send(message)

    return sender


class TooLargeError(ValueError):
    """A request that is larger than what may be sent there."""


def _is_upload(scope: Scope) -> bool:
    """Tell whether a request brings a file; these have limits of their own."""
    return bool(scope["method"] == "POST" and scope["path"].endswith("/files"))


def _limit(scope: Scope, receive: Receive) -> Receive:
    """Bound the size of requests that do not say their size beforehand."""
    if _is_upload(scope):
        return receive
    seen = 0

    async def receiver() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > LARGEST_JSON:
                raise TooLargeError(f"a request may have {LARGEST_JSON:,} bytes")
        return message

    return receiver
