"""The report says of a profile what was found, and first of all whether it may be believed."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from tare.lab.profile_about import ABOUT, Watching, read_about
from tare.protocol.profile.found import Estimate, Loss
from tare.report.charts.chart import MOST_MARKS, Chart
from tare.report.document import as_json
from tare.report.kit import markdown, page, terminal
from tare.report.kit.blocks import Section, Table, Tone, Verdict, cell
from tare.report.kit.deliver import deliver
from tare.report.kit.shell import MOST_BYTES
from tare.report.profile import headline, words
from tare.report.profile.build import Built, build
from tare.report.profile.conditions import Way, records, watched_how
from tare.report.profile.document import Node, ProfileReport
from tare.report.profile.names import factor_name, report_names
from tare.report.profile.next import Unwatched, next_step
from tare.report.profile.story import PARTS, answer, printed, story
from tare.report.schema import schema_text
from tests.unit.report.profile import sample


def shown(built: Built, width: int = 100, parts: Collection[str] = PARTS) -> str:
    return terminal.render(printed(built, parts), width)


def marked(built: Built) -> str:
    return markdown.render(story(built))


def paged(built: Built) -> str:
    return page.render(story(built))


def flat(text: str) -> str:
    return " ".join(text.split())


# The document ---------------------------------------------------------------------------
def test_every_report_keeps_to_the_schema_and_reads_back(any_built: Built) -> None:
    written = as_json(any_built.report)
    jsonschema.validate(
        json.loads(written), json.loads(schema_text("profile-v1")), cls=jsonschema.Draft202012Validator
    )
    assert ProfileReport.model_validate_json(written) == any_built.report


def test_every_form_can_be_made_of_every_profile(any_built: Built) -> None:
    for form in (shown(any_built), marked(any_built), paged(any_built)):
        assert any_built.report.headline[0].split(";")[0][:40] in form


def test_the_first_sentence_names_the_factor_its_interval_and_the_overhead(built: Built) -> None:
    assert re.fullmatch(
        r"LWLockAcquireOrWait explains \d+% \(\d+–\d+%\) of the variance of 4\u202f000 transactions; "
        r"1\.8\u00a0±\u00a00\.3% overhead by the profiling itself\.",
        built.report.headline[0],
    )
    assert shown(built).startswith("✓ Valid: LWLockAcquireOrWait explains ")


def test_a_profile_with_too_many_invalid_transactions_says_so_first(hostile: Built) -> None:
    assert not hostile.report.valid
    first = "This profile is not valid: 21.1% of its transactions do not count"
    assert shown(hostile).startswith(f"✗ Not valid: {first}")
    assert marked(hostile).split("\n\n")[2].startswith(f"**Not valid**: {first}")
    assert '<div class="verdict-box not"><b>Not valid</b>' in paged(hostile)


def test_the_verdict_is_good_only_where_nothing_stands_against_it(built: Built) -> None:
    def tone(**update: object) -> Tone:
        verdict = answer(replace(built, report=built.report.model_copy(update=update))).blocks[0]
        assert isinstance(verdict, Verdict)
        return verdict.tone

    report = built.report
    assert report.overhead is not None
    assert tone() is Tone.GOOD
    assert tone(valid=False) is Tone.BAD
    assert tone(enough=900) is Tone.CAUTION
    assert tone(warnings=["12 of 100 records were lost."]) is Tone.CAUTION
    assert tone(factors=[]) is Tone.CAUTION
    assert tone(overhead=None) is Tone.CAUTION
    assert tone(overhead=report.overhead.model_copy(update={"verdict": "too few"})) is Tone.CAUTION
    assert tone(of=report.of.model_copy(update={"state": "interrupted"})) is Tone.CAUTION
    assert tone(rates=report.rates.model_copy(update={"before": 9.0, "after": 0.0})) is Tone.CAUTION


def test_transactions_that_our_own_windows_cut_do_not_make_it_invalid(built: Built) -> None:
    assert built.report.invalid == {"changed": 31, "unfinished": 8}
    assert built.report.valid


def test_calls_without_a_return_or_a_record_are_counted_beside_the_records() -> None:
    of = replace(sample.measured(), unwound=1_234_567, unrecorded=1, invalid={"unwound": 2})
    built = sample.report(of)
    for form in (flat(shown(built)), flat(marked(built))):
        assert "1 234 567 calls were left without a return (exception, longjmp or end of the thread)" in form
        assert "1 call of signal handlers could not be recorded" in form
    assert "left by an exception, a longjmp or the end of their thread at an unknown time" in records(
        built.report
    )


def test_the_report_says_how_functions_are_watched_and_why_others_are_not() -> None:
    watching = Watching(ways={"exit sites": 12})
    refused = {10: "its code is not understood", 11: "its code is not understood", 3: "it has no way out"}
    about = sample.ABOUT.model_copy(update={"watching": watching, "refused": refused})
    built = build(sample.findings(), about)
    assert built.report.watching.refused == {"its code is not understood": 2, "it has no way out": 1}
    for form in (shown(built), marked(built)):
        assert (
            "Watched: twelve functions by probes where they leave. Not watched, as no probe can be put on them: its "
            "code is not understood (2); it has no way out (1)."
        ) in flat(form)


def test_a_profile_recorded_with_return_probes_is_still_read_and_reported(tmp_path: Path) -> None:
    stored = json.loads(sample.ABOUT.model_dump_json())
    stored["watching"] = {
        "ways": {"return probe": 1, "exit sites": 12},
        "hazards": ["exceptions", "thread exit"],
    }
    (tmp_path / ABOUT).write_text(json.dumps(stored))
    built = build(sample.findings(), read_about(tmp_path))
    assert built.report.watching.ways == {"return probe": 1, "exit sites": 12}
    for form in (shown(built), marked(built)):
        assert (
            "Watched: one function by return probes and twelve functions by probes where they leave."
        ) in flat(form)


def test_every_way_of_the_recorder_has_its_words() -> None:
    """Ways of the Rust enum. Only profiles recorded earlier have return probes."""
    source = (Path(__file__).parents[4] / "crates" / "tare-profile" / "src" / "backend.rs").read_text()
    known = set(re.findall(r'Self::\w+ => "([a-z ]+)"', source))
    assert {str(way) for way in Way if way is not Way.RETURN_PROBE} <= known
    said = watched_how({str(way): 1 for way in Way}, {})
    assert said.count("one function by ") == len(Way)
    assert "exit sites" not in said


def test_too_few_transactions_are_no_claim_and_the_number_needed_is_said() -> None:
    of = sample.measured(120)
    report = sample.report(of).report
    assert report.enough is not None
    assert report.headline[0].startswith("120 transactions are too few for a claim")
    assert f"{report.enough:,}" in report.headline[0]
    assert report.headline[1].startswith("So far ")
    assert report.warnings == [one for one in report.warnings if "too few" not in one]
    assert report.next.says.startswith("Profile for longer")


def test_a_report_of_the_servers_own_time_says_so_and_has_no_waiting_for_the_client() -> None:
    whole = sample.measured(2000)
    report, all_ = (sample.report(of).report for of in (whole.without_waiting(), whole))
    assert report.server_time
    assert not all_.server_time
    assert whole.waiting_name in {one.name for one in all_.nodes}
    assert whole.waiting_name not in {one.name for one in report.nodes}
    said = "In the server, without waiting for the client, a transaction took "
    assert any(one.startswith(said) for one in report.headline)
    assert not any(said in one or "is waiting for the client" in one for one in all_.headline[:1])
    assert not any("is waiting for the client" in one for one in report.headline)


def test_own_shares_add_up_and_the_report_says_to_what(built: Built) -> None:
    assert built.report.equation.own_sum == pytest.approx(1.0, abs=1e-9)
    assert built.report.equation.residue is not None
    assert built.report.equation.residue < 1e-9
    assert "own shares add up to 100.0%" in flat(shown(built))


def test_profiles_without_shares_say_that_there_are_none() -> None:
    assert "took 2.00 ms each" in flat(shown(sample.alike()))
    assert sample.alike().report.nodes[0].own_covariance is None
    nothing = sample.nothing()
    assert not nothing.report.valid
    assert "holds no transaction that counts" in nothing.report.headline[0]


def test_a_profile_of_the_transaction_alone_has_a_report() -> None:
    of = sample.measured(500)
    alone = replace(
        of,
        cell_transaction=of.cell_transaction[of.cell_path == 0],
        calls=of.calls[of.cell_path == 0],
        inclusive_ns=of.inclusive_ns[of.cell_path == 0],
        own_ns=of.duration_ns.copy(),
        cell_path=of.cell_path[of.cell_path == 0],
    )
    found = sample.report(alone, sample.ABOUT.model_copy(update={"left_out": ()}))
    assert len(found.report.nodes) == 1
    assert "Nothing but the transaction itself was watched" in found.report.headline[0]
    assert "tare profile refine pg-tpcb FUNCTION" in shown(found)
    assert "the one path" in paged(found)


def test_the_second_sentence_tells_what_was_lost_predicted_and_allowed() -> None:
    loss = Loss(
        on=Estimate(0.07, 0.03, 0.12),
        average=Estimate(0.03, 0.01, 0.04),
        in_windows=None,
        predicted_on=0.08,
        predicted_average=0.024,
        markers=None,
        predicted_markers=0.01,
        probed_share=0.4,
        markers_share=0.4,
        counting=0.001,
        own=0.002,
        allowed_on=0.2,
    )
    found = replace(sample.findings(), overhead=replace(sample.OVERHEAD, loss=loss))
    report = build(found, sample.ABOUT).report
    assert report.headline[1] == (
        "Throughput lost to the profiling: 3% (1–4%) over the whole profile (predicted 2.4%, allowed 5.0%), and 7% "
        "(3–12%) while all probes were on (predicted 8.0%, allowed 20%)."
    )
    assert "overhead" not in report.headline[0]


def test_without_windows_to_measure_it_the_overhead_is_said_to_be_arithmetic() -> None:
    of = replace(sample.OVERHEAD, latency=None, throughput=None, windows=1)
    report = build(replace(sample.findings(), overhead=of), sample.ABOUT).report
    assert "about 2.1% overhead by the profiling itself, by arithmetic" in report.headline[0]
    assert "was not measured" in build(sample.findings(overhead=None), sample.ABOUT).report.headline[0]


# The tree -------------------------------------------------------------------------------
def test_the_tree_tells_what_varies_together_where_it_counts(built: Built) -> None:
    drawn = shown(built, 110, ("tree",))
    assert re.search(r"XLogFlush .*\n.*├╴LWLockAcquireOrWait .*\n.*├╴XLogWrite ", drawn)
    assert re.search(r"what varies together +−\d+%", drawn)
    assert "exec_simple_query (inferred)" in drawn


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160, 200])
def test_no_column_vanishes_in_a_narrow_terminal(built: Built, width: int) -> None:
    tree = shown(built, width, ("tree",))
    root = built.report.nodes[0]
    for text in ("variance", "95%", "own", "mean", "calls", words.interval(root.variance)):
        assert text in tree
    for part, rows in (("factors", 10), ("types", 2), ("tail", 5)):
        found = shown(built, width, (part,))
        assert "95% intervals" in flat(found) or part == "types"
        table = table_of(built, part)
        for column in table.columns[1:]:
            assert all(word in found for word in column.heading.split())
        assert len(table.rows[: table.brief]) == rows
        for row in table.rows[: table.brief]:
            values = [cell(value) for value in row[1:]]
            assert all(value.value in found and value.interval in found for value in values)


def table_of(built: Built, part: str) -> Table:
    [section] = printed(built, (part,)).blocks
    assert isinstance(section, Section)
    return next(block for block in section.blocks if isinstance(block, Table))


@pytest.mark.parametrize("width", [60, 80, 100, 160, 200])
@pytest.mark.parametrize("which", ["built", "hostile"])
def test_no_line_is_longer_than_the_terminal(which: str, width: int, request: pytest.FixtureRequest) -> None:
    lines = shown(request.getfixturevalue(which), width).splitlines()
    commands = [one for one in lines if one.startswith("  tare profile")]
    assert len(commands) == 1, "a command to copy stands on one line"
    assert max(len(one) for one in lines if one not in commands) <= width
    assert any("LWLockAcquire" in one or "std::_Rb_tree<" in one for one in lines)


def test_call_sites_are_told_apart_in_the_page(built: Built) -> None:
    whole = paged(built)
    assert "ProcSleep, by where it is called from" in whole
    assert "heap_update+0x100" in whole
    assert "heap_update+0x900" in whole


def test_a_very_long_name_keeps_both_ends(hostile: Built) -> None:
    for form in (shown(hostile), marked(hostile), paged(hostile)):
        assert re.search(r"std::.Rb.tree(<|\\<|&lt;)?\S*.*….*emplace.hint.unique", form.replace("\\", ""))
    assert any(one.name == sample.LONG for one in hostile.report.nodes)


def test_two_names_that_differ_in_the_middle_are_cut_so_that_it_shows() -> None:
    begin, end = "std::map<std::string, Lock", ">::_M_get_insert_unique_pos(std::string const&)"
    of = sample.measured(names={4: f"{begin}Table{end}", 7: f"{begin}Space{end}", 9: f"{begin}Index{end}"})
    built = sample.report(of)
    for width in (60, 80, 120):
        for part in ("tree", "factors"):
            found = shown(built, width, (part,))
            assert all(letters in found for letters in ("ckT", "ckS", "ckI"))
    report = built.report
    for room in range(8, 70):
        names = report_names(report)
        factors = [factor_name(factor, names, room) for factor in report.factors]
        assert len(set(factors)) == len(factors)
        assert all(len(names.cut(one.name, room)) <= room for one in report.nodes)


def test_a_transaction_that_is_one_call_stands_in_the_tree_once() -> None:
    nodes = [
        sample.node(0, None, "transaction", own=0.0, variance=1.0, children=(1,)),
        sample.node(1, 0, "handle_request", own=0.1, variance=1.0, depth=1, children=(2,)),
        sample.node(2, 1, "lock", own=0.9, depth=2),
    ]
    built = build(sample.Bare(500, nodes).findings(mean_ns=1e6, sd_ns=1e5), sample.ABOUT)
    lines = shown(built, 100, ("tree",)).splitlines()
    assert lines[2].startswith("transaction (handle_request)")
    assert lines[3].startswith("├╴lock") or lines[3].startswith("└╴lock")
    assert "handle_request" not in "".join(lines[3:])
    icicle = shown(built, 60, ("flame",))
    assert icicle.count("handle_request") == 1
    assert icicle.count("transaction") == 1
    assert [one.name for one in built.report.nodes] == ["transaction", "handle_request", "lock"]


def test_a_function_on_several_paths_is_named_with_its_callers() -> None:
    """ProcSleep from heap_update, and from XLogFlush."""
    of = sample.measured()
    longer = np.where(of.cell_path == 11, 3 * of.inclusive_ns, of.inclusive_ns)
    paths = (*sample.PATHS[:11], replace(sample.PATHS[11], parent=7))
    factors = sample.report(replace(of, paths=paths, inclusive_ns=longer)).report.factors
    named = [headline.named(one) for one in factors if one.names == ["ProcSleep"] and one.kind == "function"]
    assert named == ["ProcSleep beneath heap_update", "ProcSleep beneath XLogFlush"]


def test_negative_shares_are_shown_as_such() -> None:
    nodes = sample.forest(12)
    built = build(sample.Bare(500, nodes).findings(mean_ns=1e6, sd_ns=1e5), sample.ABOUT)
    assert any(one.own_covariance and one.own_covariance.value < -0.05 for one in built.report.nodes)
    assert re.search(r"f\d+ .*−\d+", shown(built, 100, ("tree",)))


def test_a_profile_of_thousands_of_paths_stays_a_page() -> None:
    found = build(sample.Bare(9000, sample.forest(4000)).findings(mean_ns=1e6, sd_ns=1e5), sample.ABOUT)
    whole = paged(found)
    assert len(whole.encode()) < MOST_BYTES
    assert "the JSON report has all 4\u202f000" in whole
    assert len(shown(found, 100, ("tree",)).splitlines()) < 150
    for one in found.charts:
        assert not isinstance(one, Chart) or one.marks <= MOST_MARKS


def test_a_recursion_of_a_thousand_levels_has_a_report() -> None:
    found = build(
        sample.Bare(9000, sample.forest(1000, chain=True)).findings(mean_ns=1e6, sd_ns=1e5), sample.ABOUT
    )
    assert "more paths" in shown(found, 100, ("tree",))
    assert len(paged(found).encode()) < MOST_BYTES


# What to do next ------------------------------------------------------------------------
def test_what_refinement_would_divide_is_the_next_command() -> None:
    built = build(sample.findings(), sample.ABOUT, refine=("heap_update", "operator new"))
    command = "tare profile refine pg-tpcb heap_update,'operator new'"
    assert built.report.next.command == command
    assert shown(built).endswith(f"\n  {command}\n"), "the next step stands last in a terminal"
    assert marked(built).index(command) < marked(built).index("## The variance tree")


def test_a_function_with_no_watched_callee_is_divided_next(built: Built) -> None:
    assert built.report.next.command == "tare profile refine pg-tpcb LWLockAcquireOrWait"


def test_what_a_library_does_inside_is_not_divided(built: Built) -> None:
    functions = tuple(
        one.model_copy(update={"object": "/lib/libc.so.6"}) if one.name == "LWLockAcquireOrWait" else one
        for one in sample.ABOUT.functions
    )
    about = sample.ABOUT.model_copy(update={"functions": functions, "markers": (1,)})
    assert "LWLockAcquireOrWait" in built.report.next.command
    assert "LWLockAcquireOrWait" not in build(sample.findings(), about).report.next.command


def test_where_most_is_hidden_in_what_was_too_hot_a_larger_budget_is_next(built: Built) -> None:
    root, *others = built.report.nodes
    assert root.own_covariance is not None
    hiding = root.model_copy(
        update={"own_covariance": root.own_covariance.model_copy(update={"value": 0.98})}
    )
    hot = ["LWLockAcquireOrWait", "XLogFlush", "GetSnapshotData", "standard_ExecutorEnd"]
    for command, expected in (
        ("tare profile attach --budget 5% --db x", "tare profile attach --budget 20% --db x"),
        ("tare profile attach --db 'a b' --name=pg", "tare profile attach --budget 20% --db 'a b'"),
        ("tare profile run --name x -- d --name y", "tare profile run --budget 20% -- d --name y"),
        ("tare profile run d --budget 1", "tare profile run --budget 20% d --budget 1"),
    ):
        found = next_step("run", command, (), [], [hiding, *others], None, (), hot, 0.05, attached=True)
        assert found.says == (
            "Give it a larger budget: 98% of the variance is the transaction's own, and LWLockAcquireOrWait, "
            "XLogFlush, GetSnapshotData and one other found no room in 5.0% of its time. "
            "The agent (tare profile run) takes a small part of what attaching does."
        )
        assert found.command == expected


def test_a_profile_that_is_made_again_goes_by_a_name_that_is_not_taken() -> None:
    command = ("tare", "profile", "attach", "--name", "a", "--db", "x")
    about = sample.ABOUT.model_copy(update={"command": command})
    report = build(sample.findings(sample.measured(120)), about).report
    assert report.next.command == "tare profile attach --db x"


def test_where_the_client_is_all_that_is_waited_for_the_servers_own_time_is_next() -> None:
    report = sample.report().report
    [waiting] = [one for one in report.factors if one.kind == "waiting"]
    found = next_step("run", "tare profile attach", (), [waiting], report.nodes, None, ())
    assert found.command == "tare profile show run --server-time"


def test_where_nothing_is_left_to_divide_the_source_is_to_be_read() -> None:
    report = build(sample.findings(), sample.ABOUT, refine=()).report
    assert report.next.command == ""
    assert report.next.says.startswith("Read the source of ")


_AS_IT_WAS = "tare profile attach --budget 5% --db x"
_FOUR_TIMES = "tare profile attach --budget 20% --db x"
_HOT = Unwatched(hot=("memcpy", "compare"))
_REFUSED = Unwatched(refused={"switch_to": "it has no way out"})


@pytest.mark.parametrize(
    ("unwatched", "attached", "budget", "enough", "says", "command"),
    [
        ({}, True, 0.05, None, "Read the source of {}: nothing below it is left to divide.", ""),
        ({}, True, 0.05, 900, "Profile for longer, until there are enough transactions.", _AS_IT_WAS),
        (
            {"source": _HOT}, True, 0.05, None,
            "{} calls memcpy and compare, which are called too often for a budget of 5.0%: what varies may be in "
            "there. Profile it by the agent (tare profile run), whose probes cost a small part, allow a larger "
            "--budget, or watch these alone with --functions.",
            _FOUR_TIMES,
        ),
        (
            {"source": _HOT}, False, 1.0, None,
            "{} calls memcpy and compare, which are called too often for a budget of 100%: what varies may be in "
            "there. Watch these alone with --functions.",
            "",
        ),
        (
            {"source": _HOT}, False, 0.05, 900,
            "Profile for longer, until there are enough transactions. {} calls memcpy and compare, which are called "
            "too often for a budget of 5.0%: what varies may be in there. Allow a larger --budget, or watch these "
            "alone with --functions.",
            _FOUR_TIMES,
        ),
        (
            {"source": _REFUSED}, True, 0.05, None,
            "{} calls switch_to, on which no probe can be put (it has no way out): what varies may be in there. The "
            "agent (tare profile run) may be able to watch it.",
            "",
        ),
        (
            {"source": _REFUSED}, False, 0.05, None,
            "{} calls switch_to, on which no probe can be put (it has no way out): what varies may be in there. "
            "Attaching (tare profile attach) may be able to watch it.",
            "",
        ),
        ({"other": _HOT}, True, 0.05, None, "Read the source of {}: nothing below it is left to divide.", ""),
    ],
)  # fmt: skip
def test_the_next_step_fits_why_callees_were_not_watched(
    built: Built,
    unwatched: dict[str, Unwatched],
    attached: bool,
    budget: float,
    enough: int | None,
    says: str,
    command: str,
) -> None:
    report = built.report
    source = max(
        (one for one in report.factors if one.kind == "function" and one.own_covariance is not None),
        key=lambda one: one.own_covariance.value if one.own_covariance else 0.0,
    )
    by_function = {source.functions[0] if one == "source" else 999: of for one, of in unwatched.items()}
    found = next_step(
        "run",
        _AS_IT_WAS,
        (),
        [source],
        report.nodes,
        enough,
        (),
        budget=budget,
        attached=attached,
        unwatched=by_function,
    )
    assert (found.says, found.command) == (says.format(source.names[0]), command)


# Hostile data ---------------------------------------------------------------------------
def test_nothing_from_the_data_becomes_markup(hostile: Built) -> None:
    whole = paged(hostile)
    assert "<b onclick" not in whole
    assert "<b>profile</b>" not in whole
    assert whole.count("</script>") == 3
    assert "\x1b" not in whole
    assert "\u202e" not in whole
    outside = re.sub(r"(`{3,}).*?\1", "", marked(hostile), flags=re.DOTALL)
    assert "<b onclick" not in outside.replace("\\<", "")
    for form in (shown(hostile), marked(hostile)):
        assert "\x1b" not in form
        assert "\u202e" not in form
    assert "\x1b" not in as_json(hostile.report)


def test_the_command_to_copy_is_safe_to_copy(hostile: Built) -> None:
    assert hostile.report.commands[-1].startswith("tare profile show 'a b'\"'\"';--</script>")


# Where it goes --------------------------------------------------------------------------
def test_forms_go_where_they_were_asked_to(built: Built, tmp_path: Path) -> None:
    given = {name: str(tmp_path / name) for name in ("html", "markdown", "json")}
    deliver(story(built), built.report, given)
    assert all("LWLockAcquireOrWait" in (tmp_path / name).read_text() for name in given)


def test_with_nothing_asked_for_the_chosen_parts_are_printed(
    built: Built, capsys: pytest.CaptureFixture[str]
) -> None:
    deliver(story(built), built.report, {"html": None}, printed=printed(built, ("factors",)))
    found = capsys.readouterr().out
    assert "Factors ──" in found
    assert "The variance tree" not in found


def test_with_files_alone_the_answer_is_printed_and_where_they_are(
    built: Built, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "p.html"
    deliver(story(built), built.report, {"html": str(file), "json": None}, answer=answer(built))
    found = flat(capsys.readouterr().out)
    assert all(flat(sentence) in found for sentence in built.report.headline)
    assert found.endswith(f"html: {file}")
    assert "The variance tree" not in found
    deliver(story(built), built.report, {"html": str(file), "json": "-"}, answer=answer(built))
    assert json.loads(capsys.readouterr().out)["run"] == built.report.run


def node_named(report: ProfileReport, name: str) -> Node:
    return next(one for one in report.nodes if one.name == name)


def test_the_icicle_and_the_folded_stacks_are_of_the_same_shares(built: Built) -> None:
    icicle = next(one for one in built.charts if isinstance(one, Chart) and one.name == "icicle")
    row = next(one for one in icicle.data["icicle"] if one["name"] == "LWLockAcquireOrWait")
    own = node_named(built.report, "LWLockAcquireOrWait").own_covariance
    assert own is not None
    assert row["to"] - row["from"] == pytest.approx(own.value)
