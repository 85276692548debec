"""TTPv2 over a whole lab, as data: what Steps 1 to 5 check, drop and compute (§8.2 to §8.6)."""

from __future__ import annotations

from typing import Final

from tare.protocol.experiment_checks import EXPERIMENT_CHECKS, UNMEASURED
from tare.protocol.method import Method, QatCStep, SubStep
from tare.protocol.monotonicity import MONOTONICITY
from tare.protocol.post import SIX
from tare.protocol.qatc_rules import query_in_every_qe, too_few, too_short
from tare.protocol.quantities import part_of_ticks
from tare.protocol.ttp2.checks import QE_CHECKS
from tare.protocol.ttp2.equations import EQUATIONS, NEEDED
from tare.protocol.ttp2.qatc_checks import QATC_CHECKS

CITATION: Final = (
    "S. Currim, R. T. Snodgrass, Y.-K. Suh and R. Zhang, “DBMS metrology: Measuring query time”, "
    "ACM Transactions on Database Systems 42(1), article 3, 2016"
)

TTP2: Final = Method(
    name="ttp2",
    title="Tucson Timing Protocol, version 2",
    citation=CITATION,
    needed=NEEDED,
    computation="query_cpu_ticks",
    experiment=EXPERIMENT_CHECKS,
    qe_checks=QE_CHECKS,
    qatc_checks=QATC_CHECKS,
    monotonicity=MONOTONICITY,
    drops=(SubStep("step 2", "TTPv2 §8.3", (*QE_CHECKS, UNMEASURED)),),
    qatc_drops=(
        QatCStep("step 3-(i)", "TTPv2 §8.4", QATC_CHECKS),
        QatCStep("step 3-(ii)", "TTPv2 §8.4", (query_in_every_qe("TTPv2 §8.4", 2),)),
        QatCStep("step 3-(iii)", "TTPv2 §8.4", (too_short("TTPv2 §8.4", 3),)),
        QatCStep("step 3-(iv)", "TTPv2 §8.4", (too_few("TTPv2 §8.4", 4),)),
    ),
    equations=EQUATIONS,
    parts={
        "user": part_of_ticks("user", "query_user_ticks"),
        "system": part_of_ticks("system", "query_system_ticks"),
        "io": part_of_ticks("io", "io_calc_ticks"),
    },
    post=SIX,
    post_source="TTPv2 Table XIV",
    start_source="TTPv2 Table XIII",
    several_cpus="eq. 1 charges the query half of each iowait tick, which holds only where every CPU was "
    "blocked: TTPv2's I/O estimate is not applicable there, the exact protocol is",
)
