"""Specification of a tuning run: the TOML that `tare tune run FILE.toml` takes, and what options become."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from tare.records import Record
from tare.tune.arms import AGAIN, BASELINE
from tare.tune.verdicts import MARGIN, Objective

SETTING_NAME = r"^[A-Za-z][A-Za-z0-9_.-]{0,99}$"
SettingName = Annotated[str, Field(pattern=SETTING_NAME)]


class LoadSpec(Record):
    """The load that all arms share."""

    workload: str = Field(description="workload of `tare bench oltp`, loaded into the database")
    rate: float = Field(gt=0, description="transactions a second, of all blocks")
    connections: int = Field(default=64, ge=1, le=10_000)
    warmup_s: float = Field(default=10.0, ge=0)
    mix: dict[str, float] = Field(default={}, description="weights by type; empty: the workload's mix")
    options: dict[str, str] = Field(default={}, description="options of the workload")


class BlocksSpec(Record):
    """Shape of the stage: each block holds each arm once."""

    window_s: float = Field(default=5.0, ge=1.0, description="length of a window, s")
    settle_s: float = Field(default=0.7, ge=0, description="time after a switch that is left out, s")
    count: int = Field(default=12, ge=2, le=10_000)

    @model_validator(mode="after")
    def _has_figures(self) -> BlocksSpec:
        if self.settle_s > self.window_s / 2:
            raise ValueError("settle_s is longer than half of window_s")
        return self


class GoalSpec(Record):
    """Objectives, in the order in which they are reported."""

    objectives: tuple[Objective, ...] = Field(
        default=(Objective.VARIANCE, Objective.P99, Objective.MEAN), min_length=1
    )
    margin: float = Field(default=MARGIN, gt=0, lt=1, description="ratio less 1 that does not matter")
    keep_durability: bool = Field(default=False, description="leave out arms that give durability up")
    p: float = Field(default=2.0, ge=1, description="exponent of the L_p norm")


class ArmSpec(Record):
    """An arm: settings that differ from the baseline."""

    name: str = Field(min_length=1, max_length=80)
    set: dict[SettingName, str] = Field(min_length=1)


class TuneSpecification(Record):
    """A tuning run. The baseline and its copy are arms without being named."""

    load: LoadSpec
    blocks: BlocksSpec = BlocksSpec()
    goal: GoalSpec = GoalSpec()
    arm: tuple[ArmSpec, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_differ(self) -> TuneSpecification:
        names = [BASELINE, AGAIN, *(arm.name for arm in self.arm)]
        doubled = sorted({name for name in names if names.count(name) > 1})
        if doubled:
            raise ValueError(f"two arms are called {doubled[0]!r}")
        return self
