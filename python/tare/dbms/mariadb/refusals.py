"""Next step for each error number with which MariaDB, MySQL or the client library refuses what it is asked."""

from __future__ import annotations

from collections.abc import Mapping

DENIED = 1045
INSECURE = frozenset({3159, 4151})  # require_secure_transport of MySQL and of MariaDB

CONNECTION: Mapping[int, str] = {
    1040: "close other connections or raise max_connections",
    1044: "grant the user a right to this database (GRANT … ON database.* TO user), or name another",
    DENIED: "check the user and the password in the URL, and for which hosts the user was created",
    1049: "check the database's name; SHOW DATABASES lists them",
    1129: "unblock this host: FLUSH HOSTS; see host_cache for the errors that blocked it",
    1130: "create the user for this host, or connect by the socket",
    1203: "close other connections of this user or raise max_user_connections",
    1226: "raise the user's limit that the server names, or wait an hour",
    1251: "use a user of a newer authentication plugin, or an older client",
    1524: "load the server's plugin that this user needs (INSTALL SONAME …)",
    1698: "connect as the operating system's user of that name, or with a user that has a password",
    1862: "set the user's password anew: it has expired",
    2002: "start the server, or check host, port and socket; `tare server start mariadb` gives one",
    2003: "start the server, or check host and port; `tare server start mariadb` gives one",
    2005: "check the host's name",
    2013: "check host, port and firewall, or allow a longer connection time-out",
    2026: "check ssl-mode and ssl-ca in the URL, and whether the server has a certificate (@@have_ssl)",
    2058: "install the client library's plugin that this user needs",
    2059: "install the client library's plugin that this user needs (its folder: MARIADB_PLUGIN_DIR)",
    **dict.fromkeys(INSECURE, "let the connection be encrypted, as the server demands: ?ssl-mode=required"),
}
CONNECTION_DEFAULT = "check the URL and the server's log"

_RIGHT = "grant the user the right that is missing (GRANT … TO …), or connect as another user"
STATEMENT: Mapping[int, str] = {
    **dict.fromkeys((1044, 1142, 1143, 1227, 1370), _RIGHT),
    1146: "check the table's name and the database",
    1049: "check the database's name; SHOW DATABASES lists them",
    1021: "free disk space of the server",
    1037: "free memory of the server",
    1041: "free memory of the server",
    1114: "free disk space of the server, or raise tmp_table_size and max_heap_table_size",
    1205: "end the session that holds the lock, or raise innodb_lock_wait_timeout",
    1213: "run again: another transaction was in the way",
    1226: "raise the user's limit that the server names, or wait an hour",
}
STATEMENT_DEFAULT = "correct the statement, or the session's database and rights"
