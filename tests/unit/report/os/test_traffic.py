"""The report's part on messages: the answer, Table 5 with the paper's values, and what keeps it from being trusted."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import pytest
import vl_convert

from tare.os.level import Level
from tare.os.record import Observation
from tare.report.charts.chart import Chart, NoChart
from tare.report.kit.blocks import Block, Charts, Detail, Paragraph, Table, Tone, WarningBlock, cell
from tare.report.numbers import THIN
from tare.report.os.traffic import traffic_blocks
from tare.report.os.traffic_sends import Places, host_of
from tests.unit.report.os.messages import CLIENT, HOSTS, broadcast, message, observation, unique

POTENTIAL = "Messages that multicast would save at most"
CACHES = "Bytes saved by multicast"
WINDOWS = "Messages saved by multicast within a window"
GAPS = "Time between copies"
KINDS = "Sizes and kinds"
BYTES = "Bytes from each node"
SENDERS = "Messages of each sender"
SIZES = "Messages by size"


def two_queries() -> Observation:
    """q9: two broadcasts to three nodes and two messages of their own; q1: four messages of their own."""
    return observation(
        [("q9", [*broadcast(0, 1), *broadcast(100, 2, size=56), *unique(2)]), ("q1", unique(4))]
    )


def answer(blocks: Sequence[Block]) -> str:
    first = next(block for block in blocks if isinstance(block, Paragraph) and block.tone is Tone.STRONG)
    return first.text


def warnings(blocks: Sequence[Block]) -> dict[str, WarningBlock]:
    return {block.cause: block for block in blocks if isinstance(block, WarningBlock)}


def tables(blocks: Sequence[Block]) -> list[Table]:
    inner = [one for block in blocks if isinstance(block, Detail) for one in block.blocks]
    return [block for block in (*blocks, *inner) if isinstance(block, Table)]


def rows(blocks: Sequence[Block], caption: str) -> list[list[str]]:
    table = next(table for table in tables(blocks) if table.caption.startswith(caption))
    assert all(len(row) == len(table.columns) for row in table.rows)
    return [[cell(value).text for value in row] for row in table.rows]


def charts(blocks: Sequence[Block]) -> list[Chart | NoChart]:
    return [chart for block in blocks if isinstance(block, Charts) for chart in block.draw()]


def svg(chart: Chart) -> str:
    spec: dict[str, Any] = copy.deepcopy(chart.spec)
    return vl_convert.vegalite_to_svg(spec | {"width": 600, "datasets": dict(chart.data)})


# The answer ---------------------------------------------------------------------------
def test_the_answer_sums_up_all_queries_and_names_the_least_and_the_most() -> None:
    assert answer(traffic_blocks(two_queries())) == (
        "Of 12 messages, 33.3% repeat the content of an earlier one to another node; within 0.5 ms: 0%. "
        "By query: from 0% (q1) to 50.0% (q9). Caches at the receivers would save 0%."
    )


def test_six_executions_of_a_query_give_an_interval() -> None:
    executions = [("q9", [*broadcast(0, 1), *unique(own)]) for own in (1, 2, 2, 2, 2, 3)]
    assert answer(traffic_blocks(observation(executions))).startswith(
        "Of 30 messages, 40.0% [33.3, 50.0] repeat the content"
    )


def test_copies_of_different_executions_are_not_copies_of_each_other() -> None:
    again = observation([("q9", unique(3)), ("q9", unique(3))])
    assert "0% repeat" in answer(traffic_blocks(again))
    assert "Caches at the receivers would save 0%" in answer(traffic_blocks(again))


def test_copies_close_in_time_are_saved_within_the_window() -> None:
    blocks = traffic_blocks(observation([("load", broadcast(0, 1, apart_ms=0.2))]))
    assert "66.7% repeat the content of an earlier one to another node; within 0.5 ms: 66.7%" in answer(
        blocks
    )
    assert rows(blocks, WINDOWS) == [["load", "0%", "66.7%", "66.7%", "66.7%", "66.7%", "66.7%", "66.7%"]]


# Tables -------------------------------------------------------------------------------
def test_table_5_has_the_papers_values_beside() -> None:
    assert rows(traffic_blocks(two_queries()), POTENTIAL) == [
        ["q9", "8", "50.0%", "66.7%", "40.0%", "66.8 / 78.5 / 61.1"],
        ["q1", "4", "0%", "–", "0%", "44.7 / 71.4 / 38.7"],
    ]


@pytest.mark.parametrize("name", ["q21", "q0", "load", "quarterly"])
def test_a_query_that_the_paper_does_not_have_stands_alone(name: str) -> None:
    assert rows(traffic_blocks(observation([(name, broadcast(0, 1))])), POTENTIAL) == [
        [name, "3", "66.7%", "–", "66.7%"]
    ]


def test_caches_save_what_multicast_cannot() -> None:
    repeats = [message(at, "worker 1", "worker 2", 7) for at in (500, 600)]
    blocks = traffic_blocks(
        observation([("q9", [*broadcast(0, 7), *repeats, message(700, "worker 1", "worker 2")])])
    )
    assert rows(blocks, CACHES) == [["q9", "33.3%", "–", "33.3%", "33.3%", "66.7%", "16.7%"]]


def test_gaps_are_those_between_copies_and_those_between_messages() -> None:
    [q9, q1] = rows(traffic_blocks(two_queries()), GAPS)
    assert q9[:5] == ["q9", "4", "10.0 ms", "10.0 ms", "10.0 ms"]
    assert q1 == ["q1", "0", "–", "–", "–", "2.00 ms", "0%"]


def test_http_control_is_reported_apart() -> None:
    requests = unique(4, head=b"GET /v1/".hex(), size=200)
    [q9] = rows(traffic_blocks(observation([("q9", [*broadcast(0, 1), *requests, *unique(1)])])), KINDS)
    assert q9 == ["q9", "50.0%", "200 B: 50.0%, 4000 B: 50.0%", "0%", "50.0%", "50.0%"]


def test_bytes_go_from_node_to_node_and_to_hosts_without_a_node() -> None:
    messages = [
        message(0, "worker 1", "worker 2", size=300),
        message(1, "worker 2", "worker 1", size=500),
        message(2, "worker 1", f"{CLIENT}:50000", size=200),
    ]
    blocks = traffic_blocks(observation([("q9", messages)]))
    [table] = [table for table in tables(blocks) if table.caption.startswith(BYTES)]
    assert [column.heading for column in table.columns] == ["sender", "bytes", CLIENT, "worker 1", "worker 2"]
    assert rows(blocks, BYTES) == [
        ["worker 1", "500 B", "20.0%", "–", "30.0%"],
        ["worker 2", "500 B", "–", "50.0%", "–"],
    ]
    assert rows(blocks, SENDERS) == [
        ["q9", "worker 1", "2", "2.00 ms", "50.0%", "–", "50.0%"],
        ["q9", "worker 2", "1", "–", "–", "100.0%", "–"],
    ]


def test_sizes_are_counted_by_power_of_two() -> None:
    sizes = [message(at, "worker 1", "worker 2", size=size) for at, size in enumerate((0, 56, 63, 4096))]
    assert rows(traffic_blocks(observation([("q9", sizes)])), SIZES) == [
        ["q9", "0 B", "1", "25.0%"],
        ["q9", "32 B", "2", "50.0%"],
        ["q9", "4.0 KiB", "1", "25.0%"],
    ]


def test_receivers_beyond_the_columns_are_added_up() -> None:
    many = [message(at, "worker 1", f"10.1.0.{at}:80", size=100) for at in range(10)]
    blocks = traffic_blocks(observation([("q9", [*many, message(10, "worker 1", "10.1.0.3:80", size=100)])]))
    [row] = rows(blocks, SENDERS)
    [table] = [table for table in tables(blocks) if table.caption.startswith(SENDERS)]
    assert (table.columns[4].heading, row[4]) == ("10.1.0.3", "18.2%")
    assert (table.columns[-1].heading, row[-1]) == ("3 others", "27.3%")


# Doubts -------------------------------------------------------------------------------
def test_lost_messages_refuse_the_tables_of_their_query() -> None:
    windows = [("q9", broadcast(0, 1)), ("q1", unique(4))]
    blocks = traffic_blocks(observation(windows, lost={"q9": 1200}))
    warning = warnings(blocks)["messages were lost"]
    assert warning.evidence == (f"q9: 1{THIN}200 of 1{THIN}203 messages found no room in the trace's buffer")
    assert [row[0] for row in rows(blocks, POTENTIAL)] == ["q1"]
    assert traffic_blocks(observation(windows, lost={"q9": 1, "q1": 1}))[1:] == []


def test_encrypted_messages_make_hashes_meaningless() -> None:
    secret = unique(2, head="1703030045aabbcc")
    blocks = traffic_blocks(observation([("q9", [*broadcast(0, 1), *secret]), ("q1", unique(4))]))
    warning = warnings(blocks)["messages are encrypted"]
    assert warning.evidence.startswith("40.0% of the messages of q9 begin as TLS records")
    assert "sslmode=disable" in warning.next_step
    few = [*unique(9), *unique(1, head="1703030045aabbcc")]
    assert not warnings(traffic_blocks(observation([("q9", few)])))


def test_messages_that_were_not_read_whole_are_a_warning() -> None:
    unread = [message(at, "worker 1", "worker 2") for at in range(3)]
    blocks = traffic_blocks(observation([("q9", [*broadcast(0, 1), *unread]), ("q1", unread)]))
    evidence = warnings(blocks)["contents were not read"].evidence
    assert evidence.startswith("up to 100.0% (q1) of the messages of two queries have no hash")


def test_nothing_is_shown_that_was_not_observed() -> None:
    assert traffic_blocks(observation([("q9", [])], level=Level.FULL)) == []
    absent = traffic_blocks(
        observation([("q9", [])], absent={"sockets": "the kernel has no such tracepoint"})
    )
    assert absent == [Paragraph("Messages are not observed: the kernel has no such tracepoint.")]
    assert answer(traffic_blocks(observation([("q9", [])]))) == "No messages were sent between addresses."


# Receivers ----------------------------------------------------------------------------
def test_messages_that_stay_on_their_host_are_in_no_table() -> None:
    local = message(0, "worker 1", f"{HOSTS['worker 1']}:8080", 1)
    assert answer(traffic_blocks(observation([("q9", [local])]))).startswith(
        "No message leaves its host (1 stay)"
    )
    blocks = traffic_blocks(observation([("q9", [local, *broadcast(0, 1)])]))
    assert answer(blocks).startswith("Of 3 messages, 66.7%")
    assert any(
        isinstance(block, Paragraph) and block.text.startswith("Messages that stay on their host: 1.")
        for block in blocks
    )


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("10.0.0.1:80", "10.0.0.1"),
        ("[::1]:80", "::1"),
        ("[::ffff:10.0.0.1]:80", "10.0.0.1"),
    ],
)
def test_an_address_has_its_host_before_the_port(address: str, host: str) -> None:
    assert host_of(address) == host


def test_nodes_that_share_a_host_are_told_apart_by_port() -> None:
    def between(node: str, sender: int, receiver: int) -> Any:
        return message(0, "worker 1", f"127.0.0.1:{receiver}").model_copy(
            update={"node": node, "sender": f"127.0.0.1:{sender}"}
        )

    sent = [between("a", 40000, 5433), between("b", 5433, 40000), between("a", 5432, 41000)]
    places = Places(sent)
    assert [places.receiver(one) for one in sent[:2]] == ["b", "a"]
    assert places.receiver(between("b", 5433, 5433)) is None, "to itself"
    assert places.receiver(sent[2]) is None, "to a program that is no node"


def test_a_loopback_address_in_several_namespaces_is_each_nodes_own() -> None:
    def inside(node: str, sender: int, receiver: int) -> Any:
        return message(0, "worker 1", f"127.0.0.1:{receiver}").model_copy(
            update={"node": node, "sender": f"127.0.0.1:{sender}"}
        )

    sent = [
        inside("a", 5432, 40000),
        inside("a", 40000, 5432),
        inside("b", 5432, 50000),
        inside("b", 50000, 5432),
    ]
    places = Places(sent)
    assert [places.receiver(one) for one in sent] == [None] * 4


# Charts -------------------------------------------------------------------------------
def test_every_chart_can_be_drawn() -> None:
    drawn = charts(traffic_blocks(two_queries()))
    assert [chart.name for chart in drawn if isinstance(chart, Chart)] == [
        "message-windows",
        "message-copies",
        "message-sizes",
        "message-gaps",
        "message-destinations",
    ]
    for chart in drawn:
        assert isinstance(chart, Chart)
        assert "<path" in svg(chart)


def test_a_chart_without_data_says_why() -> None:
    [_, copies, *_] = charts(traffic_blocks(observation([("q1", unique(4))])))
    assert copies == NoChart(
        "Time between equal messages to different receivers", "there are no such messages", "messages"
    )


def test_the_curve_shows_the_queries_that_save_most() -> None:
    windows = [(f"q{number}", [*broadcast(0, 1), *unique(number)]) for number in range(1, 12)]
    curve = charts(traffic_blocks(observation(windows)))[0]
    assert isinstance(curve, Chart)
    assert {row["query"] for row in curve.data["message-windows"]} == {f"q{number}" for number in range(1, 9)}
    assert "the 8 queries with the largest bound" in curve.caption
