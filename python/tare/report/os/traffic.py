"""Messages between nodes in the report: what multicast would save, within which time, and how messages are sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from tare.os.record import Observation
from tare.protocol.traffic import MOST_ENCRYPTED, WINDOWS_MS, Count, Potential, counted, traffic_matrix
from tare.report.charts.chart import Chart, NoChart
from tare.report.kit.blocks import Block, Charts, Detail, Paragraph, Tone, WarningBlock
from tare.report.numbers import thousands
from tare.report.os import traffic_charts
from tare.report.os.traffic_potential import (
    PAPER_HEADING,
    QueryPotential,
    cache_table,
    multicast,
    percent_text,
    potential_table,
    share_cell,
    share_of,
    window_table,
)
from tare.report.os.traffic_sends import Places, QueryTraffic, places_of, query_traffic
from tare.report.os.traffic_tables import (
    byte_table,
    encrypted,
    gap_table,
    kind_table,
    query_copy_gaps,
    query_injection_gaps,
    sender_table,
    size_table,
)
from tare.report.words import counted as number_of
from tare.report.words import joined

MOST_UNHASHED = 0.1
"""Share of messages without a hash above which the report warns that savings are underestimated."""

ANSWER_WINDOW_MS = 0.5
"""Window of the paper's own statements."""

READING = (
    "Two messages of one node have the same content if their lengths and hashes are equal. Multicast carries a content "
    "to several receivers at once, to each of them once; the table shows the most that it can save, with unlimited "
    "time. Messages without a hash count as messages and are never saved. Values are medians over executions, in "
    "brackets 95% intervals where there are six or more."
)
PAPER_READING = (
    "Paper: Zhang et al., Characterizing TPC-H on a Clustered Database Engine from the OS Perspective, Table 5: all, "
    "small and large messages on eight nodes. A content that goes to k receivers saves (k - 1) / k of its messages: "
    "the number of nodes sets the limit."
)
CACHE_READING = (
    "A cache at a receiver saves each message whose content the same node has sent to it before, at whatever distance "
    "in time. Multicast needs the copies close together; a cache does not."
)


def traffic_blocks(observation: Observation) -> list[Block]:
    """Return the report's part on messages. Empty if the observation did not request them."""
    if not observation.level.has_messages:
        return []
    for part in ("messages", "sockets"):
        if part in observation.absent:
            return [Paragraph(f"Messages are not observed: {observation.absent[part]}.")]
    places = places_of(observation)
    queries = query_traffic(observation, places)
    whole = [query for query in queries if not query.lost]
    return [*_losses(queries), *(_blocks(whole, places) if whole else [])]


def _losses(queries: Sequence[QueryTraffic]) -> Iterator[Block]:
    lossy = [query for query in queries if query.lost]
    if lossy:
        yield WarningBlock(
            "messages were lost",
            "; ".join(
                f"{query.name}: {thousands(query.lost)} of "
                f"{thousands(query.lost + counted(query.sends).messages + query.within.messages)} messages found no "
                "room in the trace's buffer"
                for query in lossy
            ),
            f"there is no table of messages for {joined([query.name for query in lossy])}: a lost message may be a "
            "copy; run again with fewer programs beside it, or observe fewer nodes",
        )


def _blocks(queries: Sequence[QueryTraffic], places: Places) -> Iterator[Block]:
    within = sum((query.within for query in queries), Count())
    if not any(query.sends for query in queries):
        yield Paragraph(
            f"No message leaves its host ({thousands(within.messages)} stay): multicast has nothing to save."
            if within.messages
            else "No messages were sent between addresses.",
            Tone.STRONG,
        )
        return
    potentials = [QueryPotential(query) for query in queries]
    yield Paragraph(answer(potentials), Tone.STRONG)
    if within.messages:
        yield Paragraph(
            f"Messages that stay on their host: {thousands(within.messages)}. They are in no table.",
            Tone.QUIET,
        )
    yield from _doubts(queries, potentials)
    table = potential_table(potentials)
    yield table
    yield Paragraph(READING, Tone.QUIET)
    if any(column.heading == PAPER_HEADING for column in table.columns):
        yield Paragraph(PAPER_READING, Tone.QUIET)
    yield Charts(partial(_window_charts, queries, potentials))
    yield window_table(potentials)
    yield cache_table(potentials)
    yield Paragraph(CACHE_READING, Tone.QUIET)
    yield gap_table(queries)
    yield kind_table(queries)
    yield byte_table(queries, places)
    yield Charts(partial(_sending_charts, queries, places))
    yield Detail("Senders and sizes by query", [sender_table(queries, places), size_table(queries)])


def answer(queries: Sequence[QueryPotential]) -> str:
    """Return the main result in a sentence or two."""
    total = sum((query.total for query in queries), Potential())
    window = WINDOWS_MS.index(ANSWER_WINDOW_MS)
    within = sum((query.curve[window] for query in queries), Count())
    if len(queries) == 1:
        saved = share_cell(queries[0].all, multicast).text
    else:
        saved = percent_text(share_of(total.multicast, total.total))
    text = (
        f"Of {thousands(total.total.messages)} messages, {saved} repeat the content of an earlier one to another node; "
        f"within {ANSWER_WINDOW_MS:g} ms: {percent_text(share_of(within, total.total))}."
    )
    sending = sorted(
        (query for query in queries if query.total.total.messages), key=lambda query: query.share
    )
    if len(sending) > 1:
        ends = (f"{percent_text(query.share)} ({query.name})" for query in (sending[0], sending[-1]))
        text += f" By query: from {' to '.join(ends)}."
    cached = percent_text(share_of(total.cache, total.total))
    return f"{text} Caches at the receivers would save {cached}."


def _doubts(queries: Sequence[QueryTraffic], potentials: Sequence[QueryPotential]) -> Iterator[Block]:
    tls = {query.name: share_of(encrypted(query.sends), counted(query.sends)) for query in queries}
    if secret := {name: share for name, share in tls.items() if share > MOST_ENCRYPTED}:
        yield WarningBlock(
            "messages are encrypted",
            f"{_shares(secret)} begin as TLS records; equal contents have different hashes there, so "
            "the savings mean nothing",
            "switch encryption between the nodes off for this observation (PostgreSQL: sslmode=disable; Citus: "
            "citus.node_conninfo = 'sslmode=disable'; Trino: internal-communication.https.required=false), or keep "
            "other programs out of the nodes",
        )
    unread = {query.name: share_of(query.total.unhashed, query.total.total) for query in potentials}
    if unread := {name: share for name, share in unread.items() if share > MOST_UNHASHED}:
        yield WarningBlock(
            "contents were not read",
            f"{_shares(unread)} have no hash, since they were not read whole",
            "read the savings as lower bounds",
        )


def _shares(shares: dict[str, float]) -> str:
    worst = max(shares, key=lambda name: shares[name])
    if len(shares) == 1:
        return f"{percent_text(shares[worst])} of the messages of {worst}"
    queries = number_of(len(shares), "query", "queries")
    return f"up to {percent_text(shares[worst])} ({worst}) of the messages of {queries}"


def _window_charts(
    queries: Sequence[QueryTraffic], potentials: Sequence[QueryPotential]
) -> Sequence[Chart | NoChart]:
    sending = [query for query in potentials if query.total.total.messages]
    return [
        traffic_charts.window_chart(
            {query.name: query.curve_shares for query in sending},
            {query.name: query.share for query in sending},
        ),
        traffic_charts.gap_chart({query.name: query_copy_gaps(query) / 1e6 for query in queries}),
    ]


def _sending_charts(queries: Sequence[QueryTraffic], places: Places) -> Sequence[Chart | NoChart]:
    gaps = {
        query.name: {sender: found / 1e6 for sender, found in query_injection_gaps(query).items()}
        for query in queries
    }
    sizes = {}
    for query in queries:
        senders = sorted({send.sender for send in query.sends})
        sizes[query.name] = {
            sender: np.array([send.bytes for send in query.sends if send.sender == sender], dtype=np.float64)
            for sender in senders
        }
    matrices = {query.name: places.named(traffic_matrix(query.sends)) for query in queries}
    return [
        traffic_charts.size_chart(sizes),
        traffic_charts.injection_chart(gaps),
        traffic_charts.destination_chart(matrices),
    ]
