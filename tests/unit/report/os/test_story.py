"""The story: what stands first, what is refused or absent, and that each form can be written."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from tare.os.level import Level
from tare.os.record import Kept, Message, Observation, Times, Window
from tare.report.kit import markdown, page, terminal
from tare.report.kit.blocks import Paragraph, Story, Tone, Verdict
from tare.report.os.build import build_report
from tare.report.os.charts import request_charts, resource_charts
from tare.report.os.story import story
from tests.unit.report.os.sample import MS, back_end, observation, times, untraced, window, worker

PROC = window(
    is_traced=False,
    io_busy_ns=None,
    io_on_cpu_ns=None,
    write_back=None,
    roles=(
        back_end(
            times=Times(
                present_ns=1000 * MS, on_cpu_ns=300 * MS, run_queue_ns=40 * MS, sleep_ns=None,
                block_io_ns=None, other_wait_ns=None, system_ns=100 * MS,
            ),
            kept=Kept(run_ns=300 * MS, read_chars=None, write_chars=None, read_bytes=None, write_bytes=None),
            calls=None, cache=None, disk=None, sockets=None,
        ),
    ),
)  # fmt: skip


def told(given: Observation) -> Story:
    return story(build_report(given, "0.1.0", "2026-11-29T13:00:00+00:00"))


def shown(given: Observation) -> str:
    """Everything that a terminal shows, on one line."""
    return " ".join(terminal.render(told(given), 80).split())


def answer(given: Observation) -> Verdict:
    first = told(given).blocks[0]
    assert isinstance(first, Verdict)
    return first


def many(count: int) -> list[Window]:
    return [window(f"q{number}", packets_in=None) for number in range(1, count + 1)]


# The answer ------------------------------------------------------------------------------
def test_one_query_is_answered_in_one_sentence() -> None:
    found = answer(observation())
    assert found.tone is Tone.GOOD
    assert found.text == (
        "q6 waits for the disk: 46% of 1\u202f000 ms (back end: disk); read calls are 27% of its CPU time."
    )


def test_several_queries_are_named_by_bottleneck() -> None:
    computing = window("q1", roles=(back_end(node="n1", times=times(900, 50, 10, 20, 20)), worker(node="n2")))
    given = observation(window(), window("q7"), computing)
    assert answer(given).text == "Bottlenecks: user CPU (q1), disk (q6 and q7)."
    assert "q1 computes: 90% of 1 000 ms (n1 back end: user CPU)." in shown(given)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (times(100, 600, 0, 100, 200), "q6 works in the kernel: 60%"),
        (times(600, None, 0, 100, 300), "q6 is on a CPU: 60%"),
        (times(100, 100, 600, 100, 100), "q6 waits for a CPU: 60%"),
        (times(100, 100, 0, 100, 700), "q6 waits for others: 70%"),
    ],
)
def test_each_bottleneck_has_its_words(parts: Times, text: str) -> None:
    assert answer(observation(window(roles=(back_end(times=parts),)))).text.startswith(text)


def test_without_executions_or_roles_the_answer_is_that_there_is_none() -> None:
    nothing = observation().model_copy(update={"windows": (), "failures": {"q20": "time limit of 60 s"}})
    assert (answer(nothing).text, answer(nothing).tone) == ("No execution was observed.", Tone.BAD)
    assert "q20 time limit of 60 s" in shown(nothing)
    assert answer(observation(window(lost={"threads": 1}))).text.startswith("No bottleneck is known")


def test_the_overhead_follows_the_answer() -> None:
    pairs = [one for k in range(3) for one in (window(number=k, wall=1100), untraced(number=k))]
    assert "wall time 1.100 [1.100, 1.100]" in shown(observation(*pairs))
    wide = [window(number=0), untraced(number=0, wall=500), window(number=1), untraced(number=1, wall=2000)]
    assert "wall time not measurable here (" in shown(observation(*wide))
    assert "there are no untraced windows" in shown(observation(window("load")))


# What is refused or absent ---------------------------------------------------------------
@pytest.mark.parametrize(
    ("part", "gone", "stays"),
    [
        ("calls", "Table 2: CPU time", "Table 3"),
        ("disk", "Block requests of an execution", "Table 3"),
        ("cache", "Table 3: pages", "Table 2"),
        ("sockets", "Calls on sockets", "Table 2"),
        ("threads", "shares are of the time present", "Conditions"),
    ],
)
def test_a_table_with_lost_events_is_replaced_by_a_warning(part: str, gone: str, stays: str) -> None:
    text = shown(observation(window(lost={part: 1234})))
    assert gone not in text
    assert f"events of {part} that found no room, by query: q6 1 234" in text
    assert stays in text


def test_only_the_query_that_lost_events_is_left_out() -> None:
    text = shown(observation(window("q1"), window("q6", lost={"calls": 5})))
    assert "Table 2: left out where events were lost" in text
    assert "q1 8.0% 10%" in text
    assert "q6 8.0%" not in text


def test_requests_that_are_in_no_count_are_named() -> None:
    disk = back_end().disk
    assert disk is not None
    role = back_end(disk=disk.model_copy(update={"outstanding": 3}))
    assert "three block requests still outstanding 1 s after the window" in shown(
        observation(window(roles=(role,)))
    )


def test_level_proc_shows_times_and_names_what_a_deeper_level_needs() -> None:
    given = observation(PROC, level=Level.PROC, lacks="CAP_BPF and CAP_PERFMON", absent={"calls": "no BPF"})
    text = shown(given)
    assert "q6 waits, for the disk or for others: 66% of 1 000 ms" in text
    assert "nothing is traced at level proc" in text
    assert "A deeper level needs: CAP_BPF and CAP_PERFMON." in text
    assert "calls no BPF" in text
    assert "Table 2" not in text


def test_counts_that_are_all_0_are_named_as_such() -> None:
    text = shown(observation(window(roles=(worker(),), write_back=None), cold=False))
    assert "No page was read through the page cache." in text
    assert "No block request was completed." in text
    assert "No socket was used." in text


def test_checks_that_differ_are_shown_with_the_likely_reason() -> None:
    role = back_end(kept=back_end().kept.model_copy(update={"read_bytes": 50 * 2**20}))
    given = observation(window(roles=(role,)))
    assert answer(given).tone is Tone.CAUTION
    text = shown(given)
    assert "4 within 1%, 1 not within 1% and 1 too small to judge" in text
    assert "block requests and read_bytes can differ by:" in text


def test_an_observation_that_was_stopped_is_marked() -> None:
    assert "stopped before its end one window had been completed" in shown(observation(is_stopped=True))


def test_messages_are_told_by_their_own_module(monkeypatch: pytest.MonkeyPatch) -> None:
    traffic = ModuleType("traffic")
    traffic.traffic_blocks = lambda given: [Paragraph(f"{len(given.windows)} window")]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tare.report.os.traffic", traffic)
    message = Message(
        at_ns=0, node="", role="back end", sender="10.0.0.1:1", receiver="10.0.0.2:2", bytes=9, hash=1, head=""
    )  # fmt: skip
    assert "1 window" in shown(observation(window(messages=(message,))))
    assert "1 window" not in shown(observation())
    refused = shown(observation(window(messages=(message,), lost={"messages": 2})))
    assert "1 window" not in refused
    assert "messages, Table 5, Figures 4 and 5: left out" in refused


# Forms -----------------------------------------------------------------------------------
OBSERVATIONS = {
    "one": observation(),
    "many": observation(*many(22)),
    "proc": observation(PROC, level=Level.PROC),
    "lost": observation(window(lost={"threads": 1, "disk": 2})),
    "nothing": observation().model_copy(update={"windows": ()}),
}


@pytest.mark.parametrize("given", OBSERVATIONS.values(), ids=OBSERVATIONS.keys())
def test_each_form_is_written(given: Observation) -> None:
    blocks = told(given)
    lines = terminal.render(blocks, 80).splitlines()
    assert max(map(len, lines)) <= 80
    assert markdown.render(blocks).startswith("# System calls, page cache, disk and sockets: PostgreSQL 18.4")
    assert "</html>" in page.render(blocks)


def test_a_terminal_leaves_the_calls_of_many_queries_to_files() -> None:
    given = observation(*many(4))
    assert "Calls of an execution" not in shown(given)
    assert "Calls of an execution" in markdown.render(told(given))


def test_charts_share_out_the_time_and_count_reads_by_size_and_gap() -> None:
    report = build_report(observation(), "0.1.0", "")
    (resources,) = resource_charts(report)
    shares = {row["resource"]: row["share"] for row in resources.data["os-resources"]}  # type: ignore[union-attr]
    assert shares == {
        "user CPU": 0.2, "system CPU": 0.1, "run queue": 0.04, "disk": 0.46, "sleep": 0.2,
    }  # fmt: skip
    sizes, gaps = request_charts(report)
    found = [(row["bin"], row["count"]) for row in sizes.data["os-sizes"]]  # type: ignore[union-attr]
    assert found == [("4.0 KiB", 20), ("512 KiB", 180)]
    assert [row["bin"] for row in gaps.data["os-gaps"]] == ["0 ms", "2.05 ms"]  # type: ignore[union-attr]
