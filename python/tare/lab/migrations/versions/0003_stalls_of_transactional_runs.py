"""Stretches in which a transactional run stood still, and its round trips.

Revision ID: 0003
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("oltp_run", sa.Column("stalls", sa.JSON()))
    op.add_column("oltp_run", sa.Column("round_trips", sa.BigInteger()))


def downgrade() -> None:
    raise NotImplementedError("a lab is never taken back to an older schema")
