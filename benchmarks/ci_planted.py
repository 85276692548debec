"""Defects planted in a copy of the tree: the test run is red for each, and its last 20 lines name the test.

Each defect is one edit of the product, or a tool that is taken off the PATH, in a copy of its own in a temporary
folder, whose own test run (`python -m tests.ci STAGE --only TESTS`) judges it by the real stages and their summary. The
same selections are run in a copy without a defect first, and must not fail.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.common import Figure, arguments, report

ROOT = Path(__file__).parents[1]
LIMIT_S = 600.0
GRACE_S = 60.0
"""Time for the test run to stop its servers after an interrupt."""

LAST_LINES = 20
"""Lines at the end of a test run's output that say what failed."""

HANG_LIMIT_S = 5
"""Limit of a test in the trial of a hang, in place of the 180 s of `pyproject.toml`."""


@dataclass(frozen=True)
class Edit:
    """Text of a file, which it contains once, and the text in its place."""

    path: str
    old: str
    new: str

    def apply(self, tree: Path) -> None:
        """Edit the file. Raises SystemExit if the text is not there exactly once."""
        file = tree / self.path
        text = file.read_text()
        if (count := text.count(self.old)) != 1:
            raise SystemExit(
                f"the plant no longer fits: {self.path} contains {self.old!r} {count} times, not once"
            )
        file.write_text(text.replace(self.old, self.new))


@dataclass(frozen=True)
class Defect:
    """Planted defect. `test`: beginning of the name of the test that fails; `error`: text in its first error line."""

    name: str
    stage: str
    only: str
    test: str
    edit: Edit | None = None
    error: str = ""
    missing: str = ""
    """Tool that the PATH of the trial lacks."""
    environment: Mapping[str, str] = field(default_factory=dict)


RECURSION = "tests/unit/protocol/profile/test_recursion.py::test_mutual_recursion_is_one_path_with_its_depth"

DEFECTS = (
    Defect(
        "a wrong constant in a protocol",
        "exact",
        "tests/golden/test_ttp2_running_example.py",
        "tests/golden/test_ttp2_running_example.py::test_table_xv_each_execution_has_its_calculated_time",
        Edit(
            "python/tare/protocol/ttp2/equations.py",
            "return block_io_query - 0.5 * iowait",
            "return block_io_query - 0.25 * iowait",
        ),
    ),
    Defect(
        "an unclosed session",
        "servers",
        "tests/dbms/test_sessions_end.py",
        "tests/dbms/test_sessions_end.py::test_a_rig_that_is_closed_has_no_session",
        Edit(
            "python/tare/measure/rig.py", "                self._session.close()\n", "                pass\n"
        ),
    ),
    Defect(
        "a setting not put back",
        "paired",
        "tests/tune/test_journal.py::test_a_block_puts_back_what_it_changed_and_leaves_no_journal",
        "tests/tune/test_journal.py::test_a_block_puts_back_what_it_changed_and_leaves_no_journal",
        Edit("python/tare/tune/journal.py", "                _put_back(self._server, self._kept)\n", ""),
    ),
    Defect(
        "a lost lab row",
        "servers",
        "tests/unit/lab/test_recorder.py::test_a_qe_recorded_again_is_the_same_qe",
        "tests/unit/lab/test_recorder.py::test_a_qe_recorded_again_is_the_same_qe",
        Edit(
            "python/tare/lab/recorder.py",
            "rows.process_rows(qe_, self._dbms_of(connection, qatc_id))",
            "rows.process_rows(qe_, self._dbms_of(connection, qatc_id))[:-1]",
        ),
    ),
    Defect(
        "a wrong exit code",
        "servers",
        "tests/cli/test_bad_input.py::test_no_query",
        "tests/cli/test_bad_input.py::test_no_query",
        Edit("python/tare/errors.py", "    exit_code = 2\n", "    exit_code = 1\n"),
    ),
    Defect(
        "a hang",
        "exact",
        RECURSION,
        "tests/unit/protocol/profile/test_recursion.py",
        Edit(
            "python/tare/protocol/profile/recursion.py",
            "            place = self.paths[place].parent\n",
            "",
        ),
        error="Timeout",
        environment={"PYTEST_TIMEOUT": str(HANG_LIMIT_S)},
    ),
    Defect(
        "a probe left behind",
        "servers",
        "tests/unit/profile/test_session.py",
        "tests/unit/profile/test_session.py::",
        Edit("python/tare/profile/session.py", "self._recording.recorder.stop()", "pass"),
    ),
    Defect(
        "a secret printed",
        "exact",
        "tests/unit/dbms/test_secrets.py",
        "tests/unit/dbms/test_secrets.py::test_no_shell_command_shows_a_password",
        Edit(
            "python/tare/dbms/redaction.py",
            "            shown.append(HIDDEN)\n",
            "            shown.append(word)\n",
        ),
    ),
    Defect(
        "a Rust panic",
        "rust",
        "crates/tare-rings",
        "tare-rings record::tests::",
        Edit(
            "crates/tare-rings/src/record.rs",
            "bytes[..part.len()].copy_from_slice(part);",
            "bytes[..8].copy_from_slice(part);",
        ),
    ),
    Defect(
        "a wrong share",
        "exact",
        "tests/unit/protocol/profile/test_variance_tree.py",
        "tests/unit/protocol/profile/test_variance_tree.py::",
        Edit(
            "python/tare/protocol/profile/analyse.py",
            "shares = 2 * covariances / self.found.total",
            "shares = covariances / self.found.total",
        ),
    ),
    Defect(
        "an off-by-one in a schema",
        "servers",
        "tests/unit/experiment/test_schema.py",
        "tests/unit/experiment/test_schema.py::test_the_published_schema_is_up_to_date",
        Edit(
            "python/tare/experiment/specification.py",
            "qes: int = Field(default=10, ge=1, le=10_000",
            "qes: int = Field(default=10, ge=0, le=10_000",
        ),
    ),
    Defect(
        "a missing tool",
        "servers",
        "tests/unit/profile/test_functions.py",
        "tests/unit/profile/test_functions.py::test_a_library_that_is_loaded_later_is_found_then",
        error="where CI must have what the test needs",
        missing="gcc",
    ),
)


@dataclass(frozen=True)
class Trial:
    """Outcome of one test run of a copy."""

    code: int | None  # None: it did not end within its limit
    last: tuple[str, ...]
    failures: Mapping[str, str]  # first error line by test
    seconds: float

    @property
    def is_red(self) -> bool:
        return self.code is not None and self.code != 0 and any("CI: RED." in line for line in self.last)

    def names(self, defect: Defect) -> bool:
        """Whether the last lines have the test that ought to fail, with the first line of its error."""
        return any(
            defect.error in error and _shown(f"FAILED {test}: ", error, self.last)
            for test, error in self.failures.items()
            if test.startswith(defect.test) and error not in ("", "no message")
        )


def _shown(head: str, error: str, lines: Iterable[str]) -> bool:
    """Whether one of the lines is the head with the error, or with what of it there is room for."""
    return any(len(line) > len(head) and (head + error).startswith(line) for line in lines)


def copied(folder: Path, name: str) -> Path:
    """Copy what git tracks, as it is in the working tree, and the compiled parts. Times of files are those of the copy,
    so that cargo and Python see each edit."""
    tree = folder / name
    listed = subprocess.run(
        ("git", "ls-files", "-z"), cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    tracked = [path for path in listed.stdout.split("\0") if path and (ROOT / path).is_file()]
    built = [str(path.relative_to(ROOT)) for path in (ROOT / "python" / "tare").glob("*.so")]
    for path in (*tracked, *built):
        target = tree / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target)
        target.chmod((ROOT / path).stat().st_mode)
    return tree


def path_without(tool: str, folder: Path) -> str:
    """Return a PATH with all programs of this one except `tool`."""
    programs = folder / f"without-{tool}"
    programs.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).iterdir() if place and Path(place).is_dir() else ():
            link = programs / program.name
            if program.name != tool and not link.is_symlink():
                link.symlink_to(program)
    return str(programs)


def judged(tree: Path, stages: Iterable[str], only: Iterable[str], **more: str) -> Trial:
    """Run these tests of a copy by its own test run."""
    apart = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TARE_"))}
    environment = {
        **apart,
        "CI": "true",  # a skipped test is then an error
        "CARGO_TARGET_DIR": str(tree.parent / "cargo"),  # the project's own would keep a planted build
        "PYTHONPATH": str(tree / "python"),
        **more,
    }
    began = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", "tests.ci", *stages, "--only", *only],
        cwd=tree,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        code: int | None = None
        try:
            output, _ = process.communicate(timeout=LIMIT_S)
            code = process.returncode
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            try:
                output, _ = process.communicate(timeout=GRACE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                output, _ = process.communicate()
    summary = tree / "target" / "ci" / "summary.json"
    found = json.loads(summary.read_text())["failures"] if summary.exists() else []
    last = tuple(output.rstrip("\n").splitlines()[-LAST_LINES:])
    return Trial(code, last, {one["test"]: one["error"] for one in found}, time.monotonic() - began)


def sound(folder: Path, defects: Sequence[Defect]) -> Trial:
    """Run the same selections in a copy without a defect."""
    tree = copied(folder, "sound")
    return judged(
        tree, dict.fromkeys(one.stage for one in defects), dict.fromkeys(one.only for one in defects)
    )


def trial(folder: Path, number: int, defect: Defect) -> Trial:
    tree = copied(folder, f"planted-{number}")
    try:
        if defect.edit is not None:
            defect.edit.apply(tree)
        more = dict(defect.environment)
        if defect.missing:
            more["PATH"] = path_without(defect.missing, tree.parent)
        return judged(tree, [defect.stage], [defect.only], **more)
    finally:
        shutil.rmtree(tree, ignore_errors=True)


def main() -> int:
    asked = arguments(__doc__ or "")
    defects = tuple(one for one in DEFECTS if one.stage == "exact") if asked.small else DEFECTS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # root's servers run as an ordinary user
        clean = sound(folder, defects)
        print(f"without a defect: {'green' if clean.code == 0 else 'RED'}, {clean.seconds:.0f} s", flush=True)
        if clean.code != 0:
            print("\n".join(clean.last))
        red = named = 0
        for number, defect in enumerate(defects, 1):
            found = trial(folder, number, defect)
            is_named = found.names(defect)
            red += found.is_red
            named += found.is_red and is_named
            outcome = f"{'red' if found.is_red else 'NOT RED'}, {'named' if is_named else 'NOT NAMED'}"
            print(f"{defect.name}: {outcome}, {found.seconds:.0f} s", flush=True)
            if not (found.is_red and is_named):
                print("\n".join(found.last))
    count = len(defects)
    report(
        [
            Figure("test runs without a defect that failed", int(clean.code != 0), "runs", 0),
            Figure("planted defects for which the test run is red", red, "defects", count, at_most=False),
            Figure("planted defects that the last 20 lines name", named, "defects", count, at_most=False),
        ],
        asked.json,
    )
    return int(clean.code != 0 or named < count)


if __name__ == "__main__":
    sys.exit(main())
