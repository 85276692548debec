"""Transactional runs: the rate of successful transactions, freezes, and whether the server was restarted.

`oltp_run.invalid` and `oltp_run.not_judged` hold facts with figures from now on, and sentences in earlier rows.

Revision ID: 0004
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("oltp_run", sa.Column("sustained_rate", sa.Double()))
    op.add_column("oltp_run", sa.Column("freezes", sa.JSON()))
    op.add_column("oltp_run", sa.Column("restarted", sa.Boolean()))


def downgrade() -> None:
    raise NotImplementedError("a lab is never taken back to an older schema")
