"""Measurements of single queries, by commit and machine.

Revision ID: 0004
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "measurement",
        sa.Column("id", _ID, primary_key=True, autoincrement=True),
        sa.Column("dbms_id", _ID, sa.ForeignKey("dbms.id"), nullable=False),
        sa.Column("machine_id", _ID, sa.ForeignKey("machine.id"), nullable=False),
        *(
            sa.Column(name, sa.Text(), nullable=False)
            for name in ("uuid", "hardware", "name", "sql", "cache", "started_at")
        ),
        sa.Column("code", sa.Text()),
        sa.Column("samples", sa.JSON(), nullable=False),
        sa.UniqueConstraint("uuid", "name"),
    )


def downgrade() -> None:
    raise NotImplementedError("a lab is never taken back to an older schema")
