"""Pages of a lab over HTTP: each is a story that is told anew for each look."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from tare.errors import LabError, NoSuchRun, SpecificationMistake, TareError
from tare.experiment.read import specification_of
from tare.experiment.specification import WatchSpec
from tare.experiment.specified_work import work_of
from tare.lab.hold import is_held
from tare.lab.jobs import jobs
from tare.lab.live import RunCounts, run_counts, run_live
from tare.lab.oltp import listed
from tare.lab.progress import RunFacts, all_facts, run_facts
from tare.lab.requests import Action, make_request, newest_requests
from tare.lab.run_ids import Kind, parse
from tare.lab.states import RunState
from tare.lab.store import Lab
from tare.observe.access import Access, Rules
from tare.report.kit import page
from tare.report.kit.blocks import Story
from tare.report.kit.shell import Live
from tare.report.observe import overview
from tare.report.observe import run as run_story
from tare.report.observe.overview import RunNow

RUNNING_EVERY_S = 2.0
QUIET_EVERY_S = 10.0

WORDS = {
    Action.PAUSE: "Pause",
    Action.RESUME: "Resume",
    Action.STOP: "Stop after this query",
    Action.ABORT: "Abort",
}

MOST_REPORTED = 10  # runs in a report

_PART = "Tare-Part"  # header of a look for the next state alone


@dataclass(frozen=True, slots=True)
class _About:
    """Facts of a specification about its runs."""

    silent_after_s: float
    cardinalities: int

    def planned(self, counts: RunCounts) -> int:
        """Q@Cs that the scenario may visit at most."""
        return max(counts.visited, (counts.queries - counts.missing) * self.cardinalities)


class Observer:
    """`lab_name`: as --lab names it, for the reports that are made by commands of their own."""

    def __init__(self, lab: Lab, lab_name: str, rules: Rules) -> None:
        self._lab = lab
        self._lab_name = lab_name
        self._rules = rules
        self._abouts: dict[str, _About] = {}  # by hash of the specification

    def app(self) -> Starlette:
        app = Starlette(
            routes=[
                Route("/", self._overview),
                Route("/runs/{run}", self._run),
                Route("/runs/{run}/{action}", self._request, methods=["POST"]),
                Route("/report", self._report),
            ],
            middleware=[Middleware(Access, rules=self._rules)],
        )
        app.router.redirect_slashes = False
        return app

    # Pages. They are made one at a time, in the loop itself: a look must not take a second CPU.
    async def _overview(self, request: Request) -> Response:
        def told() -> tuple[Story, Live]:
            runs = self._runs()
            works = any(one.run.state is RunState.RUNNING for one in runs)
            story = overview.story(self._lab.where, runs, listed(self._lab), jobs(self._lab))
            return story, Live(RUNNING_EVERY_S if works else QUIET_EVERY_S, up="", root="")

        return self._page(request, told)

    async def _run(self, request: Request) -> Response:
        def told() -> tuple[Story, Live]:
            run_id = _number(request.path_params["run"])
            facts = run_facts(self._lab, run_id)
            counts = run_counts(self._lab, [run_id])[run_id]
            now = self._now(facts, counts)
            seen = run_story.Seen(
                now,
                run_live(self._lab, run_id),
                self._about(facts).planned(counts),
                newest_requests(self._lab, run_id),
            )
            works = facts.state is RunState.RUNNING or now.is_held
            every_s = RUNNING_EVERY_S if works else QUIET_EVERY_S
            return run_story.story(seen), Live(every_s, up="..", root="../", actions=self._actions(now))

        return self._page(request, told)

    async def _request(self, request: Request) -> Response:
        try:
            run_id = _number(request.path_params["run"])
            action = Action(request.path_params["action"])
            run_facts(self._lab, run_id)
            make_request(self._lab, run_id, action)
        except ValueError:
            return PlainTextResponse("There is no such request.\n", status_code=404)
        except TareError as error:
            return _refused(error)
        return RedirectResponse(f"../{request.path_params['run']}", status_code=303)

    async def _report(self, request: Request) -> Response:
        """The report, by a command of its own: it takes long, and imports much."""
        ids = [parse(word) for word in request.query_params.get("runs", "").split()]
        runs = [one for one in ids if one is not None and one.kind in (Kind.EXPERIMENT, Kind.OLTP)]
        if not 0 < len(runs) == len(ids) <= MOST_REPORTED:
            return PlainTextResponse("Name runs by their ids: e1, or e1 e2, or o1 o2.\n", status_code=400)
        numbers = {one.number for one in runs if one.kind is Kind.EXPERIMENT}
        try:
            busy = [
                facts.id
                for facts in all_facts(self._lab)
                if facts.id in numbers and facts.state is RunState.RUNNING and is_held(self._lab, facts.id)
            ]
        except TareError as error:
            return _refused(error)
        if busy:
            what = (
                f"e{busy[0]} is being measured, and making its report would disturb it: pause it, or wait.\n"
            )
            return PlainTextResponse(what, status_code=409)
        command = "compare" if [one.kind for one in runs] == [Kind.OLTP, Kind.OLTP] else "report"
        made = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tare", command, *map(str, runs), "--html", "-"),
            env={**os.environ, "TARE_LAB": self._lab_name},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            html, words = await made.communicate()
        except asyncio.CancelledError:  # the reader left, or the observer ends
            made.kill()
            raise
        if made.returncode:
            return PlainTextResponse(words, status_code=422)
        return HTMLResponse(html)

    # What they show --------------------------------------------------------------------
    def _page(self, request: Request, told: Callable[[], tuple[Story, Live]]) -> Response:
        try:
            story, live = told()
        except NoSuchRun as error:
            return PlainTextResponse(f"{error.what}\n", status_code=404)
        except LabError as error:
            root = "../" if "run" in request.path_params else ""
            story, live = overview.no_lab(error.what, error.next_step), Live(QUIET_EVERY_S, up="", root=root)
            return HTMLResponse(page.render(story, live), status_code=503)
        if "save" in request.query_params:
            name = f"tare-{request.path_params.get('run', 'lab')}.html"
            return HTMLResponse(
                page.render(story), headers={"Content-Disposition": f'attachment; filename="{name}"'}
            )
        is_part = _PART in request.headers
        text = page.render(story, replace(live, has_library=not is_part))
        # The moment is not part of the state.
        etag = f'"{hashlib.sha256(text.replace(story.under, "").encode()).hexdigest()[:32]}"'
        headers = {"ETag": etag, "Cache-Control": "no-cache", "Vary": _PART}
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers=headers)
        return HTMLResponse(text, headers=headers)

    def _runs(self) -> list[RunNow]:
        runs = all_facts(self._lab)
        counts = run_counts(self._lab, [facts.id for facts in runs[-overview.MOST_RUNS :]])
        return [self._now(facts, counts.get(facts.id, RunCounts())) for facts in runs]

    def _now(self, facts: RunFacts, counts: RunCounts) -> RunNow:
        held = facts.state is not RunState.DONE and is_held(self._lab, facts.id)
        return RunNow(facts, held, counts, self._about(facts).silent_after_s)

    def _about(self, facts: RunFacts) -> _About:
        known = self._abouts.get(facts.specification_hash)
        if known is None:
            try:
                specification = specification_of(facts)
            except SpecificationMistake:  # of another version of Tare: its runs are shown all the same
                known = _About(WatchSpec().silent_after_s, 0)
            else:
                silent_after_s = (specification.watch or WatchSpec()).silent_after_s
                known = _About(silent_after_s, len(work_of(specification).sizes.cardinalities))
            self._abouts[facts.specification_hash] = known
        return known

    def _actions(self, now: RunNow) -> Sequence[tuple[str, str]]:
        """Requests that the executor of the run would obey."""
        if not self._rules.allow_control or not now.is_held:
            return ()
        first = Action.RESUME if now.run.state is RunState.PAUSED else Action.PAUSE
        return [(f"{now.id}/{action}", WORDS[action]) for action in (first, Action.STOP, Action.ABORT)]


def _number(run: str) -> int:
    """Raises NoSuchRun."""
    run_id = parse(run)
    if run_id is None or run_id.kind is not Kind.EXPERIMENT:
        raise NoSuchRun("there is no such run", "the first page lists the runs")
    return run_id.number


def _refused(error: TareError) -> Response:
    return PlainTextResponse(f"{error.what}\n", status_code=404 if isinstance(error, NoSuchRun) else 503)
