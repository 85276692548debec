"""A program of a dozen functions, and findings about it, drawn by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tare.profile.functions import Known
from tare.profile.transactions import Transactions
from tare.protocol.profile.found import Estimate, Findings, Node, Site
from tests.unit.profile.doubles import findings

PROGRAM = "/program"


@dataclass
class Program:
    """Stands in for `Functions`: `calls` by name; addresses are 0x1000 apart, so that a site tells its function."""

    calls: Mapping[str, Sequence[str]]
    never_return: Sequence[str] = ()
    pointer_calls: Sequence[str] = ()  # functions that call by pointer
    address_taken: Sequence[str] = ()
    learnt: list[tuple[str, str]] = field(default_factory=list)
    path: str = PROGRAM
    libraries: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        named = dict.fromkeys((*self.calls, *(one for below in self.calls.values() for one in below)))
        self.numbers = {name: number for number, name in enumerate(named, 1)}
        self.names = {number: name for name, number in self.numbers.items()}

    @property
    def program(self) -> Program:
        return self

    def __getitem__(self, number: int) -> Known:
        name = self.names[number]
        returns = name not in self.never_return
        pointer_calls = int(name in self.pointer_calls)
        return Known(number, name, PROGRAM, 0x1000 * number, 64, False, returns, pointer_calls)

    def children(self, number: int) -> list[Known]:
        below = self.calls.get(self.names[number], ())
        return [self[self.numbers[one]] for one in below if one not in self.never_return]

    def at(self, path: str, address: int) -> Known | None:
        number = address // 0x1000
        return self[number] if path == PROGRAM and number in self.names else None

    def caller(self, address: int, above: int | None, callee: int) -> Known | None:
        return self.at(PROGRAM, address)

    def imported(self, number: int) -> list[Known]:
        return []

    def calls_by_pointer(self, number: int) -> bool:
        return self[number].pointer_calls > 0

    def is_divisible(self, number: int) -> bool:
        return True

    def called_by_pointer(self) -> list[Known]:
        return [self[self.numbers[name]] for name in self.address_taken]

    def plugins(self) -> frozenset[str]:
        return self.libraries

    def learn(self, caller: int, callee: int) -> bool:
        self.learnt.append((self.names[caller], self.names[callee]))
        return True

    def height(self, number: int) -> int:
        below = self.calls.get(self.names[number], ())
        return max((1 + self.height(self.numbers[one]) for one in below), default=0)

    def call_graph_height(self, tops: Sequence[int]) -> int:
        return 1 + max((self.height(one) for one in tops), default=0)

    def transactions(
        self,
        tops: Sequence[str] = (),
        seeds: Sequence[str] = (),
        marker: str = "",
        waits: Sequence[str] = (),
    ) -> Transactions:
        return Transactions(
            txn="commit",
            says="from begin to end",
            rules={"rule": "function", "root": 1},
            markers=((self.numbers[marker], "site", True, False),) if marker else (),
            tops=tuple(self.numbers[one] for one in tops),
            seeds=tuple(self.numbers[one] for one in seeds),
            waits=tuple(self.numbers[one] for one in waits),
        )

    def found(self, *paths: tuple[str, float, str]) -> Findings:
        """`paths`: a function, its own share, and from where in which function it is called: "a/b/c" is c as called
        by b as called by a. The rest is the transaction's own."""
        rest = 1.0 - sum(own for _, own, _ in paths)
        beneath = {
            path: sum(other for name, other, _ in paths if name.startswith(path)) for path, _, _ in paths
        }
        nodes = [_node(0, None, None, "transaction", rest, 1.0, 0, ())]
        places = {"": 0}
        for path, own, caller in paths:
            above, _, name = path.rpartition("/")
            parent = places[above]
            site = Site(0x1000 * self.numbers[caller] + 5 if caller else 0, caller, 1.0, own)
            places[path] = len(nodes)
            nodes.append(
                _node(
                    len(nodes),
                    parent,
                    self.numbers[name],
                    name,
                    own,
                    beneath[path],
                    nodes[parent].depth + 1,
                    (site,),
                )
            )
        return findings(nodes=tuple(nodes))


def _node(
    path: int,
    parent: int | None,
    function: int | None,
    name: str,
    own: float,
    beneath: float,
    depth: int,
    sites: tuple[Site, ...],
) -> Node:
    share = Estimate(own, own, own)
    return Node(
        path=path,
        parent=parent,
        function=function,
        name=name,
        inferred=False,
        depth=depth,
        height=None,
        calls=1.0,
        mean_ns=1.0,
        sd_ns=1.0,
        variance=share,
        own_mean_ns=1.0,
        own_variance=own,
        own_covariance=share,
        covariance=beneath,
        residue=0.0,
        sites=sites,
        children=(),
    )
