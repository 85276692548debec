"""The part that all adapters' `load` share: the report on a refused file, and rows where no DBMS reads them itself."""

from __future__ import annotations

import csv
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tare.errors import StatementFailed


@contextmanager
def loading(table: str, file: Path) -> Iterator[None]:
    """Around a load that takes all rows or none. Raises StatementFailed for a file that cannot be read or holds
    what the table does not take."""
    try:
        yield
    except StatementFailed as error:
        raise StatementFailed(
            f"nothing of {file} was loaded into {table}: {error.what}",
            "correct that line of the file, or the table; then load it again",
        ) from error
    except OSError as error:
        raise StatementFailed(
            f"nothing was loaded into {table}: {file} could not be read: {error.strerror or error}",
            "see whether the file is there and may be read",
        ) from error


def csv_rows(file: Path, columns: int) -> Generator[Sequence[str | None]]:
    """Yield rows as `Session.load` reads them. Close it, since whoever writes into a pipe waits for that.

    Raises StatementFailed with the number of the line, OSError."""
    csv.field_size_limit(sys.maxsize)
    with file.open(encoding="utf-8", newline="") as stream:
        reader = csv.reader(stream, strict=True)
        try:
            for row in reader:
                if len(row) != columns:
                    raise StatementFailed(
                        f"line {reader.line_num} has {len(row)} values, and the table {columns} columns"
                    )
                yield [value or None for value in row]
        except csv.Error as error:
            raise StatementFailed(f"line {reader.line_num}: {error}") from error
        except UnicodeDecodeError as error:
            raise StatementFailed(f"behind line {reader.line_num}: {error}") from error
