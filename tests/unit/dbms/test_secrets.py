"""No form of a database's address shows a secret, whatever is wrong with it; libpq's forms mean what libpq says."""

from __future__ import annotations

import re
import shlex
from urllib.parse import quote

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict

from tare.dbms.conninfo import as_url, connection_parameters, is_conninfo, url_of
from tare.dbms.redaction import redacted_command, redacted_text
from tare.dbms.registry import find
from tare.dbms.url import file_path, parse, redacted, scheme_of, shown_name
from tare.errors import TareError, UsageError
from tare.experiment.specification import DbmsSpec
from tare.lab.store import open_lab

PIECES = ("Xq7Za", "Wk3Vb", "Jd9Yc")
ODD = "@:/?#%&=+ '\"\\,;[]é\t"

secrets = st.lists(st.sampled_from(tuple(ODD)), min_size=2, max_size=2).map(
    lambda odd: f"{PIECES[0]}{odd[0]}{PIECES[1]}{odd[1]}{PIECES[2]}"
)
encodings = st.sampled_from(
    [
        lambda secret: secret,
        lambda secret: quote(secret, safe=""),
        lambda secret: quote(quote(secret, safe=""), safe=""),
        lambda secret: "".join(f"%{byte:02X}" for byte in secret.encode()),
        lambda secret: "'" + secret.replace("\\", "\\\\").replace("'", "\\'") + "'",
        lambda secret: f"'{secret}",
    ]
)
SCHEMES = ("postgresql", "postgres", "POSTGRES", "mariadb", "mysql", "oracle")
FORMS = (
    *(f"{scheme}://user:{{}}@127.0.0.1:1/db" for scheme in SCHEMES),
    *(
        "postgresql://user:{}",
        "postgresql://user:{}/db",
        "postgresql://user:{}@",
        "postgresql://:{}@127.0.0.1:1/db",
    ),
    *(
        "postgresql://user:{}@127.0.0.1:1,[::1]:2/db",
        "postgresql://user:{}@127.0.0.1,::1/db?target_session_attrs=any",
    ),
    *(
        "postgresql://user@127.0.0.1:1/db?password={}",
        "postgresql://127.0.0.1:1/db?user=u&password={}&sslmode=require",
    ),
    *("postgresql://127.0.0.1:1/db?pass%77ord={}", "postgresql://user@127.0.0.1:1/db?sslpassword={}"),
    *(
        "postgresql:///db?password={}",
        "postgresql://user:{}@127.0.0.1:port/db",
        "postgresql://user:{}@[::1/db",
    ),
    *("postgresql://user:{}@127.0.0.1:1/db?nonsense=1", "mariadb://user:{}@127.0.0.1:1/db?nonsense=1"),
    *("mariadb://user@127.0.0.1:1/db?password={}", "mariadb://user:{}", "mysql://user:{}/db"),
    *("host=127.0.0.1 port=1 user=u password={}", "password={} host=127.0.0.1 port=1", "password = {}"),
    *("host=127.0.0.1 port=1 passwd={}", "host=127.0.0.1,::1 port=1,2 password={} nonsense=1"),
    *(
        "host=127.0.0.1 port=1 sslpassword={} password=x",
        "service=none password={}",
        "host=127.0.0.1 port={}",
    ),
    *("user:{}@127.0.0.1:1/db", "sqlite:///no/such?password={}"),
)


def told(call: object, *arguments: object) -> str:
    """Text that a call shows: an answer, or an error with all its causes."""
    try:
        return str(call(*arguments))  # type: ignore[operator]
    except TareError as error:
        shown, cause = "", error
        while cause is not None:
            shown += f"{cause!r} {cause} "
            cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)  # type: ignore[assignment]
        return shown


def shows(text: str) -> bool:
    return any(piece.lower() in text.lower() for piece in PIECES)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(FORMS), secrets, encodings)
@example("postgresql://user:{}", "Xq7ZaWk3Vb", str)
@example("host=h port=1 passwd={}", "Xq7ZaWk3Vb", str)
def test_no_form_of_an_address_shows_its_secret(form: str, secret: str, encoded: object) -> None:
    word = encoded(secret)  # type: ignore[operator]
    assume(
        "@127" in form or "@" not in word or "=" in form
    )  # else what follows the @ is a host to any reader
    text = form.format(word)
    assert not shows(redacted(text)), text
    for words in (["--db", text], [f"--db={text}"], ["--lab", text], ["run", f"--lab={text}"]):
        assert not shows(" ".join(redacted_command(words))), words
    for call in (scheme_of, url_of, find, shown_name, open_lab):
        seen = told(call, text)
        assert call is url_of or not shows(seen), (call, text, seen)
    if not is_conninfo(text):
        assert not shows(re.sub(r"password=.*|Url\(.*", "", told(parse, text))), text
        assert not shows(told(file_path, text)) or text.startswith("sqlite"), text


SHELL = (
    "pgbench -c 4 postgresql://u:{}@h/d -T 5",
    "pgbench 'postgresql://u:{}@h:1/d?sslmode=require'",
    "PGPASSWORD={} pgbench -h h d",
    "MYSQL_PWD={} mysqlslap",
    'psql "host=h password={} user=u" -c "SELECT 1"',
    "psql \"host=h password='{}' user=u\"",
    "mysqlslap -uroot -p{} --iterations=5",
    "mariadb -u root --password={} d",
    "mariadb --password {} d",
    "sysbench --pgsql-password={} --threads=4 oltp_read_only run",
    "java -jar b.jar 'jdbc:postgresql://h/d?user=u&password={}'",
    "curl https://u:{}@h/x",
    "psql -c \"ALTER ROLE u PASSWORD '{}'\"",
    "mariadb -e \"ALTER USER u IDENTIFIED BY '{}'\"",
)


@given(st.sampled_from(SHELL), st.text("abcXYZ019._%+~^:,!", min_size=1, max_size=12))
def test_no_shell_command_shows_a_password(form: str, odd: str) -> None:
    text = form.format(f"{PIECES[0]}{odd}{PIECES[1]}")
    for shown in (redacted_text(text), *redacted_command([text]), *redacted_command(["--load", text])):
        assert not shows(shown), shown
    assert not shows(" ".join(redacted_command(["profile", "run", "--", *shlex.split(text)]))), text


@pytest.mark.parametrize(
    "text",
    [
        "pgbench -p 5432 --no-password -h h d",
        "psql postgresql://u@h:1/d -c 'SELECT 1'",
        "SELECT count(*) FROM 'https://example.org/f.parquet' WHERE password = 'b'",
        "mkdir -parents --author=me",
        "",
    ],
)
def test_a_text_without_a_password_is_shown_as_it_is(text: str) -> None:
    assert redacted_text(text) == text


def test_the_words_of_a_query_are_shown_as_they_are() -> None:
    words = ["time", "SELECT * FROM t WHERE host = 'a' AND password = 'b'", "-f", "a=b.sql", "--runs=3"]
    assert redacted_command(words) == words


@pytest.mark.parametrize(
    "text",
    [
        "host=/run/x port=5433 user=u password='it\\'s' dbname=d",
        "host=db.example user=u dbname=d sslmode=require",
        "host=one,two port=1,2 user=u password=x dbname=d target_session_attrs=read-write",
        "service=mine",
        "dbname='a b' user='o''x' password='p@:/?#% '".replace("''", "\\'"),
        "password=alone",
    ],
)
def test_a_connection_string_becomes_the_url_that_means_the_same(text: str) -> None:
    assert conninfo_to_dict(url_of(text)) == conninfo_to_dict(text)


VALUES = st.text(min_size=1).filter(lambda value: value.isprintable() and "@" not in value)


@given(st.dictionaries(st.sampled_from(["host", "user", "password", "dbname"]), VALUES, min_size=1))
def test_any_parameters_survive_the_url(parameters: dict[str, str]) -> None:
    assert connection_parameters(as_url(parameters)) == parameters


def test_a_url_of_several_hosts_is_read() -> None:
    url = parse("postgresql://u:secret@one:1,two:2/d")
    assert (url.user, url.password, url.host, url.database) == ("u", "secret", "one,two", "d")


def test_a_specification_takes_a_connection_string() -> None:
    assert DbmsSpec(name="a", url="host=h dbname=d").url == "postgresql://h/d"


def test_a_file_may_have_an_equals_sign_in_its_name() -> None:
    assert url_of("results/n=5.db") == "results/n=5.db"
    with pytest.raises(UsageError):
        url_of("host=a nonsense")
