"""Random programs in C and C++, the same for the same seed.

A function calls only those with higher numbers, and itself to a depth of three, so that each program ends. Functions
enter and leave in the ways that compilers know: jump tables, tail calls, early returns, calls by pointer, computed
gotos, longjmp, and in C++ exceptions, virtual calls and destructors. Nothing in them is undefined, so that a program
computes the same whenever it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

FEWEST, MOST = 30, 60
"""Functions of a program."""
MOST_CALLS = 24
"""Calls beneath one call of a function, itself included."""
DEPTH = 4
ROUND = -1
"""Number of the transaction, the function `round_`."""
BURN = 20000
"""Iterations of a loop for each call of a round, so that probes take a moderate share of its time."""


@dataclass(frozen=True)
class Kind:
    """How a function takes two numbers and returns one. `f` is its name, `x` and `y` are arguments, `v` a value."""

    signature: str
    call: str
    begin: str = ""
    back: str = "{v}"


PLAIN = Kind("uint64_t {f}(uint64_t a, uint64_t b)", "{f}({x}, {y})")
PAIR = Kind(
    signature="struct pair {f}(struct pair p)",
    call="fold_pair({f}(pair_of({x}, {y})))",
    begin="uint64_t a = p.a, b = p.b;",
    back="pair_of({v}, b)",
)
LARGE = Kind(
    signature="struct large {f}(struct large p)",
    call="fold_large({f}(large_of({x}, {y})))",
    begin="uint64_t a = p.v[0] + p.v[2], b = p.v[1] ^ p.v[4];",
    back="large_of({v}, b)",
)
REAL = Kind(
    signature="double {f}(double p, uint64_t b)",
    call="(uint64_t){f}((double)(({x}) % 9973), {y})",
    begin="uint64_t a = (uint64_t)(p * 1.5 + (double)(b % 17));",
    back="(double)(({v}) % 100003) * 0.5",
)
VARIADIC = Kind(
    signature="uint64_t {f}(int count, ...)",
    call="{f}(2, (uint64_t)({x}), (uint64_t)({y}), 0.5 + (double)(({y}) % 7))",
    begin="va_list rest; va_start(rest, count); uint64_t a = 0, b = 3; "
    "for (int i = 0; i < count; i++) a = a * 31 + va_arg(rest, uint64_t); "
    "b += (uint64_t)va_arg(rest, double); va_end(rest);",
)
MANY = Kind(
    signature="uint64_t {f}(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t g, uint64_t h)",
    call="{f}({x}, {y}, 3, {x}, 5, {y}, r)",
    begin="a += c * d ^ e; b ^= g + h;",
)
DEEP = Kind("uint64_t {f}(uint64_t a, uint64_t b, unsigned depth)", "{f}({x}, {y}, ({x}) % 4)")
JUMPER = Kind("uint64_t {f}(jmp_buf *where, uint64_t a, uint64_t b)", "{f}(&here, {x}, {y})")
METHOD = Kind("uint64_t {f}::call(uint64_t a, uint64_t b)", "{f}_pointer->call({x}, {y})")

KINDS = (PLAIN, PLAIN, PLAIN, PAIR, LARGE, REAL, VARIADIC, MANY, DEEP, JUMPER)
CALLED_AT_ENDS = (PLAIN, MANY, METHOD)
LINKAGES = ("NOINLINE ", "NOINLINE ", "NOINLINE ", "static NOINLINE ", "", "static ")
METHOD_DECLARATION = """\
struct {f} : Shape {{ uint64_t call(uint64_t a, uint64_t b) override; }};
static {f} {f}_object;
static Shape *volatile {f}_pointer = &{f}_object;"""


class Function:
    """A function, written of statements that change `r`. `functions`: those that it may call; `uncalled`: those of them
    that no function calls yet, which come first; `room`: calls that there may be beneath one of its own."""

    def __init__(
        self,
        random: Random,
        number: int,
        kind: Kind,
        functions: Sequence[Function],
        uncalled: set[int],
        room: int,
    ) -> None:
        self.number = number
        self.name = f"f{number}"
        self.kind = kind
        self.throws = False
        self._random = random
        self._functions = functions
        self._uncalled = uncalled
        self._left = room
        self._linkage = "" if kind is METHOD else random.choice(LINKAGES)

    def write(self, is_cpp: bool) -> None:
        room, random = self._left, self._random
        guard = "Guard guard = {a};" if is_cpp and self.kind is not JUMPER and random.random() < 0.25 else ""
        makers = [self._switch, self._switch, self._loop, self._early, self._pointer, self._jump, self._step]
        makers += [lambda: "if (never) fail(r);", self._throw if is_cpp else self._step]
        statements = [maker() for maker in random.choices(makers, k=random.randint(2, 5))]
        if random.random() < 0.2:  # once: clang checks each goto against each label of the function
            statements.append(self._labels())
        if self.kind is DEEP:
            statements.append(f"if (depth) r += {self.name}(r, b, depth - 1);")
        if self.kind is JUMPER:
            statements.append("if (r % 3 != 1) longjmp(*where, 1 + (int)(r % 3));")
        first = f"{self.kind.begin} uint64_t r = a * {self._odd()} + b; {guard}"
        self._body = "\n".join((first, *statements, self._end()))
        self.calls = (1 + room - self._left) * (DEPTH if self.kind is DEEP else 1)

    @property
    def declaration(self) -> str:
        form = METHOD_DECLARATION if self.kind is METHOD else f"{self._linkage}{self.kind.signature};"
        return form.format(f=self.name)

    @property
    def definition(self) -> str:
        return f"{self._linkage}{self.kind.signature.format(f=self.name)} {{\n{self._body}\n}}"

    def call(self, x: str, y: str) -> str:
        return self.kind.call.format(f=self.name, x=x, y=y)

    def statement(self, callee: Function) -> str:
        """A call. One that can come back by longjmp leaves `r` as it is until then."""
        text = f"r = r * 3 + {callee.call(self._value(), self._value())};"
        if callee.throws and (self.number == ROUND or self._random.random() < 0.6):
            text = f"try {{ {text} }} catch (const Failure &failure) {{ r ^= failure.value; }}"
        else:
            self.throws |= callee.throws
        if callee.kind is not JUMPER:
            return text
        cases = f"case 0: {text} break; case 1: r += 11; break; default: r ^= 77;"
        return f"{{ jmp_buf here; switch (setjmp(here)) {{ {cases} }} }}"

    def _pick(self, kinds: Sequence[Kind], times: int = 1) -> Function | None:
        """A function of these kinds for which there is room, so many times."""
        some = [one for one in self._functions if one.kind in kinds and one.calls * times <= self._left]
        fresh = [one for one in some if one.number in self._uncalled]
        if not some:
            return None
        callee = self._random.choice(fresh if fresh and self._random.random() < 0.8 else some)
        self._left -= callee.calls * times
        self._uncalled.discard(callee.number)
        return callee

    def _step(self, times: int = 1) -> str:
        """A call if there is room for one, so many times, else arithmetic."""
        kinds = (PLAIN, PAIR, LARGE, REAL, VARIADIC, MANY, DEEP, METHOD)
        callee = self._pick(kinds, times) if self._random.random() < 0.6 else None
        if callee is not None:
            return self.statement(callee)
        return f"r {self._random.choice('^+-')}= (r << {self._random.randint(1, 9)}) + {self._odd()};"

    def _alternatives(self, number: int) -> list[str]:
        """Statements of which one is executed."""
        before, least, texts = self._left, self._left, []
        for _ in range(number):
            self._left = before
            texts.append(self._step())
            least = min(least, self._left)
        self._left = least
        return texts

    def _switch(self) -> str:
        """Dense cases, or cases that are far apart."""
        number, apart = self._random.choice(((3, 731), (5, 1), (7, 9001), (9, 1), (14, 1)))
        cases = [f"case {at * apart}: {text} break;" for at, text in enumerate(self._alternatives(number))]
        return "\n".join((f"switch ((r >> 3) % {number + 1} * {apart}) {{", *cases, "default: r += 1; }"))

    def _labels(self) -> str:
        lines = [f"l{at}: {text} goto end;" for at, text in enumerate(self._alternatives(3))]
        table = "static const void *const labels[] = {&&l0, &&l1, &&l2};"
        return "\n".join(("{", table, "goto *labels[(r >> 2) % 3];", *lines, "end:; }"))

    def _loop(self) -> str:
        return f"for (unsigned i = 0; i < 2 + (unsigned)(r % 3); i++) {{ {self._step(times=4)} r += i; }}"

    def _early(self) -> str:
        return f"if (r % {self._random.randint(3, 9)} == 1) {self._end()}"

    def _pointer(self) -> str:
        callees = [one for one in (self._pick((PLAIN,)) for _ in range(3)) if one]
        if not callees:
            return self._step()
        self.throws |= any(one.throws for one in callees)
        names = ", ".join(one.name for one in callees)
        table = f"static uint64_t (*const volatile table[])(uint64_t, uint64_t) = {{{names}}};"
        return f"{{ {table} r ^= table[r % {len(callees)}]({self._value()}, {self._value()}); }}"

    def _jump(self) -> str:
        callee = self._pick((JUMPER,))
        return self._step() if callee is None else self.statement(callee)

    def _throw(self) -> str:
        self.throws = True
        return f"if (r % {self._random.randint(4, 9)} == 2) throw Failure{{r}};"

    def _end(self) -> str:
        """A return, or a call in its place."""
        is_number = self.kind.back == "{v}" and self.kind is not JUMPER
        callee = self._pick(CALLED_AT_ENDS) if is_number and self._random.random() < 0.4 else None
        if callee is None:
            return f"return {self.kind.back.format(v=f'r ^ {self._odd()}')};"
        self.throws |= callee.throws
        return f"return {callee.call('r', self._value())};"

    def _value(self) -> str:
        return self._random.choice(("a", "b", "r", "r >> 3", "a ^ r", f"b + {self._random.randint(1, 99)}"))

    def _odd(self) -> int:
        return self._random.randrange(1, 1 << 30, 2)


def generate(seed: int, is_cpp: bool) -> str:
    """Source of a program, which includes program.h."""
    random = Random(f"program {seed}")
    functions: list[Function] = []  # the last numbers first
    uncalled: set[int] = set()
    for number in reversed(range(random.randint(FEWEST, MOST))):
        kind = random.choice((*KINDS, METHOD, METHOD) if is_cpp else KINDS)
        most = MOST_CALLS // DEPTH if kind is DEEP else MOST_CALLS
        function = Function(random, number, kind, functions, uncalled, random.randint(0, most - 1))
        function.write(is_cpp)
        functions.append(function)
        uncalled.add(number)
    roots = [one for one in functions if one.number in uncalled]
    transaction = Function(random, ROUND, PLAIN, (), set(), 0)
    lines = [
        "NOINLINE uint64_t round_(uint64_t number) {",
        "uint64_t a = number, b = number * 7 + 1, r = number;",
        *(transaction.statement(root) for root in roots),
        f"burn({BURN * sum(root.calls for root in roots)});",
        "return r; }",
    ]
    declared, defined = [one.declaration for one in functions], [one.definition for one in functions]
    return "\n".join(('#include "program.h"', *declared, *defined, *lines, ""))
