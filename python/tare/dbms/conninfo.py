"""Connection strings of libpq (`host=… dbname=…`, `service=…`) and its URLs, read by libpq's own parser.

Everywhere behind the command line a database is a URL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, urlencode

from tare.errors import UsageError

POSTGRESQL = ("postgresql", "postgres")
SECRETS = ("password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key")

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")
_KEYWORD = re.compile(
    r"(?:^|\s)(?:host|hostaddr|port|dbname|user|passfile|service|\w*password|passwd|pwd|ssl\w+|options|"
    r"target_session_attrs|application_name|connect_timeout)\s*="
)
_NEXT_STEP = (
    "write it as postgresql://user:password@host:port/database?parameter=value, with %40 for an @ in a password, "
    "or as 'host=… port=… dbname=… user=…' or 'service=…'; libpq takes the password from ~/.pgpass or PGPASSWORD, too"
)


def is_conninfo(text: str) -> bool:
    """Whether it is meant as a connection string rather than as a URL, a file or a name."""
    return not _SCHEME.match(text) and _KEYWORD.search(text) is not None


def connection_parameters(text: str) -> dict[str, str]:
    """Parameters of a connection string or URL. Raises UsageError, which repeats nothing of the text."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    scheme, found, rest = text.partition("://")
    if found and scheme.lower() in POSTGRESQL:
        text = f"postgresql://{rest}"
    try:
        parameters = {name: str(value) for name, value in conninfo_to_dict(text).items()}
    except (psycopg.Error, UnicodeError):
        parameters = None
    if parameters is None or not _names_a_place(parameters):
        # Raised here, apart from the driver's exception: that repeats what it cannot read, perhaps a password.
        raise UsageError("the connection string or URL of the PostgreSQL database cannot be read", _NEXT_STEP)
    return parameters


def url_of(text: str) -> str:
    """The URL of a database, from a connection string; anything else as it is. Raises UsageError."""
    return as_url(connection_parameters(text)) if is_conninfo(text) else text


def as_url(parameters: Mapping[str, str]) -> str:
    """The same as `postgresql://…`: several hosts and sockets go into its parameters."""
    rest = dict(parameters)
    user, password, database = (rest.pop(name, "") for name in ("user", "password", "dbname"))
    host = rest.get("host", "")
    place = ""
    if re.fullmatch(r"[A-Za-z0-9_.-]+", host):
        place = rest.pop("host") + (f":{port}" if (port := rest.pop("port", "")) else "")
    who = quote(user, safe="") + (f":{quote(password, safe='')}" if password else "")
    if who and not place and not user:  # a password alone
        rest["password"] = password
        who = ""
    query = urlencode(rest, quote_via=quote, safe="/,")
    return f"postgresql://{f'{who}@' if who else ''}{place}/{quote(database, safe='')}{'?' if query else ''}{query}"


def secrets_of(url: str) -> tuple[str, ...]:
    """Secrets in a URL of PostgreSQL that can be read; none in any other."""
    if url.partition("://")[0].lower() not in POSTGRESQL:
        return ()
    try:
        parameters = connection_parameters(url)
    except UsageError:
        return ()
    return tuple(parameters[name] for name in SECRETS if parameters.get(name))


def _names_a_place(parameters: Mapping[str, str]) -> bool:
    """Not where a part of a password was taken for the host or the port: that would be shown."""
    ports = parameters.get("port", "").split(",")
    return "@" not in parameters.get("host", "") and all(port.isdigit() or not port for port in ports)
