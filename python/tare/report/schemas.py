"""The published JSON schemas: `python -m tare.report.schemas [--check]`.

A new document with a schema is a line in SCHEMAS."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from tare.experiment.specification import Specification
from tare.generated import main
from tare.report.experiment.document import Report
from tare.report.oltp.curve.document import CurveReport
from tare.report.oltp.document import OltpReport
from tare.report.os.document import OsReport
from tare.report.profile.document import ProfileReport
from tare.report.result import RunResult
from tare.report.trend.document import TrendReport
from tare.report.tune.document import TuningReport
from tare.report.wisconsin.document import WisconsinReport
from tare.tune.specification import TuneSpecification


@dataclass(frozen=True, slots=True)
class Published:
    """A model and its schema's title. `mode`: whether files are read or written by it."""

    model: type[BaseModel]
    title: str
    mode: Literal["validation", "serialization"] = "serialization"


SCHEMAS: Mapping[str, Published] = {
    "experiment-v1": Published(Specification, "Tare experiment, version 1", "validation"),
    "oltp-curve-v1": Published(CurveReport, "Tare report of a curve of latency over rate, version 1"),
    "oltp-v1": Published(OltpReport, "Tare report of a transactional run, version 1"),
    "os-v1": Published(OsReport, "Tare report of a trace of the operating system, version 1"),
    "profile-v1": Published(ProfileReport, "Tare report of a profile, version 1"),
    "report-v1": Published(Report, "Tare report of an experiment, version 1"),
    "result-v1": Published(RunResult, "Tare result, version 1"),
    "trend-v1": Published(TrendReport, "Tare report of a trend, version 1"),
    "tune-spec-v1": Published(
        TuneSpecification, "Tare specification of a tuning run, version 1", "validation"
    ),
    "tune-v1": Published(TuningReport, "Tare report of a tuning run, version 1"),
    "wisconsin-v1": Published(WisconsinReport, "Tare report of the Wisconsin benchmark, version 1"),
}
"""By the name of the file."""


def schema_text(name: str) -> str:
    """The schema as it is published. A TOML editor that knows JSON schemas can use that of experiments."""
    published = SCHEMAS[name]
    schema = published.model.model_json_schema(by_alias=True, mode=published.mode)
    schema.pop("title", None)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:tare:{name}",
        "title": published.title,
    }
    return json.dumps({**head, **schema}, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(main({Path("schemas", f"{name}.json"): schema_text(name) for name in SCHEMAS}, sys.argv[1:]))
