"""The one host that answers, of a URL that leaves the choice to libpq: several hosts, or a service."""

from __future__ import annotations

from tare.dbms.conninfo import POSTGRESQL, as_url, connection_parameters
from tare.dbms.url import scheme_of

_CHOOSING = ("service", "target_session_attrs", "load_balance_hosts")


def answering(url: str, timeout_s: float = 10.0) -> str:
    """The same for a reader that knows one host: libpq connects once, and is asked where to.

    Raises UsageError, and ConnectionFailed."""
    if scheme_of(url) not in POSTGRESQL:
        return url
    parameters = connection_parameters(url)
    if "," not in parameters.get("host", "") + parameters.get("hostaddr", "") and "service" not in parameters:
        return url
    from tare.dbms.postgresql.connecting import connection

    with connection(url, timeout_s) as opened:
        info = opened.info
        place = {"host": info.host, "port": str(info.port), "user": info.user, "dbname": info.dbname}
        if info.password:
            place["password"] = info.password
    rest = {name: value for name, value in parameters.items() if name not in (*_CHOOSING, "hostaddr")}
    return as_url({**rest, **place})
