"""The report says of a profile what was found, and first of all whether it may be believed."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from tare.lab.profile_about import Rates, State, Watching
from tare.protocol.profile.found import Doubt, Reservation
from tare.report import json as as_json
from tare.report.charts.chart import MOST_MARKS, Chart
from tare.report.kit import markdown, page, terminal
from tare.report.kit.blocks import Section, Table, Tree, cell
from tare.report.kit.deliver import deliver
from tare.report.kit.names import Names
from tare.report.kit.shell import MOST_BYTES
from tare.report.profile import headline
from tare.report.profile.build import Built, build
from tare.report.profile.document import Node, ProfileReport
from tare.report.profile.names import factor_name
from tare.report.profile.next import Unwatched, next_step
from tare.report.profile.story import PARTS, story
from tare.report.profile.watching import Hazard, PassedOver, Way, watched_how
from tests.unit.report.profile import sample

PRINTED = ("flame", *PARTS)
PUBLISHED = Path(__file__).parents[4] / "schemas" / "profile-v1.json"


def text(built: Built, width: int = 100, parts: Collection[str] = PRINTED) -> str:
    return terminal.render(story(built, parts), width)


def html(built: Built) -> str:
    return page.render(story(built))


def marked(built: Built) -> str:
    return markdown.render(story(built))


def plain(form: str) -> str:
    """Markdown without what keeps it from being read as markup."""
    return form.replace("\\", "")


# The document ---------------------------------------------------------------------------
def test_every_report_keeps_to_the_schema_and_reads_back(any_built: Built) -> None:
    written = as_json.render(any_built.report)
    jsonschema.validate(
        json.loads(written), json.loads(PUBLISHED.read_text()), cls=jsonschema.Draft202012Validator
    )
    assert ProfileReport.model_validate_json(written) == any_built.report


def test_every_form_can_be_made_of_every_profile(any_built: Built) -> None:
    first = any_built.report.headline[0].split(";")[0][:40]
    assert text(any_built)[2:].startswith(first)
    assert plain(marked(any_built).split("\n\n")[2]).startswith(f"**{first}")
    assert first in html(any_built).replace("\u00a0", " ")


def test_the_first_sentence_names_the_factor_its_interval_and_the_overhead(built: Built) -> None:
    assert re.fullmatch(
        r"LWLockAcquireOrWait explains \d+% \[\d+, \d+\] of the variance of 4\u202f000 transactions; "
        r"1\.8% \[1\.5, 2\.1\] overhead by the profiling itself\.",
        built.report.headline[0],
    )
    assert text(built).startswith("✓ LWLockAcquireOrWait explains ")


def test_a_profile_with_too_many_invalid_transactions_says_so_first(hostile: Built) -> None:
    assert not hostile.report.valid
    for form in (text(hostile), marked(hostile).split("\n\n")[2]):
        assert form.lstrip("✗* ").startswith(
            "This profile is not valid: 21.1% of its transactions do not count"
        )
    assert '<div class="verdict-box not">This profile is not valid' in html(hostile)


@pytest.mark.parametrize(
    ("findings", "about", "sign"),
    [
        ({}, {}, "✓"),
        ({"overhead": None}, {}, "!"),
        ({"reservations": (Reservation(Doubt.LOST, "12 records were lost"),)}, {}, "!"),
        ({"enough": 9000}, {}, "!"),
        ({}, {"state": State.INTERRUPTED}, "!"),
        ({}, {"rates": Rates(before=10.0, during=9.0, after=0.0)}, "!"),
        ({"invalid": {"lost": 900}}, {}, "✗"),
    ],
)
def test_only_what_may_be_relied_on_is_green(
    findings: dict[str, Any], about: dict[str, Any], sign: str
) -> None:
    found = build(sample.findings(**findings), sample.ABOUT.model_copy(update=about))
    assert text(found)[0] == sign
    box = {"✓": "rely", "!": "care", "✗": "not"}[sign]
    assert html(found).count(f'class="verdict-box {box}"') == 1


def test_transactions_that_our_own_windows_cut_do_not_make_it_invalid(built: Built) -> None:
    assert built.report.invalid == {"changed": 31, "unfinished": 8}
    assert built.report.valid


def test_calls_without_a_return_or_a_record_are_counted_beside_the_records() -> None:
    of = replace(sample.measured(), unwound=1_234_567, unrecorded=1, invalid={"unwound": 2})
    built = sample.report(of)
    for form in (text(built), marked(built)):
        form = " ".join(form.split())
        assert "1 234 567 calls were left without a return (exception, longjmp or end of the thread)" in form
        assert "1 call of signal handlers could not be recorded" in form
    assert "left by an exception, a longjmp or the end of their thread at an unknown time" in html(built)


def test_how_many_functions_are_watched_in_which_way_and_why() -> None:
    watching = Watching(ways={"exit sites": 12, "return probe": 1}, hazards=("exceptions", "thread exit"))
    refused = {10: "its code is not understood", 11: "its code is not understood", 3: "it has no way out"}
    about = sample.ABOUT.model_copy(update={"watching": watching, "refused": refused})
    built = build(sample.findings(), about)
    assert built.report.watching.refused == {"its code is not understood": 2, "it has no way out": 1}
    for form in (text(built), marked(built)):
        assert (
            "Watched: twelve functions by probes where they leave and one function by return probes; return probes "
            "would harm the server: it can throw exceptions and its threads can end in mid-function. Not watched, "
            "as no probe can be put on them: its code is not understood (2); it has no way out (1)."
        ) in " ".join(form.split())


def test_calls_that_were_passed_over_are_counted_before_the_tree() -> None:
    watching = Watching(passed_over={"deep": 1234, "other stack": 1})
    built = build(sample.findings(), sample.ABOUT.model_copy(update={"watching": watching}))
    note = (
        "Calls that were not recorded, so that their time is their callers': 1\u202f234 nested in too many "
        "watched functions and 1 on another stack than their caller's."
    )
    assert built.report.notes[-1] == note
    assert " ".join(note.split()) in " ".join(text(built).split()).partition("call path")[0]


def test_every_way_and_hazard_of_the_recorder_has_its_words() -> None:
    """The Rust enums' words."""
    source = (Path(__file__).parents[4] / "crates" / "tare-profile" / "src" / "backend.rs").read_text()
    known = set(re.findall(r'Self::\w+ => "([a-z ]+)"', source))
    assert {str(one) for one in (*Way, *Hazard, *PassedOver)} <= known
    said = watched_how({str(one): 1 for one in Way}, [str(one) for one in Hazard], {})
    assert "exit sites" not in said
    assert "thread exit" not in said


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
    assert "own shares add up to 100.0%" in text(built)


def test_profiles_without_shares_say_that_there_are_none() -> None:
    assert "took 2.00 ms each" in text(sample.alike())
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
    assert "tare profile refine pg-tpcb FUNCTION" in text(found)
    assert "the one path" in html(found)


def test_without_windows_to_measure_it_the_overhead_is_said_to_be_arithmetic() -> None:
    of = replace(sample.OVERHEAD, latency=None, throughput=None, windows=1)
    report = build(replace(sample.findings(), overhead=of), sample.ABOUT).report
    assert "about 2.1% overhead by the profiling itself, by arithmetic" in report.headline[0]
    assert "was not measured" in build(sample.findings(overhead=None), sample.ABOUT).report.headline[0]


# The tree -------------------------------------------------------------------------------
def test_the_tree_tells_what_varies_together_where_it_counts(built: Built) -> None:
    drawn = text(built, 110, ("tree",))
    assert re.search(r"XLogFlush .*\n.*├╴LWLockAcquireOrWait .*\n.*├╴XLogWrite ", drawn)
    assert re.search(r"what varies together +−\d+%", drawn)
    assert "exec_simple_query (inferred)" in drawn


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160, 200])
def test_no_column_vanishes_in_a_narrow_terminal(built: Built, width: int) -> None:
    parts = ("tree", "factors", "types", "tail", "rounds")
    tables = {
        section.key: [block for block in section.blocks if isinstance(block, Table | Tree)]
        for section in story(built).blocks
        if isinstance(section, Section) and section.key in parts
    }
    assert len(tables) == len(parts)
    for part, found in tables.items():
        shown = text(built, width, (part,))
        for block in found:
            texts = [one.heading for one in block.columns[1:]]
            if isinstance(block, Table):
                texts += [cell(one).text for row in block.rows[: block.brief] for one in row]
            assert all(word in shown for one in texts for word in one.split()), part


@pytest.mark.parametrize("width", [60, 80, 100, 160, 200])
@pytest.mark.parametrize("which", ["built", "hostile"])
def test_no_line_is_longer_than_the_terminal(which: str, width: int, request: pytest.FixtureRequest) -> None:
    lines = text(request.getfixturevalue(which), width).splitlines()
    commands = [one for one in lines if one.startswith("  tare profile")]
    assert len(commands) == 1, "a command to copy stands on one line"
    assert max(len(one) for one in lines if one not in commands) <= width
    assert any("LWLockAcquire" in one or "std::_Rb_tree<" in one for one in lines)


def test_call_sites_are_told_apart_in_the_page(built: Built) -> None:
    whole = html(built)
    assert "ProcSleep, by where it is called from" in whole
    assert "heap_update+0x100" in whole
    assert "heap_update+0x900" in whole


def test_a_very_long_name_keeps_both_ends(hostile: Built) -> None:
    for form in (text(hostile), marked(hostile), html(hostile)):
        assert re.search(r"std::.Rb.tree(<|\\<|&lt;)?\S*.*….*emplace.hint.unique", form.replace("\\", ""))
    assert any(one.name == sample.LONG for one in hostile.report.nodes)


def test_two_names_that_differ_in_the_middle_are_cut_so_that_it_shows() -> None:
    begin, end = "std::map<std::string, Lock", ">::_M_get_insert_unique_pos(std::string const&)"
    of = sample.measured(names={4: f"{begin}Table{end}", 7: f"{begin}Space{end}", 9: f"{begin}Index{end}"})
    built = sample.report(of)
    for width in (60, 80, 120):
        for part in ("tree", "factors"):
            shown = "".join(text(built, width, (part,)).split())
            assert all(one in shown for one in ("ckT", "ckS", "ckI"))
    factors = built.report.factors
    names = Names(name for one in factors for name in (*one.names, *one.beneath))
    for room in range(8, 70):
        cut = [factor_name(one, names, room) for one in factors]
        assert len(set(cut)) == len(cut)
        assert all(len(names.cut(one.name, room)) <= room for one in built.report.nodes)


def test_a_transaction_that_is_one_call_stands_in_the_tree_once() -> None:
    nodes = [
        sample.node(0, None, "transaction", own=0.0, variance=1.0, children=(1,)),
        sample.node(1, 0, "handle_request", own=0.1, variance=1.0, depth=1, children=(2,)),
        sample.node(2, 1, "lock", own=0.9, depth=2),
    ]
    built = build(sample.Bare(500, nodes).findings(mean_ns=1e6, sd_ns=1e5), sample.ABOUT)
    _, lines = (part.splitlines() for part in text(built, 100, ("tree",)).split("call path", 1))
    assert lines[1].startswith("transaction (handle_request)")
    assert lines[2].startswith("├╴lock") or lines[2].startswith("└╴lock")
    assert "handle_request" not in "".join(lines[2:])
    icicle = text(built, 60, ("flame",)).split("Icicle", 1)[1]
    assert icicle.count("handle_request") == 1
    assert icicle.count("[transaction") == 1
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
    assert re.search(r"f\d+ .*−\d+", text(built, 100, ("tree",)))


def test_a_profile_of_thousands_of_paths_stays_a_page() -> None:
    found = build(sample.Bare(9000, sample.forest(4000)).findings(mean_ns=1e6, sd_ns=1e5), sample.ABOUT)
    whole = html(found)
    assert len(whole.encode()) < MOST_BYTES
    assert "the JSON report has all 4\u202f000" in whole
    assert len(text(found, 100, ("tree",)).splitlines()) < 160
    for one in found.charts:
        assert not isinstance(one, Chart) or one.marks <= MOST_MARKS


def test_a_recursion_of_a_thousand_levels_has_a_report() -> None:
    found = build(
        sample.Bare(9000, sample.forest(1000, chain=True)).findings(mean_ns=1e6, sd_ns=1e5), sample.ABOUT
    )
    assert "more paths" in text(found, 100, ("tree",))
    assert len(html(found).encode()) < MOST_BYTES


# What to do next ------------------------------------------------------------------------
def test_what_refinement_would_divide_is_the_next_command() -> None:
    built = build(sample.findings(), sample.ABOUT, refine=("heap_update", "operator new"))
    assert built.report.next.command == "tare profile refine pg-tpcb heap_update,'operator new'"
    assert built.report.next.command in text(built)


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
    whole = html(hostile)
    assert "<b onclick" not in whole
    assert "<b>profile</b>" not in whole
    assert whole.count("</script>") == 3
    outside = re.sub(r"(`{3,}).*?\1", "", marked(hostile), flags=re.DOTALL)
    assert "<b onclick" not in outside.replace("\\<", "")
    for form in (whole, text(hostile), marked(hostile)):
        assert "\x1b" not in form
        assert "\u202e" not in form
    assert "\x1b" not in as_json.render(hostile.report)


def test_the_command_to_copy_is_safe_to_copy(hostile: Built) -> None:
    assert hostile.report.commands[-1].startswith("tare profile show 'a b'\"'\"';--</script>")


# Where it goes --------------------------------------------------------------------------
def test_chosen_parts_are_printed_below_the_answer(built: Built, capsys: pytest.CaptureFixture[str]) -> None:
    deliver(story(built, ("factors",)), built.report, {"html": None})
    shown = capsys.readouterr().out
    assert shown.startswith("✓ LWLockAcquireOrWait explains ")
    assert "specificity" in shown
    assert "The variance tree" not in shown


def test_printing_draws_no_charts(capsys: pytest.CaptureFixture[str]) -> None:
    built = sample.report()
    deliver(story(built), built.report, {})
    assert "charts" not in vars(built)


def test_with_files_alone_the_answer_is_printed_and_where_they_are(
    built: Built, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "p.html"
    deliver(story(built), built.report, {"html": str(target), "json": None})
    shown = " ".join(capsys.readouterr().out.split())
    assert all(" ".join(sentence.split()) in shown for sentence in built.report.headline)
    assert shown.endswith(f"html: {target}")
    assert "The variance tree" not in shown
    assert target.stat().st_size
    deliver(story(built), built.report, {"html": str(target), "json": "-"})
    assert json.loads(capsys.readouterr().out)["run"] == built.report.run


def node_named(report: ProfileReport, name: str) -> Node:
    return next(one for one in report.nodes if one.name == name)


def test_the_icicle_and_the_folded_stacks_are_of_the_same_shares(built: Built) -> None:
    icicle = next(one for one in built.charts if isinstance(one, Chart) and one.name == "icicle")
    row = next(one for one in icicle.data["icicle"] if one["name"] == "LWLockAcquireOrWait")
    own = node_named(built.report, "LWLockAcquireOrWait").own_covariance
    assert own is not None
    assert row["to"] - row["from"] == pytest.approx(own.value)
