"""URLs are taken apart, and shown without their passwords."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.dbms.url import file_path, parse, redacted, scheme_of, scrubbed
from tare.errors import UsageError


def test_every_part_is_found_and_decoded() -> None:
    url = parse("mariadb://us%40er:pa%2Fss@db.example:3307/my%20db?socket=/run/x.sock")
    assert (url.scheme, url.user, url.password) == ("mariadb", "us@er", "pa/ss")
    assert (url.host, url.port, url.database) == ("db.example", 3307, "my db")
    assert url.parameters == {"socket": "/run/x.sock"}


def test_what_is_left_out_is_none() -> None:
    url = parse("mariadb://localhost")
    assert (url.user, url.password, url.port, url.database) == (None, None, None, None)


@pytest.mark.parametrize("url", ["", "numbers.db", "://x"])
def test_a_url_needs_a_scheme(url: str) -> None:
    with pytest.raises(UsageError, match="scheme"):
        scheme_of(url)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:secret@h/db", "postgresql://u@h/db"),
        ("postgresql://u:se@cr/et@h/db", "postgresql://u@h/db"),
        ("postgresql://:secret@h/db", "postgresql://@h/db"),
        (
            "postgresql://u@h/db?password=secret&sslmode=require",
            "postgresql://u@h/db?password=***&sslmode=require",
        ),
        ("postgresql://u@h/db?sslpassword=secret", "postgresql://u@h/db?sslpassword=***"),
        ("postgresql://h:5432/db", "postgresql://h:5432/db"),
        ("sqlite:///a/b.db", "sqlite:///a/b.db"),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, shown: str) -> None:
    assert redacted(url) == shown


@given(st.text(min_size=6, alphabet=st.characters(codec="ascii", exclude_characters="\n")))
def test_no_password_whatever_is_shown(secret: str) -> None:
    assert f"x{secret}x" not in redacted(f"postgresql://user:x{secret}x@host/db")


def test_a_drivers_message_loses_the_password_in_every_form() -> None:
    assert scrubbed("bad: pa/ss and pa%2Fss", "pa/ss") == "bad: *** and ***"
    assert scrubbed("nothing to hide", None) == "nothing to hide"


def test_three_slashes_are_relative_and_four_absolute() -> None:
    assert file_path("sqlite:///dir/f.db") == Path("dir/f.db")
    assert file_path("duckdb:////tmp/a%20b.duckdb?x=1") == Path("/tmp/a b.duckdb")
