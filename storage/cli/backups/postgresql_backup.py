"""Dumps and restores a PostgreSQL database with PostgreSQL's own programs.

Passwords go to them through the environment, never on the command line, which other users can see.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, BinaryIO, Final

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.pq import Conninfo

from storage.base.errors import DatabaseUnavailable
from storage.cli.backups import archive
from storage.cli.backups.archive import BackupRefused, Contents
from storage.db.connections import Connection, Parameters, is_pooled, parameters_of

# How long pg_dump waits for a table that a migration changes.
_LOCK_SECONDS: Final = 60


def save(
    url: str, timeout_seconds: float, env: Mapping[str, str], target: Path
) -> tuple[Contents, int]:
    """Dump the database, as of now, to a new file; also returns pg_dump's major version.

    Raises BackupRefused or DatabaseUnavailable.
    """
    parameters = parameters_of(url, timeout_seconds)
    program, version = _program("pg_dump", env)
    with _connected(parameters, timeout_seconds) as connection:
        server = connection.info.server_version // 10_000
        if version < server:
            raise BackupRefused(
                f"pg_dump is version {version}, older than the server, which is version {server}. "
                f"Install the client programs of PostgreSQL {server} and put them first in PATH."
            )
        # The dump and the manifest show the same moment.
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        [(snapshot,)] = connection.execute("SELECT pg_export_snapshot()").fetchall()
        contents = _contents(connection)
        arguments = [
            *("--format=custom", "--no-password", "--no-publications", "--no-subscriptions"),
            *(f"--snapshot={snapshot}", f"--lock-wait-timeout={_LOCK_SECONDS}s"),
        ]
        with archive.new_file(target) as file:
            _run(program, arguments, connection, parameters, env, output=file)
    return contents, version


def require_empty(url: str, timeout_seconds: float, env: Mapping[str, str], dumped_by: int) -> None:
    """Raise BackupRefused unless ``restore`` can begin."""
    _, version = _program("pg_restore", env)
    if version < dumped_by:
        raise BackupRefused(
            f"pg_restore is version {version}, and the archive was made by pg_dump {dumped_by}. "
            f"Install the client programs of PostgreSQL {dumped_by} and put them first in PATH."
        )
    with _connected(parameters_of(url, timeout_seconds), timeout_seconds) as connection:
        table = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LIMIT 1"
        ).fetchone()
    if table is not None:
        raise BackupRefused(
            "The database that DATABASE_URL names has tables. Create an empty one "
            "(`createdb hiatus_restored`) and name it in DATABASE_URL."
        )


def restore(
    url: str, timeout_seconds: float, env: Mapping[str, str], dump: Iterable[bytes]
) -> Contents:
    """Restore a dump in one transaction; returns what is in it.

    Raises BackupRefused or DatabaseUnavailable.
    """
    parameters = parameters_of(url, timeout_seconds)
    program, _ = _program("pg_restore", env)
    arguments = [
        *("--single-transaction", "--exit-on-error", "--no-password"),
        *("--no-owner", "--no-privileges"),
    ]
    with _connected(parameters, timeout_seconds) as connection:
        _run(program, arguments, connection, parameters, env, data=dump)
        return _contents(connection)


def _contents(connection: Connection) -> Contents:
    [(history, canaries)] = connection.execute(
        "SELECT to_regclass('schema_migration'), to_regclass('secret_canaries')"
    ).fetchall()
    if history is None:
        raise BackupRefused("The database is empty: run `hiatus migrate` first.")
    [(migration,)] = connection.execute("SELECT max(name) FROM schema_migration").fetchall()
    texts = (
        connection.execute("SELECT encrypted FROM secret_canaries ORDER BY number").fetchall()
        if canaries is not None
        else []
    )
    return Contents(migration=str(migration), canaries=tuple(text for (text,) in texts))


def _program(name: str, env: Mapping[str, str]) -> tuple[str, int]:
    """The path and the major version of one of PostgreSQL's programs."""
    path = shutil.which(name, path=env.get("PATH"))
    if path is None:
        raise BackupRefused(
            f"{name} is not in PATH. Install PostgreSQL's client programs, such as the package "
            "postgresql-client, in the version of the server or newer."
        )
    done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    version = re.search(r"\(PostgreSQL\) (\d+)", done.stdout)
    if version is None:
        raise BackupRefused(f"{path} does not tell its version: {done.stderr.strip()}")
    return path, int(version[1])


def _run(
    program: str,
    arguments: list[str],
    connection: Connection,
    parameters: Parameters,
    env: Mapping[str, str],
    *,
    data: Iterable[bytes] = (),
    output: BinaryIO | None = None,
) -> None:
    """Run a program on the server of this connection, from ``data`` or to ``output``."""
    conninfo, secrets = _conninfo(connection, parameters)
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [program, *arguments, f"--dbname={conninfo}"],
            env={**env, **secrets, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL if output else subprocess.PIPE,
            # Through a pipe, so that the program ends if this process is killed.
            stdout=subprocess.PIPE if output else subprocess.DEVNULL,
            stderr=errors,
        )
        try:
            if output and process.stdout:
                with process.stdout:
                    shutil.copyfileobj(process.stdout, output)
            elif process.stdin:
                _feed(process.stdin, data)
            code = process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise
        if code:
            errors.seek(0)
            lines = errors.read(100_000).decode(errors="replace").splitlines()
            reason = next((line for line in lines if "error:" in line), f"exit code {code}")
            raise BackupRefused(f"{Path(program).name} failed, and nothing was changed: {reason}")


def _feed(stdin: IO[bytes], data: Iterable[bytes]) -> None:
    try:
        with stdin:
            for chunk in data:
                stdin.write(chunk)
    except BrokenPipeError:
        # The program has ended; its exit code and its message say why.
        return


def _conninfo(connection: Connection, parameters: Parameters) -> tuple[str, dict[str, str]]:
    """How to connect to the same server: what may be seen, and the environment with the rest."""
    options = {one.keyword.decode(): one for one in Conninfo.get_defaults()}
    visible: dict[str, str] = {}
    hidden: dict[str, str] = {}
    for name, value in parameters.items():
        option = options[name]
        if option.envvar is not None:
            hidden[option.envvar.decode()] = str(value)
        elif option.dispchar == b"*":
            raise BackupRefused(
                f"DATABASE_URL has {name}, which PostgreSQL's programs take only from the command "
                "line, where other users could see it. Use a service file (`?service=`) for it."
            )
        else:
            visible[name] = str(value)
    # With several hosts, the one that was found to be the primary.
    info = connection.info
    visible |= {"host": info.host, "port": str(info.port), "dbname": info.dbname}
    if "hostaddr" in parameters:
        visible["hostaddr"] = info.hostaddr
    return make_conninfo(**visible), hidden


@contextmanager
def _connected(parameters: Parameters, timeout_seconds: float) -> Iterator[Connection]:
    try:
        with closing(psycopg.connect(**parameters, autocommit=True)) as connection:
            if is_pooled(connection):
                # pg_dump empties search_path, for the next client of the session as well.
                raise BackupRefused(
                    "DATABASE_URL leads to a connection pooler. Name PostgreSQL itself in "
                    "DATABASE_URL for this command."
                )
            yield connection
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(str(error)) from error
