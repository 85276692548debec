"""Parts of a refused statement that a client would have replaced: parameters, and commands of client programs.

Looked for only after the DBMS has refused the statement, and by tokens: a question mark in a constant, a cast
(`a::int`), a slice (`a[1:2]`) or an operator of JSON is none.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import sqlglot
from sqlglot import Token, TokenType
from sqlglot.errors import SqlglotError

logging.getLogger("sqlglot").setLevel(logging.ERROR)

_DIALECTS = {
    "postgresql": "postgres",
    "mariadb": "mysql",
    "mysql": "mysql",
    "sqlite": "sqlite",
    "duckdb": "duckdb",
}

_T = TokenType
_VALUE_FOLLOWS = frozenset({
    _T.SELECT, _T.DISTINCT, _T.WHERE, _T.HAVING, _T.AND, _T.OR, _T.NOT, _T.ON, _T.IN, _T.LIKE, _T.ILIKE, _T.BETWEEN,
    _T.LIMIT, _T.OFFSET, _T.FETCH, _T.CASE, _T.WHEN, _T.THEN, _T.ELSE, _T.SET, _T.RETURNING, _T.INTERVAL, _T.VALUES,
    _T.L_PAREN, _T.COMMA, _T.EQ, _T.NEQ, _T.LT, _T.LTE, _T.GT, _T.GTE, _T.PLUS, _T.DASH, _T.STAR, _T.SLASH, _T.MOD,
    _T.DPIPE, _T.ARROW, _T.DARROW,
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unbound:
    written: str  # as in the statement: ":id", "$1", "{n}", "\\gset"
    line: int  # from 1
    is_command: bool  # of a client program; else a parameter

    def explanation(self, refusal: str) -> tuple[str, str]:
        """Return what happened, with the report of the DBMS, and the next step."""
        if self.is_command:
            return (
                f"{self.written} in line {self.line} is a command of a client program, not SQL ({refusal})",
                "remove it: Tare sends the statement itself",
            )
        bare = self.written.strip("{}:$@%?'\"()")
        name = bare if bare.isidentifier() and not self.written.startswith("%s") else "NAME"
        return (
            f"{self.written} in line {self.line} is a parameter without a value ({refusal})",
            f"write the value in its place, or {{{name}}} and give `tare time` its values: -L {name}=V1,V2",
        )


def unbound(sql: str, dbms: str) -> Unbound | None:
    """Return the first parameter or client command in a statement that the DBMS has refused; None if there is none."""
    try:
        tokens = sqlglot.tokenize(sql, read=_DIALECTS.get(dbms, ""))
    except SqlglotError:
        return None
    for at, token in enumerate(tokens):
        after_operand = at > 0 and tokens[at - 1].token_type not in _VALUE_FOLLOWS
        count = _length(tokens[at : at + 5], dbms, after_operand=after_operand)
        if count:
            written = sql[token.start : tokens[at + count - 1].end + 1]
            return Unbound(written, sql.count("\n", 0, token.start) + 1, token.token_type is _T.BACKSLASH)
    return None


def _is_word(token: Token) -> bool:
    """Whether a token may be the name of a parameter. Many names (`date`, `name`) are keywords to the tokenizer."""
    return token.token_type is not _T.STRING and token.text.isidentifier()


def _length(tokens: Sequence[Token], dbms: str, *, after_operand: bool) -> int:
    """Tokens that a parameter or command takes at the beginning of `tokens`; 0 if there is none. What may be an
    operator, a slice or a name counts only where a value is expected."""
    kinds = [_T.VAR if _is_word(token) else token.token_type for token in tokens]
    joined = [a.end + 1 == b.start for a, b in pairwise(tokens)] + [False] * 4
    first, second = kinds[0], kinds[1] if joined[0] else None
    if first is _T.PLACEHOLDER and not (after_operand and dbms == "postgresql"):
        return 2 if second is _T.NUMBER else 1
    if first is _T.PARAMETER and second in (_T.NUMBER, _T.VAR):
        return 2 if tokens[0].text == "$" or dbms == "sqlite" else 0
    if first is _T.BACKSLASH and second is not None:
        return 2
    if kinds[:3] == [_T.L_BRACE, _T.VAR, _T.R_BRACE]:
        return 3
    if after_operand:
        return 0
    if first is _T.VAR and tokens[0].text.startswith("$"):
        return 1
    if first is _T.COLON and second in (_T.VAR, _T.STRING, _T.NUMBER):
        return 2
    if first is _T.MOD:
        if second is _T.VAR and tokens[1].text == "s":
            return 2
        if kinds[1:] == [_T.L_PAREN, _T.VAR, _T.R_PAREN, _T.VAR] and joined[0] and tokens[4].text in "sd":
            return 5
    return 0
