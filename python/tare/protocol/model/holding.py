"""A causal model held against the data, correlation by correlation (TTPv1 §6, TTPv2 §6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import ibis.expr.types as ir

from tare.errors import SanityViolated, UsageError
from tare.lab.frames import Frames
from tare.protocol.derived import derived
from tare.protocol.model import tables
from tare.protocol.model.correlation import Moments, merged, p_value
from tare.protocol.model.result import ModelResult, Observed, Relationship, Verdict
from tare.protocol.model.sums import Spreads, moments, spreads
from tare.protocol.model.verdict import verdict
from tare.protocol.outcome import Outcome

FEWEST = 3  # points for r to have a p
TYPES = ("query", "utility", "daemon", "executor")


def hold(
    frames: Frames, name: str, *, retained: Outcome | None = None, dbms: str | None = None
) -> ModelResult:
    """Over every QE that ran to its end, or over those of them that a protocol `retained`; over all DBMSes
    apart and pooled, or over one of them.

    Raises UsageError for a model or DBMS that is not there, SanityViolated if the protocol's analysis was
    stopped before it could retain anything.
    """
    rows = _qes(frames, retained)
    if dbms is not None:
        rows = rows.filter(rows.dbms == dbms)
    result = over(rows, name)
    if retained is not None:
        result = replace(result, retained_by=retained.protocol)
    if dbms is not None and not result.dbmses:
        raise UsageError(f"{dbms}: these runs have no QE of it", "leave --dbms out to see which they have")
    return result


def over(qes: ir.Table, name: str) -> ModelResult:
    """The same over rows of `tare.protocol.derived`, all of which count."""
    model = tables.load(name)
    qes = qes.mutate(overall_maj_faults=sum(qes[f"{one}_maj_faults"] for one in TYPES))
    found = spreads(qes, list(model.measures))
    sums = moments(qes, found, [(one.cause, one.effect) for one in model.relationships])
    pooled = [_pooled(one, found, sums) for one in model.relationships]
    apart = [_of(one, dbms, found[dbms], sums[dbms]) for dbms in found for one in model.relationships]
    total = sum(of.qes for of in found.values())
    return ModelResult(model.name, model.title, model.citation, total, tuple(found), (*pooled, *apart))


def _qes(frames: Frames, retained: Outcome | None) -> ir.Table:
    rows = derived(frames)
    rows = rows.filter(rows.outcome == "ok")
    if retained is None:
        return rows
    if retained.qes is None or retained.times is None:
        raise SanityViolated(
            f"{retained.protocol} retained no QE: {retained.stopped}",
            "accept that check by name, or hold the model against all QEs",
        )
    kept = retained.qes.filter(retained.qes.retained)
    whole = retained.times.filter(retained.times.retained)
    return rows.semi_join(kept, "qe_id").semi_join(whole, "qatc_id")


def _of(
    one: Relationship, dbms: str | None, found: Spreads, sums: Mapping[tuple[str, str], Moments]
) -> Observed:
    """Return the correlation over one DBMS."""
    ends = (one.cause, one.effect)
    missing = [name for name in ends if name not in found.of]
    if missing:
        why = f"never measured: {' and '.join(missing)}"
        return _silent(one, dbms, 0, Verdict.MISSING, why, missing)
    resting = [name for name in ends if not found.of[name].varies]
    if resting:
        why = f"the same in every QE: {' and '.join(resting)}"
        n = min(found.of[name].known for name in ends)
        return _silent(one, dbms, n, Verdict.NON_VARYING, why, resting)
    return _judged(one, dbms, sums[ends], None)


def _pooled(
    one: Relationship,
    found: Mapping[str, Spreads],
    sums: Mapping[str, Mapping[tuple[str, str], Moments]],
) -> Observed:
    """Return the correlation over the DBMSes in which both measures vary: elsewhere (x − min)/(max − min) is void."""
    ends = (one.cause, one.effect)
    able = [name for name in found if ends in sums[name]]
    if able:
        without = [name for name in found if name not in able]
        note = f"without {', '.join(without)}, where one of the two does not vary or is missing"
        return _judged(one, None, merged([sums[name][ends] for name in able]), note if without else None)
    apart = [_of(one, name, found[name], sums[name]) for name in found]
    whys = dict.fromkeys(each.reason for each in apart)
    told = [f"{each.reason} ({each.dbms})" for each in apart] if len(whys) > 1 else [str(why) for why in whys]
    kinds = {each.verdict for each in apart}
    kind = Verdict.NON_VARYING if Verdict.NON_VARYING in kinds else Verdict.MISSING
    at_fault = dict.fromkeys(name for each in apart for name in each.measures)
    n = sum(each.n for each in apart)
    return _silent(one, None, n, kind, "; ".join(told) or "there is no QE", list(at_fault))


def _judged(one: Relationship, dbms: str | None, of: Moments, note: str | None) -> Observed:
    if of.n == 0:
        return _silent(one, dbms, 0, Verdict.MISSING, "the two were never measured in the same QE")
    r = of.r
    if r is None:
        return _silent(
            one, dbms, of.n, Verdict.NON_VARYING, "one of the two is the same in every QE that has both"
        )
    if of.n < FEWEST:
        return _silent(one, dbms, of.n, Verdict.NOT_SIGNIFICANT, f"{of.n} QEs: too few for a correlation")
    p = p_value(r, of.n)
    found = verdict(one.predicted, r, p)
    if found is Verdict.OFF and r < 0:
        note = "; ".join(filter(None, ("negative, and a positive one was predicted", note)))
    return Observed(one, dbms, of.n, r, p, found, note)


def _silent(
    one: Relationship, dbms: str | None, n: int, kind: Verdict, why: str, measures: Sequence[str] = ()
) -> Observed:
    return Observed(one, dbms, n, None, None, kind, why, tuple(measures))
