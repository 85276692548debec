"""Transactional runs that are too short to be judged: a column with the reasons.

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
    op.add_column("oltp_run", sa.Column("not_judged", sa.JSON()))


def downgrade() -> None:
    raise NotImplementedError("a lab is never taken back to an older schema")
