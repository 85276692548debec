"""The lab's schema, version by version. `VERSION` is what this Tare writes and reads."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection

VERSION = "0004"
VERSION_TABLE = "lab_version"
FOLDER = Path(__file__).parent


def migrate(connection: Connection) -> None:
    """Brings the lab to VERSION within the transaction that `connection` is in."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, VERSION)
