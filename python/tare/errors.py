"""Every error a user can meet. Each message says what happened, on what, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence


class TareError(Exception):
    """The root of the tree.

    ``what`` happened (and on what), and the ``next_step`` a user can take. ``code`` is the DBMS's own name of the
    failure (SQLSTATE, error number, exception), empty where there is none. ``excerpt``: lines that show the place, or
    what the server logged. ``exit_code`` is 2 where the request was at fault and 1 where the run was.
    """

    exit_code = 1

    def __init__(self, what: str, next_step: str = "", *, code: str = "", excerpt: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.next_step = next_step
        self.code = code
        self.excerpt = excerpt

    def without_cause(self, what: str) -> TareError:
        """The same for a reader who has just read the cause: `what` stands in its place."""
        error = TareError(what, self.next_step, code=self.code, excerpt=self.excerpt)
        error.exit_code = self.exit_code
        return error

    def __str__(self) -> str:
        next_step = f"  next: {self.next_step}" if self.next_step else ""
        return "\n".join(filter(None, (self.what, self.excerpt, next_step)))


class UsageError(TareError):
    """The request cannot be carried out as it was made."""

    exit_code = 2


class UnknownScheme(UsageError):
    """No adapter answers to this URL's scheme."""


class BadStatement(UsageError):
    """The SQL is empty, holds several statements, or would change data without leave."""


def several_statements(code: str = "") -> BadStatement:
    """To be raised for a text of several statements where one is needed."""
    return BadStatement(
        "the SQL holds several statements",
        "give one: -f FILE --each weighs each statement of a file, -f FILE:2 its second; statements that prepare go "
        "into --setup or --prepare",
        code=code,
    )


class WriteRefused(BadStatement):
    """The DBMS refused a change of data in a session or transaction that is read-only."""


class MissingDriver(UsageError):
    """The adapter's driver is not installed."""


class MissingProgram(UsageError):
    """A program that the request needs is not installed."""


class ConnectionFailed(TareError):
    """The server cannot be reached or refuses us."""


class StatementFailed(TareError):
    """The DBMS refused the statement or failed while running it.

    ``offset`` counts the characters before the mistake in the statement; None where the DBMS shows no place.
    ``may_pass``: the same statement may succeed when it is run again."""

    def __init__(
        self,
        what: str,
        next_step: str = "",
        *,
        code: str = "",
        offset: int | None = None,
        may_pass: bool = True,
    ) -> None:
        super().__init__(what, next_step, code=code)
        self.offset = offset
        self.may_pass = may_pass


class QueryTimeout(TareError):
    """The query ran longer than it was allowed to."""


class StillWaiting(TareError):
    """A statement that no clock times was not done within the time-out: it waits for a lock, or is planned."""


class ServerLost(TareError):
    """The server went away in mid-run."""


class WatchedServerEnded(ServerLost):
    """The watched server ended or hangs, and there is nothing to report but that."""

    exit_code = 3


class PlanChanged(TareError):
    """A QE ran under another plan than the Q@C's first."""


class AnswerChanged(TareError):
    """A QE gave another answer than the Q@C's first."""


class WrongAnswer(TareError):
    """A statement did not give what its definition says, or what it changed was not put back."""


class CacheNotCleared(TareError):
    """The cache state that was asked for could not be reached or proved."""


class ServerFailed(TareError):
    """A throw-away server did not start or stop."""


class PrivilegeMissing(TareError):
    """The operation needs a right that this user has not."""


class SettingsBusy(TareError):
    """Another run does not give back the lock of the machine's settings."""


class ExportFailed(TareError):
    """A result could not be written; nothing half-written is left."""


class SpecificationMistake(UsageError):
    """An experiment's specification does not hold; every mistake is named with its line.

    ``mistakes`` holds (line, column, text) of each, in the order of the file."""

    def __init__(self, what: str, next_step: str = "", mistakes: Sequence[tuple[int, int, str]] = ()) -> None:
        super().__init__(what, next_step)
        self.mistakes = tuple(mistakes)


class LabError(TareError):
    """The lab cannot be opened, read or written."""


class LabTooNew(LabError):
    """The lab was written by a newer Tare than this one."""


class LabFull(LabError):
    """The lab's disk is full; nothing is torn, and the run can be resumed."""


class TooFewTransactions(TareError):
    """A profile holds none, or none that differ: there is no variance to explain."""


class NoSuchProfile(UsageError):
    """No folder of that name holds a profile, or it lacks what was asked for."""


class ProfileDamaged(TareError):
    """The folder of a profile cannot be read or written."""


class ProfileTooNew(ProfileDamaged):
    """The profile was recorded by a newer Tare than this one."""


class RunHeld(UsageError):
    """Another executor holds this run."""


class NoSuchRun(UsageError):
    """The lab has no such run, or too many fit what was asked."""


class ForeignFile(UsageError):
    """A file to import is damaged, or is not an export of a lab."""


class SanityViolated(TareError):
    """An experiment-wide sanity check stopped the analysis (TTPv2 Table X)."""


class LabLost(LabError):
    """The lab's server cannot be reached; what was recorded is kept, and the run can be resumed."""


class NoSuchCardinality(UsageError):
    """The variable table cannot have so many rows, or so few."""


class TableDiffers(TareError):
    """A table of the experiment is not the one that the specification describes."""


class ForeignTable(UsageError):
    """A table stands where the experiment's belongs, and Tare did not make it."""


class DriverFailed(TareError):
    """The driver of a transactional workload could not go on, or ended without its result."""


class Undelivered(TareError):
    """The watcher's command or webhook did not take a notice."""


class DatabaseInUse(UsageError):
    """Another run of this machine makes its tables in the same database."""


class NotEnoughDisk(UsageError):
    """The requested data do not fit on the disk."""


def cause_and_step(error: OSError) -> tuple[str, str]:
    """Return the probe's cause, and its next step where it has one."""
    what, _, step = (error.strerror or str(error)).partition("\n  next: ")
    return what, step
