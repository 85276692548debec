"""PostgreSQL 12 and later, through libpq (psycopg 3)."""

from tare.dbms.postgresql.adapter import PostgreSQL

__all__ = ["PostgreSQL"]
