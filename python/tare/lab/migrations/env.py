"""Alembic's entry: it migrates on the connection it is given, within that connection's transaction."""

from __future__ import annotations

from alembic import context

from tare.lab.migrations import VERSION_TABLE
from tare.lab.schema_oltp import oltp_run

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=oltp_run.metadata,
    version_table=VERSION_TABLE,
    compare_type=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
