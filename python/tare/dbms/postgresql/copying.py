"""`COPY … TO STDOUT`: the query whose rows it sends, and the bytes as the client received them."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from tare.dbms.statement import first_word

PLANS_WITHIN = "COPY plans its query within its execution, and the server shows no end of it"

_SIGNATURE = b"PGCOPY\n\xff\r\n\0"
_HEADER_BYTES = len(_SIGNATURE) + 8  # flags, and the length of an extension that is always empty


def copied_query(sql: str) -> str | None:
    """Return the query whose rows `COPY … TO STDOUT` sends, as a statement that can be explained; None for any other
    statement, `COPY … TO 'file'` and `TO PROGRAM` among them, which write on the server."""
    if first_word(sql) != "COPY":
        return None
    import sqlglot  # 0.1 s: for COPY alone
    from sqlglot import TokenType
    from sqlglot.errors import SqlglotError

    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    try:
        tokens = sqlglot.tokenize(sql, read="postgres")
    except SqlglotError:
        return None
    depth, opened, closed = 0, None, None  # tokens of the first pair of brackets
    for at, token in enumerate(tokens):
        if token.token_type is TokenType.L_PAREN:
            depth += 1
            opened = at if opened is None else opened
        elif token.token_type is TokenType.R_PAREN:
            depth -= 1
            closed = at if depth == 0 and closed is None else closed
        elif depth == 0 and token.token_type is TokenType.VAR and token.text.upper() == "TO":
            following = tokens[at + 1] if at + 1 < len(tokens) else None
            if (
                following is None
                or following.token_type is not TokenType.VAR
                or following.text.upper() != "STDOUT"
            ):
                return None
            between = (
                None
                if opened is None or closed is None
                else sql[tokens[opened].end + 1 : tokens[closed].start]
            )
            if opened == 1 and between is not None:
                return between
            named = tokens[1 : at if opened is None else opened]
            if not named:
                return None
            return f"SELECT {between or '*'} FROM ONLY {sql[named[0].start : named[-1].end + 1]}"
    return None


def rows_of_copy(messages: Sequence[bytes]) -> Iterator[tuple[bytes]]:
    """Yield the bytes of each row: the server sends one in a message. The header of the binary format comes with the
    first row, whichever that is, and is left out."""
    for number, message in enumerate(messages):
        is_first = number == 0 and message.startswith(_SIGNATURE)
        yield (message[_HEADER_BYTES:] if is_first else message,)
