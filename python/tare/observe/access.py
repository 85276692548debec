"""Who may ask the observer: browsers that know its token, by a name that it answers to.

The token is in the address that the command prints; the first answer changes it into a cookie. A page of another site
has neither the cookie (SameSite=Strict) nor, by DNS rebinding, an allowed name in `Host`.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Collection
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import URL, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "tare_observe"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
READING = frozenset({"GET", "HEAD"})

HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",  # a page's own policy has the rest
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",  # without any, browsers send forms with the origin "null"
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True, slots=True)
class Rules:
    """`hosts`: names beside those of loopback. `allow_control`: whether anything may be requested of executors."""

    hosts: Collection[str] = ()
    allow_control: bool = False
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))


class Access:
    """Refuses what the rules do not allow, before any page is made."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        answer = self._refusal(Request(scope)) or self._app
        await answer(scope, receive, with_headers)

    def _refusal(self, request: Request) -> Response | None:
        host = request.headers.get("host", "")
        if _name(host) not in LOOPBACK | set(self._rules.hosts):
            return _refuse(
                421, f"The observer does not answer to the name {host!r}: --allow-host allows one."
            )
        if request.method == "POST":
            if not self._rules.allow_control:
                return _refuse(403, "This observer only shows: start it with --allow-control.")
            if urlsplit(request.headers.get("origin", "")).netloc != host:
                return _refuse(403, "The request comes from another page.")
        elif request.method not in READING:
            return _refuse(405, "The observer shows pages.")
        if self._is_token(request.cookies.get(COOKIE)):
            return None
        if request.method in READING and self._is_token(request.query_params.get("token")):
            return self._admitted(request.url)
        return _refuse(403, "Open the address that `tare observe` printed: it has the token in it.")

    def _is_token(self, given: str | None) -> bool:
        return given is not None and hmac.compare_digest(given.encode(), self._rules.token.encode())

    def _admitted(self, url: URL) -> Response:
        """The same page without the token in its address, which histories keep."""
        rest = [
            (name, value) for name, value in parse_qsl(url.query, keep_blank_values=True) if name != "token"
        ]
        # Relative, so that a port that is forwarded stays what it is.
        answer = RedirectResponse(f"?{urlencode(rest)}" if rest else url.path, status_code=303)
        answer.set_cookie(COOKIE, self._rules.token, httponly=True, samesite="strict", path="/")
        return answer


def _name(host: str) -> str:
    """The name of a host with its port; empty for what is none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _refuse(status: int, what: str) -> Response:
    return PlainTextResponse(f"{what}\n", status_code=status)
