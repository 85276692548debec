"""Database URLs: their parts, and how they are shown (never with a password)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from tare.dbms.conninfo import (
    POSTGRESQL,
    SECRETS,
    as_url,
    connection_parameters,
    is_conninfo,
    secrets_of,
    url_of,
)
from tare.errors import UsageError

HIDDEN = "***"
MEMORY = ":memory:"
"""Name of a database in memory, for SQLite and for DuckDB."""
UNREADABLE = "(unreadable)"
DATABASE_OPTIONS = frozenset({"--db", "--lab"})

# Greedy up to the last "@": a password with an unescaped "@" or "/" is hidden too.
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*")
_USER_INFO = re.compile(r"^([a-zA-Z][a-zA-Z0-9+.-]*://)([^:@/?#]*):(.*)@", re.DOTALL)
_NO_SCHEME = re.compile(r"(?![a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/@:]+:.*@", re.DOTALL)
_SECRET_NAME = r"(?:\w*password|passwd|pwd|\w*secret|scram_\w+_key)"
_SECRET_PARAMETER = re.compile(rf"([?&]{_SECRET_NAME}=)[^&]*", re.IGNORECASE)
_NO_PORT = re.compile(r"^([a-zA-Z][a-zA-Z0-9+.-]*://[^@/?#:\[]*:)(?!\d+(?:[/?#]|$)).*", re.DOTALL)


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
    if not found or not _SCHEME.fullmatch(scheme):
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
    except ValueError:
        parts = None
    if parts is None:
        if scheme_of(url) in POSTGRESQL:
            return _several_hosts(url)
        # Raised here, apart from the parser's exception: that repeats what it takes for a port.
        raise UsageError(
            f"cannot read the database URL {redacted(url)}",
            "write %40 for @, %3A for : and %2F for / inside a user name or a password",
        )
    return Url(
        scheme=scheme_of(url),
        user=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password is not None else None,
        host=unquote(parts.hostname) if parts.hostname else None,
        port=port,
        database=unquote(parts.path.removeprefix("/")) or None,
        parameters=dict(parse_qsl(parts.query)),
    )


def _several_hosts(url: str) -> Url:
    """A URL that only libpq reads. Raises UsageError."""
    parameters = connection_parameters(url)
    user, password, host, database = (
        parameters.pop(name, None) for name in ("user", "password", "host", "dbname")
    )
    return Url("postgresql", user, password, host, None, database, parameters)


def refuse_unescaped(url: str) -> None:
    """Raises UsageError where a password holds what ends it: a part of it would be taken for the host,
    and shown."""
    if _has_unescaped(url):
        raise UsageError(
            f"cannot read the database URL {redacted(url)}: its user name or password holds an @",
            "write %40 for @, %3A for : and %2F for / inside a user name or a password",
        )


def _has_unescaped(url: str) -> bool:
    before_parameters = url.partition("?")[0]
    return _USER_INFO.match(before_parameters) is not None and before_parameters.count("@") > 1


def is_in_memory(url: str) -> bool:
    """Whether a URL names a database in memory: `sqlite:///:memory:`, `duckdb:///:memory:`."""
    return url.partition("://")[2].partition("?")[0] == f"/{MEMORY}"


def file_path(url: str) -> Path:
    """The file of `sqlite:///relative.db` or `sqlite:////absolute.db` (the same for duckdb). Raises UsageError."""
    scheme = scheme_of(url)
    if is_in_memory(url):
        raise UsageError(
            f"{redacted(url)} ends with its session, and this needs a database that stays",
            f"name a file: {scheme}:///relative/file or {scheme}:////absolute/file",
        )
    rest = url.split("://", 1)[1].split("?", 1)[0]
    if not rest.startswith("/") or rest == "/":
        raise UsageError(
            f"the URL {redacted(url)} names no file",
            f"write {scheme}:///relative/file or {scheme}:////absolute/file (three or four slashes)",
        )
    return Path(unquote(rest[1:]))


def redacted(url: str) -> str:
    """The URL as it may be shown: passwords replaced by nothing, or by *** where one must stand.

    Connection strings are shown as URLs. What cannot be read is shown only as far as no password can be in it."""
    if is_conninfo(url):
        try:
            url = url_of(url)
        except UsageError:
            return UNREADABLE
    if _NO_SCHEME.match(url):
        return UNREADABLE
    shown = _SECRET_PARAMETER.sub(rf"\1{HIDDEN}", _NO_PORT.sub(rf"\1{HIDDEN}", _USER_INFO.sub(r"\1\2@", url)))
    scheme, found, _ = url.partition("://")
    if found and scheme.lower() in POSTGRESQL:
        return _redacted_postgresql(url, shown)
    return shown.partition("?")[0] if _SECRET_PARAMETER.search(url) else shown


def _redacted_postgresql(url: str, shown: str) -> str:
    """`shown` if libpq reads nothing from it but what is no secret: its reading of the URL decides, not ours. Where a
    password holds an @, libpq takes a part of it for the host."""
    if _has_unescaped(url):
        return shown.partition("?")[0]
    try:
        harmless = _harmless(url)
    except UsageError:
        return shown if "?" not in url and _USER_INFO.match(url) else f"{url.partition('://')[0]}://{HIDDEN}"
    try:
        is_hidden = all(secret == HIDDEN for secret in secrets_of(shown)) and _harmless(shown) == harmless
    except UsageError:
        is_hidden = False
    return shown if is_hidden else as_url(harmless)


def _harmless(url: str) -> dict[str, str]:
    return {name: value for name, value in connection_parameters(url).items() if name not in SECRETS}


def shown_name(text: str) -> str:
    """A word that is no URL, as it may be shown: what is more than a plain name may hold a password."""
    return text if re.fullmatch(r"[\w.-]{1,40}", text) else "(not shown: it may hold a password)"


def scrubbed(text: str, *secrets: str | None) -> str:
    """A driver's message without any of these secrets, plain or percent-encoded."""
    for secret in secrets:
        if secret:
            for form in {secret, quote(secret, safe=""), quote(secret)}:
                text = text.replace(form, HIDDEN)
    return text
