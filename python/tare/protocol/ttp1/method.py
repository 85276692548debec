"""TTPv1 over a whole lab, as data: what Steps 1 to 5 check, drop and compute (§7.5)."""

from __future__ import annotations

from typing import Final

from tare.protocol.experiment_checks import UNMEASURED
from tare.protocol.method import Method, QatCStep, SubStep
from tare.protocol.post import SIX
from tare.protocol.qatc_rules import query_in_every_qe, too_few, too_short
from tare.protocol.quantities import part_of_ticks
from tare.protocol.ttp1 import checks
from tare.protocol.ttp1.context import context
from tare.protocol.ttp1.equations import EQUATIONS
from tare.protocol.ttp1.regression import REGRESSORS, regression

CITATION: Final = (
    "S. Currim, R. T. Snodgrass, Y.-K. Suh, R. Zhang, M. Johnson and C. Yi, “DBMS metrology: Measuring "
    "query time”, Proceedings of ACM SIGMOD 2013, pages 421–432"
)

STEP_3: Final = "TTPv1 §7.5, step 3"

TTP1: Final = Method(
    name="ttp1",
    title="Tucson Timing Protocol, version 1",
    citation=CITATION,
    needed=("wall_ns", "query_system_ticks", "overall_iowait", *REGRESSORS.values()),
    computation="query_cpu_ticks",
    experiment=checks.EXPERIMENT_CHECKS,
    qe_checks=checks.QE_CHECKS,
    qatc_checks=checks.QATC_CHECKS,
    monotonicity=checks.MONOTONICITY,
    drops=(
        SubStep(
            "step 2-(i)",
            checks.STEP_2,
            (*checks.QE_CHECKS, checks.OF_ITS_QATC, checks.TIMED_OUT, UNMEASURED),
        ),
        SubStep("step 2-(ii)", checks.STEP_2, (checks.STOPPED_OR_PHANTOM,)),
        SubStep("step 2-(iii)", checks.STEP_2, (checks.IOWAIT_ABOVE_MEDIAN,)),
        SubStep("step 2-(iv)", checks.STEP_2, (checks.IOWAIT_OF_DBMS,)),
    ),
    qatc_drops=(
        QatCStep("step 3-(i)", STEP_3, (query_in_every_qe(STEP_3, 1),)),
        QatCStep("step 3-(ii)", STEP_3, (too_short(STEP_3, 2),)),
        QatCStep("step 3-(iii)", STEP_3, (too_few(STEP_3, 3),)),
    ),
    equations=EQUATIONS,
    parts={
        "user": part_of_ticks("user", "query_user_ticks"),
        "system": part_of_ticks("system", "query_system_ticks"),
        "iowait": part_of_ticks("iowait", "iowait_calc_ticks"),
    },
    post=SIX[:3],
    post_source="TTPv1 Table 9",
    start_source="TTPv1 Table 8",
    context=context,
    fit=regression,
    several_cpus="iowait is kept per CPU, and only where every CPU was blocked does it say that the query "
    "waited",
)
