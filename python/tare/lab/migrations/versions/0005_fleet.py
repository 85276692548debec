"""Jobs that executors take from the lab, and requests to executors.

Revision ID: 0005
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "request",
        sa.Column("id", _ID, primary_key=True, autoincrement=True),
        sa.Column("run_id", _ID, sa.ForeignKey("run.id"), nullable=False, index=True),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("requested_at", sa.Text(), nullable=False),
        sa.Column("obeyed_at", sa.Text()),
    )
    op.create_table(
        "job",
        sa.Column("id", _ID, primary_key=True, autoincrement=True),
        *(
            sa.Column(name, sa.Text(), nullable=False)
            for name in (
                "specification",
                "specification_hash",
                "experiment",
                "dbms",
                "kind",
                "run_uuid",
                "state",
            )
        ),
        *(sa.Column(name, sa.Text()) for name in ("wanted", "executor", "machine", "said")),
        sa.Column("generation", sa.BigInteger(), nullable=False),
        *(
            sa.Column(name, sa.DateTime(timezone=True), nullable=name != "submitted_at")
            for name in ("submitted_at", "claimed_at", "heartbeat_at")
        ),
    )


def downgrade() -> None:
    raise NotImplementedError("a lab is never taken back to an older schema")
