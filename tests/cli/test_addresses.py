"""Every way in which libpq lets a server be named works, and no command repeats a secret of one that does not."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.cli.running import tare

SECRET = "Xq7Za"
BROKEN = (
    f"host=127.0.0.1 port=1 user=u password={SECRET}",
    f"host=127.0.0.1 passwd={SECRET}",
    f"host=127.0.0.1 port=1 password='{SECRET}",
    f"service=none password={SECRET}",
    f"u:{SECRET}@127.0.0.1/d",
    f"postgresql://u:{SECRET}",
    f"postgresql://u:{SECRET}@127.0.0.1:1/d?sslpassword={SECRET}",
    f"postgresql://u:{SECRET}@127.0.0.1:1,[::1]:1/d",
    f"mariadb://u:{SECRET}@127.0.0.1:1/d",
    f"mariadb://u@127.0.0.1:1/d?password={SECRET}",
)
COMMANDS = (
    ("time", "SELECT 1", "--db"),
    ("compare", "SELECT 1", "SELECT 2", "--db"),
    ("compare", "SELECT 1", "--b-db", "sqlite:///:memory:", "--a-db"),
    ("bench", "oltp", "run", "tatp", "--db"),
    ("bench", "oltp", "check", "tatp", "--db"),
    ("bench", "wisconsin", "--db"),
    ("profile", "attach", "--db"),
    ("lab", "list", "--lab"),
    ("experiment", "status", "--lab"),
    ("protocol", "1", "--lab"),
    ("report", "1", "--lab"),
)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_command_repeats_the_secret_of_an_address_that_it_refuses(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    joined = (*words[:-1], f"{words[-1]}={BROKEN[0]}")
    for asked in (joined, *((*words, address) for address in BROKEN)):
        done = tare(*asked, timeout=60)
        assert done.code in (1, 2), (asked, done.out, done.err)
        assert SECRET not in done.out + done.err, asked
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(SECRET in path.read_text(errors="replace") or SECRET in path.name for path in written)


def place(url: str) -> tuple[str, str]:
    """Directory of the socket, and user."""
    parts = urlsplit(url)
    return dict(parse_qsl(parts.query))["host"], parts.username or "postgres"


@pytest.fixture
def addresses(postgresql_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    host, user = place(postgresql_url)
    services = tmp_path / "services.conf"
    services.write_text(f"[mine]\nhost={host}\nuser={user}\ndbname=postgres\npassword={SECRET}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    return {
        "a connection string": f"host={host} user={user} dbname=postgres password={SECRET}",
        "a service": "service=mine",
        "a service in a URL": "postgresql:///?service=mine",
        "several hosts": f"postgresql://{user}:{SECRET}@/postgres?host=/nowhere,{host}",
    }


FORMS = ("a connection string", "a service", "a service in a URL", "several hosts")


@pytest.mark.parametrize("form", FORMS)
def test_a_query_is_weighed_on_a_server_named_by(
    form: str, addresses: dict[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    done = tare(
        *("time", "SELECT 1", "--db", addresses[form], "--runs", "1", "--warmup", "0", "--json", str(out)),
        PGSERVICEFILE=str(tmp_path / "services.conf"),
    )
    assert done.code == 0, done.err
    assert SECRET not in done.out + done.err + out.read_text()
    assert json.loads(out.read_text())["schema"]


@pytest.mark.parametrize("form", FORMS)
def test_transactions_are_sent_to_a_server_named_by(
    form: str, addresses: dict[str, str], tmp_path: Path
) -> None:
    more = {"PGSERVICEFILE": str(tmp_path / "services.conf")}
    lab = str(tmp_path / "lab.db")
    words = ("tatp", "--db", addresses[form], "--lab", lab)
    done = tare("bench", "oltp", "load", *words, "--scale", "0.001", **more)
    assert done.code == 0, done.err
    try:
        run = tare(
            "bench", "oltp", "run", *words, "--rate", "50", "--duration", "300ms", "--warmup", "0s", **more
        )
        assert run.code in (0, 1), run.err
        assert "of the lab" in run.out
        assert SECRET not in done.out + done.err + run.out + run.err
        assert SECRET.encode() not in Path(lab).read_bytes()
    finally:
        tare("bench", "oltp", "drop", *words, **more)
