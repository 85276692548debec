"""A commented specification to start from, one for each scenario."""

from __future__ import annotations

import re

from tare.experiment.scenario.base import Scenario

_TEXT = """\
# An experiment. `tare experiment check FILE` explains every mistake; `tare experiment run FILE` runs it.

name = "{name}"
description = "Ten generated queries over four tables of four integers, one of which changes its size."

# {scenario}: {summary}.
scenario = "{scenario}"

qes = 10             # executions of each Q@C (a query at one cardinality); fewer than 6 say little
cache = "warm"       # "warm", "lukewarm-os", "lukewarm-dbms" or "cold": what is emptied before each execution
timeout_s = 60.0     # an execution that takes longer is cancelled, and recorded as such
# audit = [10]       # executions of each Q@C that a kernel trace audits beside the counters (see docs/truth.md)

# Each DBMS runs the whole experiment. Tare starts these in the background, and stops them.
[[dbms]]
name = "pg"
start = "postgresql"         # or "mariadb", "sqlite", "duckdb"

[[dbms]]
name = "lite"
start = "sqlite"

# A server that is there already (no password here: ~/.pgpass, PGPASSWORD and ~/.my.cnf are read):
# [[dbms]]
# name = "mine"
# url = "postgresql://me@localhost:5432/an_empty_database"

# The one table with a `step` is the variable one: {maximum:,} rows, and {step:,} fewer each time.
[[tables]]
name = "ft_HT1"
cardinality = {maximum}      # the largest
step = {step}
minimum = {minimum}          # the least; one step if left out
primary_key = "id1"          # 1, 2, 3, …
seed = 1                     # the same seed gives the same rows, on every machine and every DBMS

# The others are fixed. Without `columns` a table has id1 … id4, drawn from 0 … its cardinality.
[[tables]]
name = "ft_HT2"
cardinality = {maximum}
seed = 2

[[tables]]
name = "ft_HT3"
cardinality = {maximum}
primary_key = "id1"
seed = 3

[[tables]]
name = "ft_HT4"
cardinality = {maximum}
seed = 4
columns = [
    {{ name = "id1" }},
    {{ name = "id2", low = 1, high = 1000 }},
    {{ name = "id3" }},
    {{ name = "id4" }},
]

# Queries of your own, which every DBMS above must understand …
[[queries]]
name = "by_key"
sql = "SELECT count(*), sum(t1.id3) FROM ft_HT1 t0, ft_HT3 t1 WHERE t0.id2 = t1.id1"

# … and generated ones: select-project-join over one to four correlation names, with and without aggregates.
[generate]
count = 10
seed = 1
correlation_names = 4

# Tare notifies you if the executor falls silent (see `tare experiment watch`).
# [watch]
# silent_after_s = 300.0
# command = "mail -s 'the experiment is silent' me"   # or webhook = "https://…"
"""


def template(scenario: Scenario) -> str:
    return _TEXT.format(
        name=re.sub(r"[^A-Za-z0-9_]", "_", f"my_{scenario.name}")[:60],
        scenario=scenario.name,
        summary=scenario.summary,
        maximum=10_000,
        step=1_000,
        minimum=1_000,
    )
