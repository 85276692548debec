"""The functions of a profile, numbered: found by name, their callees, and how deep calls go beneath them.

A number is for good within a run, whatever round a function comes and goes in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import PurePath
from typing import TYPE_CHECKING

from tare.errors import UsageError
from tare.profile.costs import STEPPED

if TYPE_CHECKING:
    from tare._probe import Function as Found
    from tare._probe import Image

FIRST_NUMBER = 1

MOST_CHOICES = 8
"""Functions of one name that a message lists."""


class NoSuchFunction(UsageError):
    """The binary names no such function, or several."""


@dataclass(frozen=True, slots=True)
class Known:
    """A function that may have a probe on."""

    id: int
    name: str  # without parameters, but where another function of this profile would have the same
    object: str
    address: int
    size: int
    inferred: bool
    returns: bool  # False: never comes back to its caller, so its time has no end
    stepped: bool = False  # see `_probe.Function.stepped`
    signature: str = ""  # with parameters, where they are known

    def target(self) -> tuple[int, str, str, int, int]:
        return (self.id, self.name, self.object, self.address, self.size)


class Functions:
    """Of one program and the libraries it has loaded.

    `library`: the image of a loaded library by its file's name, None where it is not loaded; asked once for each."""

    def __init__(self, program: Image, library: Callable[[str], Image | None]) -> None:
        self.program = program
        self._library = library
        self._images: dict[str, Image] = {program.path: program}
        self._by_file: dict[str, Image | None] = {}
        self._numbers: dict[tuple[str, int], int] = {}
        self._known: dict[int, Known] = {}
        self._alike: dict[str, list[int]] = {}  # by name without parameters
        self._heights: dict[tuple[str, int], int] = {}

    # By name ---------------------------------------------------------------------
    def named(self, name: str) -> Known:
        """`NAME`, or `NAME@LIBRARY`. Raises NoSuchFunction with near names, or with those that share it."""
        found = self.all_named(name)
        if len(found) == 1:
            return found[0]
        plain, _, library = name.partition("@")
        image = self._image(library)
        if image is None:
            raise NoSuchFunction(
                f"{name}: the process has not loaded {library}",
                f"leave @{library} out, or look at /proc/PID/maps for its libraries",
            )
        if found:
            more = f" and {len(found) - MOST_CHOICES} more" if len(found) > MOST_CHOICES else ""
            choices = [one.name for one in found[:MOST_CHOICES]]
            raise NoSuchFunction(
                f"{image.path} has {len(found)} functions named {plain}: {', '.join(choices)}{more}",
                f"name one of them: '{choices[0]}'",
            )
        near = [one for one in image.near(plain) if one]
        raise NoSuchFunction(
            f"{image.path} names no function {plain}",
            f"did you mean {', '.join(near)}?"
            if near
            else "the compiler may have made it part of its callers; name one of those, or install debug symbols",
        )

    def all_named(self, name: str) -> list[Known]:
        """As many as there are; none is no error."""
        plain, _, library = name.partition("@")
        image = self._image(library)
        if image is None:
            return []
        numbers = [self._number(image, one).id for one in image.find(_sought(plain))]
        return [self._known[one] for one in numbers]  # all are told apart by now

    def present(self, names: Iterable[str]) -> list[Known]:
        """Those of these names that there are, in this order, each once. A name that several share brings all."""
        found: dict[int, Known] = {}
        for name in names:
            for one in self.all_named(name):
                found.setdefault(one.id, one)
        return list(found.values())

    # By number -------------------------------------------------------------------
    def __getitem__(self, number: int) -> Known:
        return self._known[number]

    def __len__(self) -> int:
        return len(self._known)

    def known(self) -> list[Known]:
        """All that were asked for so far, by number."""
        return list(self._known.values())

    def number(self, found: Found) -> Known:
        """A function of the program."""
        return self._number(self.program, found)

    def at_note(self, provider: str, name: str) -> Known:
        """The place of a USDT note, as a function of no size. Raises NoSuchFunction."""
        notes = self.program.usdt()
        wanted = (provider, _note(name))
        for note in notes:
            if (note.provider, _note(note.name)) == wanted:
                return self._add(
                    self.program,
                    note.address,
                    name=f"{provider}:{name}",
                    size=0,
                    inferred=False,
                    stepped=False,  # a nop
                    returns=False,
                )
        there = sorted({f"{note.provider}:{note.name.replace('__', '-')}" for note in notes})
        near = get_close_matches(f"{provider}:{name}", there, n=3) or there[:6]
        raise NoSuchFunction(
            f"{self.program.path} has no USDT probe {provider}:{name}",
            f"did you mean {', '.join(near)}?"
            if near
            else "the program was built without USDT probes; take --txn function:NAME",
        )

    # The call graph --------------------------------------------------------------
    def children(self, number: int) -> list[Known]:
        """Functions that it calls and that come back: named ones, error paths last."""
        one = self._known[number]
        image = self._images[one.object]
        if one.size == 0 and image.function_at(one.address) is None:
            return []
        return [
            self._number(image, child)
            for child in image.children(one.address)
            if child.name and not child.no_return and child.address != one.address
        ]

    def at(self, path: str, address: int) -> Known | None:
        """The function whose code covers an address of this object, where it has a name."""
        image = self._images.get(path)
        covering = image.function_at(address) if image is not None else None
        return self._number(image, covering) if image is not None and covering and covering.name else None

    def name_at(self, path: str, address: int) -> str:
        image = self._images.get(path)
        return image.name_at(address) if image is not None else ""

    def learn(self, caller: int, callee: int) -> bool:
        """A call that was seen. Whether it was new to the call graph."""
        one, other = self._known[caller], self._known[callee]
        if one.object != other.object:
            return False
        new = self._images[one.object].learn(one.address, other.address)
        if new:
            self._heights.clear()
        return new

    def height(self, number: int) -> int | None:
        """Of the deepest chain of calls beneath it; None for what is no function."""
        one = self._known[number]
        key = (one.object, one.address)
        if key not in self._heights:
            image = self._images[one.object]
            if image.function_at(one.address) is None or one.size == 0:
                return None
            for address, height in image.heights(one.address).items():
                self._heights[(one.object, address)] = height
        return self._heights.get(key)

    def call_graph_height(self, tops: Sequence[int]) -> int:
        """Of the transaction: one above the highest of what it calls."""
        heights = [self.height(number) for number in tops]
        return 1 + max((height for height in heights if height is not None), default=0)

    # Inside ----------------------------------------------------------------------
    def _image(self, library: str) -> Image | None:
        if not library:
            return self.program
        if library not in self._by_file:
            image = self._library(library)
            self._by_file[library] = image
            if image is not None:
                self._images[image.path] = image
        return self._by_file[library]

    def _number(self, image: Image, found: Found) -> Known:
        display = found.display or found.name
        return self._add(
            image,
            found.address,
            name=without_parameters(display) or f"{found.address:#x}",
            signature=display,
            size=found.size,
            inferred=found.inferred,
            stepped=found.stepped,
            returns=not found.no_return,
        )

    def _add(
        self,
        image: Image,
        address: int,
        *,
        name: str,
        size: int,
        inferred: bool,
        stepped: bool,
        returns: bool,
        signature: str = "",
    ) -> Known:
        key = (image.path, address)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = FIRST_NUMBER + len(self._numbers)
            self._known[number] = Known(
                number, name, image.path, address, size, inferred, returns, stepped, signature or name
            )
            self._tell_apart(name, number)
        return self._known[number]

    def _tell_apart(self, name: str, number: int) -> None:
        """Functions of one name: by their libraries, then by their parameters, then by their addresses."""
        alike = self._alike.setdefault(name, [])
        alike.append(number)
        if len(alike) == 1:
            return
        every = [self._known[one] for one in alike]
        for one in every:
            beside = [other for other in every if other.object == one.object]
            library = "" if one.object == self.program.path else f"@{PurePath(one.object).name}"
            signatures = sum(other.signature == one.signature for other in beside)
            shown = (
                name
                if len(beside) == 1
                else one.signature
                if signatures == 1
                else f"{one.signature} at {one.address:#x}"
            )
            self._known[one.id] = replace(one, name=shown + library)


def weight_of(backend: str, functions: Functions) -> Callable[[int], float]:
    """What a function's probe costs, in usual ones: `Costs.weight`."""
    if backend != "attach":
        return lambda _: 1.0
    return lambda number: STEPPED if functions[number].stepped else 1.0


def without_parameters(display: str) -> str:
    """`handler::ha_write_row(unsigned char const*)` → `handler::ha_write_row`; operators keep their brackets."""
    end = display.rfind(")")
    if ">" in display[end:]:  # those brackets are a template's
        return display
    depth = 0
    for place in range(end, -1, -1):
        letter = display[place]
        depth += (letter == ")") - (letter == "(")
        if letter == "(" and depth == 0:
            before = display[:place]
            return display if before.endswith("operator") or not before else before
    return display


def _sought(name: str) -> str:
    """As the binary is searched: `f(int,char)` as it is shown, `f at 0x1f40` by its address."""
    at = re.search(r" at (0x[0-9a-f]+)$", name)
    return at[1] if at else re.sub(r"\s*,\s*", ", ", name)


def _note(name: str) -> str:
    """`transaction-start` is written `transaction__start` in a note."""
    return name.replace("-", "__")
