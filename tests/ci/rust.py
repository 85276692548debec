"""Results of `cargo test` from what it prints, and the repetition of single tests by their binaries."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.ci.stages import ROOT, Stage
from tests.ci.verdict import Line

UNSTEADY = {
    "tells ": "a record that arrives within 50 ms",
    "tare-load oltp::driver::tests::": "arrivals that start within milliseconds of a schedule",
    "tare-profile attach::tests::": "a program that is watched for a few hundred milliseconds",
}
"""Rust tests whose outcome still depends on scheduling, by the beginning of their names. This list may only shrink."""

_BINARY = re.compile(r"^\s*Running (?:unittests )?(?P<source>\S+) \((?P<path>\S+)\)$")
_DOCS = re.compile(r"^\s*Doc-tests (?P<crate>\S+)$")
_TEST = re.compile(r"^test (?P<name>\S.*?)(?: - should panic)? \.\.\. (?P<outcome>ok|FAILED|ignored)")
_OUTPUT = re.compile(r"^---- (?P<name>\S.*?) stdout ----$")
_OUTCOMES = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}


def read(text: str) -> Iterator[Line]:
    """Return a journal line for each test in the output, named after its crate or its file, and its own name."""
    binary, source = "", ""
    failed: dict[str, Line] = {}
    errors: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        if running := _BINARY.match(line):
            binary, source = running["path"], running["source"]
        elif docs := _DOCS.match(line):
            binary, source = docs["crate"], ""
        elif test := _TEST.match(line):
            name = f"{_short(binary)} {test['name']}"
            report: Line = {
                "id": name,
                "when": "call",
                "class": "rust",
                "outcome": _OUTCOMES[test["outcome"]],
            }
            if report["outcome"] == "failed":
                is_unsteady = any(name.startswith(beginning) for beginning in UNSTEADY)
                folder = str(_folder(binary, source))
                facts = {"clock": is_unsteady, "noise": is_unsteady, "binary": binary, "folder": folder}
                failed[name] = {**report, **facts, "name": test["name"]}
            else:
                yield {**report, "reason": "ignored in Rust"}
        elif output := _OUTPUT.match(line):
            errors[f"{_short(binary)} {output['name']}"] = _message(lines)
    for name, report in failed.items():
        yield {**report, "error": errors.get(name, "no message")[:200]}


def again(number: int, failed: Sequence[Line]) -> Stage:
    """Return a stage that runs these failed tests again, one at a time."""
    commands = [
        f"echo '     Running {one['name']} ({one['binary']})'; (cd {shlex.quote(one['folder'])} && "
        f"{shlex.quote(str(ROOT / one['binary']))} --exact {shlex.quote(one['name'])} --test-threads 1) || code=1"
        for one in failed
    ]
    return Stage(f"rust-again-{number}", ("bash", "-c", f"code=0; {'; '.join(commands)}; exit $code"), 300)


def _short(binary: str) -> str:
    """Return the crate or the test file of a binary: `target/release/deps/tare_load-0123` is `tare-load`."""
    return Path(binary).name.rsplit("-", 1)[0].replace("_", "-")


def _folder(binary: str, source: str) -> Path:
    """Return the package's folder, in which cargo runs its tests."""
    of_crate = ROOT / "crates" / _short(binary)
    if source.startswith("src/") and of_crate.is_dir():
        return of_crate
    return next(
        (found.parents[len(Path(source).parts) - 1] for found in ROOT.glob(f"crates/*/{source}")), ROOT
    )


def _message(lines: Iterator[str]) -> str:
    """Return what a test reports first, without the place of the panic."""
    reported = (line.strip() for line in lines if line.strip() and not line.startswith("thread "))
    return next(reported, "no message")
