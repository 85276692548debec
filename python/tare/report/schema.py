"""Published JSON schemas of documents and specifications: `python -m tare.report.schema [--check] [FOLDER]`."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from tare.experiment.specification import Specification
from tare.files import write
from tare.report.cluster.document import SpeedupReport
from tare.report.experiment.document import Report
from tare.report.oltp.curve.document import CurveReport
from tare.report.oltp.document import OltpReport
from tare.report.os.document import OsReport
from tare.report.profile.document import ProfileReport
from tare.report.result import RunResult
from tare.report.tune.document import TuningReport
from tare.report.two_results.document import ResultsComparison
from tare.report.wisconsin.document import WisconsinReport
from tare.tune.specification import TuneSpecification


@dataclass(frozen=True, slots=True)
class Schema:
    """Model behind a published schema. What Tare reads is described as it is validated."""

    model: type[BaseModel]
    title: str
    mode: Literal["validation", "serialization"] = "serialization"


SCHEMAS = {
    "result-v1": Schema(RunResult, "Tare result, version 1"),
    "comparison-v1": Schema(ResultsComparison, "Comparison of two Tare results, version 1"),
    "experiment-v1": Schema(Specification, "Tare experiment, version 1", "validation"),
    "report-v1": Schema(Report, "Tare report of an experiment, version 1"),
    "wisconsin-v1": Schema(WisconsinReport, "Tare report of the Wisconsin benchmark, version 1"),
    "oltp-v1": Schema(OltpReport, "Tare report of a transactional run, version 1"),
    "oltp-curve-v1": Schema(CurveReport, "Tare report of a curve of latency over rate, version 1"),
    "os-v1": Schema(OsReport, "Tare report of an observation, version 1"),
    "speedup-v1": Schema(SpeedupReport, "Tare report of a speed-up, version 1"),
    "profile-v1": Schema(ProfileReport, "Tare report of a profile, version 1"),
    "tune-v1": Schema(TuningReport, "Tare report of a tuning run, version 1"),
    "tune-spec-v1": Schema(TuneSpecification, "Specification of a tuning run, version 1", "validation"),
}
"""By the name of the file in `schemas`."""


def schema_text(name: str) -> str:
    """Return the schema of this name as it is published."""
    published = SCHEMAS[name]
    schema = published.model.model_json_schema(by_alias=True, mode=published.mode)
    schema.pop("title", None)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:tare:{name}",
        "title": published.title,
    }
    return json.dumps({**head, **schema}, indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    """Write the schemas, or compare them with their files. Return 1 if `--check` finds a file that differs."""
    parser = argparse.ArgumentParser(
        description="Write the published schemas, or compare them with their files."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a file differs")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("schemas"), help="default: %(default)s")
    given = parser.parse_args(arguments)
    code = 0
    for name in SCHEMAS:
        file: Path = given.folder / f"{name}.json"
        text = schema_text(name)
        if not given.check:
            file.parent.mkdir(parents=True, exist_ok=True)
            write(file, text)
        elif not file.is_file() or file.read_text() != text:
            print(f"{file} is not the schema that the models have: write it again", file=sys.stderr)
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
