"""Database URLs: their parts, and how they are shown (never with a password)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from tare.errors import UsageError

HIDDEN = "***"

# Greedy up to the last "@": a password with an unescaped "@" or "/" is hidden too.
_USER_INFO = re.compile(r"^([a-zA-Z][a-zA-Z0-9+.-]*://)([^:@/?#]*):(.*)@", re.DOTALL)
_SECRET_PARAMETER = re.compile(r"([?&](?:\w*password|passwd|pwd)=)[^&#]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of `scheme://user:password@host:port/database?parameters`, percent-decoded."""

    scheme: str
    user: str | None
    password: str | None
    host: str | None
    port: int | None
    database: str | None
    parameters: Mapping[str, str]


def scheme_of(url: str) -> str:
    """The scheme in lower case; raises UsageError where there is none."""
    scheme, found, _ = url.partition("://")
    if not found or not scheme:
        raise UsageError(
            "the database URL has no scheme",
            "write it as SCHEME://…, e.g. postgresql://user@localhost/db or sqlite:///file.db",
        )
    return scheme.lower()


def parse(url: str) -> Url:
    """Raises UsageError; the message shows the URL without its password."""
    refuse_unescaped(url)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UsageError(
            f"cannot read the database URL {redacted(url)}",
            "write %40 for @, %3A for : and %2F for / inside a user name or a password",
        ) from error
    return Url(
        scheme=scheme_of(url),
        user=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password is not None else None,
        host=unquote(parts.hostname) if parts.hostname else None,
        port=port,
        database=unquote(parts.path.removeprefix("/")) or None,
        parameters=dict(parse_qsl(parts.query)),
    )


def refuse_unescaped(url: str) -> None:
    """Raises UsageError where a password holds what ends it: a part of it would be taken for the host,
    and shown."""
    before_parameters = url.partition("?")[0].partition("#")[0]
    if _USER_INFO.match(before_parameters) and before_parameters.count("@") > 1:
        raise UsageError(
            f"cannot read the database URL {redacted(url)}: its user name or password holds an @",
            "write %40 for @, %3A for : and %2F for / inside a user name or a password",
        )


def file_path(url: str) -> Path:
    """The file of `sqlite:///relative.db` or `sqlite:////absolute.db` (the same for duckdb)."""
    scheme = scheme_of(url)
    rest = url.split("://", 1)[1].split("?", 1)[0]
    if not rest.startswith("/") or rest == "/":
        raise UsageError(
            f"the URL {redacted(url)} names no file",
            f"write {scheme}:///relative/file or {scheme}:////absolute/file (three or four slashes)",
        )
    return Path(unquote(rest[1:]))


def redacted(url: str) -> str:
    """The URL as it may be shown: passwords replaced by nothing, or by *** where one must stand."""
    shown = _USER_INFO.sub(r"\1\2@", url)
    return _SECRET_PARAMETER.sub(rf"\1{HIDDEN}", shown)


def scrubbed(text: str, *secrets: str | None) -> str:
    """A driver's message without any of these secrets, plain or percent-encoded."""
    for secret in secrets:
        if secret:
            for form in {secret, quote(secret, safe=""), quote(secret)}:
                text = text.replace(form, HIDDEN)
    return text
