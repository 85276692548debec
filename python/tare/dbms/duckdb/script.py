"""A script of DuckDB split into its statements by DuckDB's own tokenizer, which parses nothing."""

from __future__ import annotations

import duckdb

from tare.dbms.statement import first_word


def statements(sql: str) -> list[str]:
    """Return each statement, with the comments before it. No statement of DuckDB has semicolons inside."""
    text = sql.encode()  # the tokenizer counts bytes
    parts, begin = [], 0
    for at, kind in duckdb.tokenize(sql):
        if kind == duckdb.token_type.operator and text[at : at + 1] == b";":
            parts.append(text[begin:at])
            begin = at + 1
    found = [part.decode().strip() for part in (*parts, text[begin:])]
    return [part for part in found if first_word(part)]
