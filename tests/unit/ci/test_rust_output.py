"""Tests of crates, read from what `cargo test` prints."""

from __future__ import annotations

from tests.ci import rust
from tests.ci.stages import ROOT
from tests.ci.verdict import read

OUTPUT = """\
     Running unittests src/lib.rs (target/release/deps/tare_load-0f1e2d)

running 4 tests
test oltp::driver::tests::late_arrivals ... FAILED
test oltp::mix::adds_up ... ok
test a_panic - should panic ... ok
test later ... ignored, needs a server

failures:

---- oltp::driver::tests::late_arrivals stdout ----

thread 'oltp::driver::tests::late_arrivals' (77) panicked at crates/tare-load/src/oltp/driver/tests.rs:61:5:
assertion `left == right` failed

failures:
    oltp::driver::tests::late_arrivals

     Running tests/stops.rs (target/release/deps/stops-abc)
test the_agent_stops ... FAILED
   Doc-tests tare_load
test crates/tare-load/src/lib.rs - (line 3) ... ok
"""


def test_each_test_counts_with_its_crate_and_a_failure_has_its_message() -> None:
    tests = read(rust.read(OUTPUT))
    assert tests.counts == {"failed": 2, "passed": 3, "skipped": 1}
    assert [(one.test, one.error, one.may_try_again) for one in tests.failures] == [
        ("tare-load oltp::driver::tests::late_arrivals", "assertion `left == right` failed", True),
        ("stops the_agent_stops", "no message", False),
    ]


def test_a_failed_test_is_repeated_by_its_binary_in_its_package() -> None:
    failed = [line for line in rust.read(OUTPUT) if line["outcome"] == "failed"]
    script = rust.again(1, failed).command[-1]
    assert f"cd {ROOT}/crates/tare-load && {ROOT}/target/release/deps/tare_load-0f1e2d --exact" in script
    assert (
        f"cd {ROOT}/crates/tare-agent && {ROOT}/target/release/deps/stops-abc --exact the_agent_stops"
        in script
    )


def test_tests_that_may_be_tried_again_only_become_fewer() -> None:
    assert len(rust.UNSTEADY) <= 3
