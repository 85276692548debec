"""Profiles made of own times, written by call path: "" is the transaction, "A/B" is B as called from A, "A/B@16" at
that call site, "[waiting]" is waiting between intervals. Tables as `assemble` gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from tare.protocol.profile.measured import Function, Measured, Window, from_tables

WAITING = "[waiting]"
WINDOW = Window(0, 0, 10**12, "probed", 1)


def numbers(own: Mapping[str, Any]) -> dict[str, int]:
    """Numbers of functions, by name, in order of appearance."""
    names = [_function(step) for path in own if path not in ("", WAITING) for step in path.split("/")]
    return {name: number for number, name in enumerate(dict.fromkeys(names), start=1)}


def _function(step: str) -> str:
    return step.partition("@")[0]


def tables(
    own: Mapping[str, ArrayLike],
    *,
    calls: Mapping[str, ArrayLike] | None = None,
    labels: Sequence[int] | None = None,
    cpu: Sequence[int | None] | None = None,
    begin: Sequence[int] | None = None,
    why: Sequence[str] | None = None,
    window: Sequence[int] | None = None,
    ended: Sequence[bool] | None = None,
    whole: bool = True,
) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Transactions, paths, cells. `whole`: inclusive times are the sums that they should be."""
    function = numbers(own)
    paths: dict[str, int] = {"": 0, WAITING: 1}
    rows: list[dict[str, Any]] = [
        {"parent": None, "function": None, "site": 0},
        {"parent": 0, "function": None, "site": 0},
    ]
    for path in own:
        steps = path.split("/") if path not in ("", WAITING) else []
        for deep in range(1, len(steps) + 1):
            name = "/".join(steps[:deep])
            if name not in paths:
                above = "/".join(steps[: deep - 1])
                site = int(steps[deep - 1].partition("@")[2] or 0)
                paths[name] = len(rows)
                rows.append(
                    {"parent": paths[above], "function": function[_function(steps[deep - 1])], "site": site}
                )
    given = {path: np.asarray(values, dtype=np.int64) for path, values in own.items()}
    n = len(next(iter(given.values())))
    nothing = np.zeros(n, dtype=np.int64)
    mine = {path: given.get(path, nothing) for path in paths}
    inclusive = {
        path: sum((values for other, values in mine.items() if _beneath(other, path)), start=nothing)
        for path in paths
    }
    if not whole:
        inclusive[""] = inclusive[""] + np.arange(n) ** 2
    cells = []
    for t in range(n):
        for path, number in paths.items():
            if inclusive[path][t] or path == "":
                many = 1 if calls is None or path not in calls else int(np.asarray(calls[path])[t])
                cells.append((t, number, many, int(inclusive[path][t]), int(mine[path][t])))
    duration = sum(mine.values(), start=nothing)
    transactions = pa.table(
        {
            "window": pa.array(window or [0] * n, pa.uint32()),
            "pid": pa.array([1] * n, pa.int32()),
            "tid": pa.array([1] * n, pa.int32()),
            "begin_ns": pa.array(begin or range(n), pa.uint64()),
            "duration_ns": pa.array(duration, pa.uint64()),
            "service_ns": pa.array(duration - mine[WAITING], pa.uint64()),
            "waited_ns": pa.array(mine[WAITING], pa.uint64()),
            "overlap_ns": pa.array([0] * n, pa.uint64()),
            "ended": pa.array(ended or [True] * n, pa.bool_()),
            "cpu_ns": pa.array(cpu or [None] * n, pa.uint64()),
            "intervals": pa.array([1] * n, pa.uint32()),
            "label": pa.array(labels or [0] * n, pa.uint32()),
            "why": pa.array(why or ["valid"] * n, pa.string()),
        }
    )
    columns = list(zip(*cells, strict=True))
    types = (pa.uint32(), pa.uint32(), pa.uint32(), pa.uint64(), pa.uint64())
    names = ("transaction", "path", "calls", "inclusive_ns", "own_ns")
    return (
        transactions,
        pa.table(
            {
                "parent": pa.array([row["parent"] for row in rows], pa.uint32()),
                "function": pa.array([row["function"] for row in rows], pa.uint32()),
                "site": pa.array([row["site"] for row in rows], pa.uint32()),
            }
        ),
        pa.table(
            {name: pa.array(column, type_) for name, column, type_ in zip(names, columns, types, strict=True)}
        ),
    )


def _beneath(path: str, above: str) -> bool:
    """Itself too."""
    return above == "" or path == above or path.startswith(above + "/")


def made(
    own: Mapping[str, ArrayLike],
    *,
    heights: Mapping[str, int] | None = None,
    height: int = 0,
    inferred: Sequence[str] = (),
    texts: Mapping[int, str] | None = None,
    windows: Sequence[Window] = (WINDOW,),
    lost: int = 0,
    **more: Any,
) -> Measured:
    transactions, paths, cells = tables(own, **more)
    functions = [
        Function(number, name, name in inferred, (heights or {}).get(name))
        for name, number in numbers(own).items()
    ]
    return from_tables(
        transactions,
        paths,
        cells,
        windows=windows,
        functions=functions,
        texts=texts,
        lost=lost,
        call_graph_height=height,
    )


def microseconds(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Values in µs as whole ns, none below 0."""
    return np.maximum(0, np.rint(values * 1e3)).astype(np.int64)
