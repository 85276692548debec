"""The functions of a profile, numbered: found by name, their callees, and how deep calls go beneath them.

A number is for good within a run, whatever round a function comes and goes in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeAlias

from tare.errors import UsageError

if TYPE_CHECKING:
    from tare._probe import Function as Found
    from tare._probe import Image

FIRST_NUMBER = 1

SHOWN = 6
"""Names in an error's next step."""

C_LIBRARY = ("libc.so.6", "libpthread.so.0", "libm.so.6", "ld-musl-x86_64.so.1")

RUNTIME = (
    "ld-linux", "ld-musl", "libasan.", "libatomic.", "libc.", "libc++.", "libc++abi.", "libdl.", "libgcc_s.",
    "libjemalloc.", "libm.", "libmvec.", "libnss_", "libpthread.", "libresolv.", "librt.", "libstdc++.",
    "libtare_agent.", "libtcmalloc", "libubsan.",
)  # fmt: skip
"""Beginnings of the names of libraries that serve any program: what they do inside says nothing about a server."""

MOST_CHOICES = 8
"""Functions of one name that a message lists."""


class NoSuchFunction(UsageError):
    """The binary names no such function, or several."""


Parts: TypeAlias = tuple[tuple[int, int], ...]
"""Address and bytes of each cold part of a function."""

Target: TypeAlias = tuple[int, str, str, int, int, Parts]
"""Number, name, object, address, size and cold parts: what `_probe.ProfileRecorder.set` takes."""


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
    pointer_calls: int = 0  # places in it that call by pointer
    signature: str = ""  # its name with parameters, where they are known
    parts: Parts = ()  # see `_probe.Function.parts`

    def target(self) -> Target:
        return (self.id, self.name, self.object, self.address, self.size, self.parts)


class Functions:
    """Functions of one program and of the libraries that its process has loaded.

    `library`: returns the image of a loaded library by its file's name, None where it is not loaded. `plugins`: returns
    the images of libraries that are loaded now and may hold a part of the server's own work. `pid`: the process, where
    it runs already."""

    def __init__(
        self,
        program: Image,
        library: Callable[[str], Image | None],
        plugins: Callable[[], Iterable[Image]] = tuple,
        pid: int | None = None,
    ) -> None:
        self.program = program
        self._library = library
        self._plugins = plugins
        self._pid = pid
        self._images: dict[str, Image] = {program.path: program}
        self._by_file: dict[str, Image] = {}
        self._across: dict[int, dict[int, None]] = {}  # calls from one object to another, as they were seen
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
        if image.is_indirect(plain):
            raise self._unknown_implementation(image, plain)
        elsewhere = [] if library else self._libraries_with(plain)
        near = [f"{plain}@{file}" for file in elsewhere] or [one for one in image.near(plain) if one]
        raise NoSuchFunction(
            f"{image.path} names no function {plain}",
            f"did you mean {', '.join(near)}?"
            if near
            else "the compiler may have made it part of its callers; name one of those, or install debug symbols",
        )

    def _libraries_with(self, name: str) -> list[str]:
        """Files of the loaded libraries that name a function so."""
        return [PurePath(one.path).name for one in self._plugins() if one.find(name)]

    def all_named(self, name: str) -> list[Known]:
        """Return all functions of this name; none is no error."""
        plain, _, library = name.partition("@")
        image = self._image(library)
        if image is None:
            return []
        if image.is_indirect(plain):
            chosen = self._implementation(image, plain)
            return [] if chosen is None else [self._number(image, chosen, stands_for=plain)]
        numbers = [self._number(image, one).id for one in image.find(_sought(plain))]
        return [self._known[one] for one in numbers]  # all are told apart by now

    def present(self, names: Iterable[str]) -> list[Known]:
        """Return the functions of these names, in this order, each once; all of those that share a name."""
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
        own = [
            self._number(image, child)
            for child in image.children(one.address)
            if child.name and not child.no_return and child.address != one.address
        ]
        return [*(self._known[other] for other in self._across.get(number, ())), *own]

    def callers(self, number: int) -> list[Known]:
        """Named functions of the same file that call it directly, by address."""
        one = self._known[number]
        image = self._images[one.object]
        return [
            self._number(image, other)
            for other in image.functions()
            if other.name
            and other.address != one.address
            and any(address == one.address for address, _ in image.callees(other.address))
        ]

    def called_by_pointer(self) -> list[Known]:
        """Functions that may be called by pointer, the most plausible first: named ones that come back and whose
        address the program holds or, in a library, that it exports; those that nobody calls by name come first.
        Libraries loaded since the last call are among them."""
        images = [self.program]
        for image in self._plugins():
            images.append(self._images.setdefault(image.path, image))
        found = [
            (one.called_directly, place, self._number(image, one))
            for place, image in enumerate(images)
            for one in image.functions()
            if one.name
            and not one.no_return
            and (one.address_taken or (place > 0 and one.exported and not one.called_directly))
        ]
        return [one for _, _, one in sorted(found, key=lambda each: each[:2])]

    def plugins(self) -> frozenset[str]:
        """Paths of the libraries that are loaded now and may hold a part of the server's own work."""
        return frozenset(image.path for image in self._plugins())

    def caller(self, address: int, above: int | None, callee: int) -> Known | None:
        """The function from which a call returns to this address of its object. Objects share addresses: it is the one
        in which a call stands there that can lead to `callee`, else the program. `above`: the watched function that the
        call was seen beneath."""
        other = self._known[callee]
        objects = [other.object, self.program.path, *self._images]
        if above is not None:
            objects.insert(0, self._known[above].object)
        for path in dict.fromkeys(objects):
            image = self._images[path]
            found = image.function_at(address - 1)
            if found is not None and found.name and self._may_lead(image, found.address, address, other):
                return self._number(image, found)
        # A callee that jumps on to another leaves its own caller's address.
        return self.at(self.program.path, address - 1) if self.program.calls(address) else None

    def _may_lead(self, image: Image, caller: int, address: int, callee: Known) -> bool:
        if image.calls_by_pointer(address):
            return True
        return any(
            (called == callee.address and image.path == callee.object)
            or (called == 0 and symbol.partition("@")[0] == without_parameters(callee.name.partition("@")[0]))
            for called, symbol in image.callees(caller)
        )

    def imported(self, number: int) -> list[Known]:
        """Functions of other loaded files that it calls by name and that come back."""
        one = self._known[number]
        image = self._images[one.object]
        if one.size == 0:
            return []
        wanted = {symbol.partition("@")[0] for address, symbol in image.callees(one.address) if address == 0}
        found: dict[int, Known] = {}
        for other in (self.program, *self._loaded()):
            if other is not image:
                found |= {known.id: known for name in sorted(wanted) for known in self._exported(other, name)}
        return [known for known in found.values() if known.returns]

    def _exported(self, image: Image, name: str) -> list[Known]:
        if image.is_indirect(name):
            chosen = self._implementation(image, name)
            return [] if chosen is None else [self._number(image, chosen, stands_for=name)]
        return [self._number(image, one) for one in image.find(name) if one.exported]

    def _loaded(self) -> list[Image]:
        """Libraries that are loaded now; of those that serve any program only the C library."""
        for plugin in self._plugins():
            self._images.setdefault(plugin.path, plugin)
        for name in C_LIBRARY:
            self._image(name)
        return [image for image in self._images.values() if image is not self.program]

    def calls_by_pointer(self, number: int) -> bool:
        """Whether it calls by pointer, or hands a pointer to a function of the C library that does."""
        one = self._known[number]
        image = self._images[one.object]
        if one.pointer_calls or one.size == 0:
            return one.pointer_calls > 0
        called = (symbol.partition("@")[0] for address, symbol in image.callees(one.address) if address == 0)
        return any(symbol in CALL_BACK for symbol in called)

    def is_divisible(self, number: int) -> bool:
        """Whether its callees may say something about the server: not so inside the C library and its like."""
        path = self._known[number].object
        return path == self.program.path or not is_runtime(path)

    def at(self, path: str, address: int) -> Known | None:
        """The function whose code covers an address of this object, where it has a name."""
        image = self._images.get(path)
        covering = image.function_at(address) if image is not None else None
        return self._number(image, covering) if image is not None and covering and covering.name else None

    def name_at(self, path: str, address: int) -> str:
        image = self._images.get(path)
        return image.name_at(address) if image is not None else ""

    def learn(self, caller: int, callee: int) -> bool:
        """Adds a call that was seen. Returns whether it was new to the call graph."""
        one, other = self._known[caller], self._known[callee]
        if one.object != other.object:
            beneath = self._across.setdefault(caller, {})
            new = callee not in beneath
            beneath[callee] = None
            return new
        new = self._images[one.object].learn(one.address, other.address)
        if new:
            self._heights.clear()
        return new

    def height(self, number: int) -> int | None:
        """Return the height of the deepest chain of calls beneath it; None for what is no function."""
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
        """Return the height of the transaction: one above the highest function that it calls."""
        heights = [self.height(number) for number in tops]
        return 1 + max((height for height in heights if height is not None), default=0)

    # Inside ----------------------------------------------------------------------
    def _image(self, library: str) -> Image | None:
        if not library:
            return self.program
        if library not in self._by_file:
            image = self._library(library)
            if image is None:
                return None  # it may be loaded later
            self._by_file[library] = self._images.setdefault(image.path, image)
        return self._by_file[library]

    def _implementation(self, image: Image, name: str) -> Found | None:
        """The implementation of an indirect function that the process uses."""
        if self._pid is None:
            return None
        return image.implementation(self._pid, name, list(self._images.values()))

    def _unknown_implementation(self, image: Image, name: str) -> NoSuchFunction:
        wanted = tuple(f"{start}{name}_" for start in ("__", "_", ""))
        names = dict.fromkeys(
            symbol
            for one in image.functions()
            for symbol in (one.name, *one.aliases)
            if symbol.startswith(wanted)
        )
        why = "the process has not called it yet" if self._pid is not None else "the program does not run yet"
        choices = ", ".join(list(names)[:SHOWN])
        return NoSuchFunction(
            f"{image.path} chooses between several implementations of {name} when it is loaded, and which it chose is "
            f"not known: {why}",
            f"name an implementation: {choices}"
            if names
            else f"profile a process that has called it, or install debug symbols of {image.path}",
        )

    def _number(self, image: Image, found: Found, *, stands_for: str = "") -> Known:
        """`stands_for`: the name of the indirect function whose implementation it is."""
        name = without_parameters(found.display or found.name) or f"{found.address:#x}"
        if stands_for and stands_for not in (found.name, *found.aliases):
            name = f"{stands_for} ({name})"
        return self._add(
            image,
            found.address,
            name=name,
            size=found.size,
            inferred=found.inferred,
            returns=not found.no_return,
            pointer_calls=found.indirect_sites,
            signature=found.display or found.name,
            parts=tuple(found.parts),
        )

    def _add(
        self,
        image: Image,
        address: int,
        *,
        name: str,
        size: int,
        inferred: bool,
        returns: bool,
        pointer_calls: int = 0,
        signature: str = "",
        parts: Parts = (),
    ) -> Known:
        key = (image.path, address)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = FIRST_NUMBER + len(self._numbers)
            self._known[number] = Known(
                number,
                name,
                image.path,
                address,
                size,
                inferred,
                returns,
                pointer_calls,
                signature or name,
                parts,
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


CALL_BACK = frozenset((
    "bsearch", "call_once", "dl_iterate_phdr", "ftw", "ftw64", "glob", "glob64", "hsearch", "lfind", "lsearch", "nftw",
    "nftw64", "pthread_once", "qsort", "qsort_r", "scandir", "scandir64", "tdestroy", "tfind", "tsearch", "twalk",
    "twalk_r",
))  # fmt: skip
"""Functions of the C library that call a function which they are given."""


def is_runtime(path: str) -> bool:
    return path.rpartition("/")[2].startswith(RUNTIME)


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
    """Return the name to search the binary for: `f(int,char)` as it is shown, `f at 0x1f40` by its address."""
    at = re.search(r" at (0x[0-9a-f]+)$", name)
    return at[1] if at else re.sub(r"\s*,\s*", ", ", name)


def _note(name: str) -> str:
    """`transaction-start` is written `transaction__start` in a note."""
    return name.replace("-", "__")
