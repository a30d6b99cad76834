"""Two PostgreSQL servers that Patroni manages, and a third voter; for drills.

Patroni keeps its state by Raft between the three, so no etcd or Consul is needed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import psycopg

from tests import outside, postgres
from tests.flows.running import free_port
from tests.replication import DATABASE, Node, Pair

PROGRAM: Final = shutil.which("patroni")
VOTER: Final = shutil.which("patroni_raft_controller")

# The shortest that Patroni accepts: loop_wait + 2 * retry_timeout <= ttl.
TTL_SECONDS: Final = 20
_START_SECONDS: Final = 120
# As docs/operations/failover.md has it.
_CLUSTER: Final = {
    "ttl": TTL_SECONDS,
    "loop_wait": 2,
    "retry_timeout": 3,
    "synchronous_mode": True,
    "synchronous_mode_strict": False,
    "postgresql": {
        "use_pg_rewind": True,
        "parameters": {"synchronous_commit": "on", "max_connections": 200},
    },
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Managed:
    """A server and its Patroni, as on a machine of their own."""

    name: str
    node: Node
    patroni: subprocess.Popen[bytes]
    rest_url: str

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Neither answers until the block ends."""
        self.patroni.send_signal(signal.SIGSTOP)
        try:
            with postgres.frozen(self.node.folder):
                yield
        finally:
            self.patroni.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL to both: Patroni cannot start the server again."""
        self.patroni.kill()
        self.patroni.wait()
        for pid in postgres.processes(self.node.folder):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def switch_over(self, candidate: Managed) -> None:
        """Order what an operator does before maintenance; Patroni answers when it is done."""
        names = {"leader": self.name, "candidate": candidate.name}
        url = f"{self.rest_url}/switchover"
        done = httpx.post(url, json=names, timeout=_START_SECONDS)
        assert done.status_code == 200, done.text

    def is_synchronous_standby(self) -> bool:
        """Whether Patroni would promote it: only that has every acknowledged commit."""
        try:
            return httpx.get(f"{self.rest_url}/sync").status_code == 200
        except httpx.TransportError:
            return False

    def is_primary(self) -> bool:
        """Whether it runs as a primary."""
        try:
            found = outside.rows(_administration(self.node), "SELECT pg_is_in_recovery()")
        except psycopg.OperationalError:
            return False
        return found == [(False,)]


def missing() -> str:
    """Why there is no Patroni, as a sentence; "" if there is."""
    if PROGRAM is None or VOTER is None:
        return "Patroni is not installed: `pip install 'patroni[raft]' psycopg` adds it."
    with tempfile.TemporaryDirectory() as folder:
        if not postgres.can_run(PROGRAM, postgres.account_of(Path(folder))):
            return "PostgreSQL's account may not run Patroni: install it outside of root's home."
    return ""


@contextmanager
def running() -> Iterator[tuple[Managed, Managed]]:
    """The primary, and a synchronous standby."""
    assert VOTER is not None
    folders = [postgres.new_folder() for _ in range(3)]
    addresses = [f"127.0.0.1:{free_port()}" for _ in folders]
    with ExitStack() as stack:
        for folder in folders:
            stack.callback(postgres.stop, folder)
        voter = {"raft": _raft(folders[2], addresses[2], addresses)}
        stack.enter_context(_process(VOTER, folders[2], voter))
        primary = stack.enter_context(_server("first", folders[0], addresses[0], addresses))
        _wait_until(primary.is_primary, folders[0])
        standby = stack.enter_context(_server("second", folders[1], addresses[1], addresses))
        server_url = _administration(primary.node)
        _wait_until(standby.is_synchronous_standby, folders[1])
        postgres.make_database(server_url, DATABASE)
        yield primary, standby


def _administration(node: Node) -> str:
    return node.local_url.replace(f"/{DATABASE}?", "/postgres?")


def pair_of(primary: Managed, standby: Managed) -> Pair:
    return Pair(primary=primary.node, standby=standby.node)


@contextmanager
def _server(name: str, folder: Path, address: str, addresses: Sequence[str]) -> Iterator[Managed]:
    assert PROGRAM is not None
    node = Node(folder=folder, host="127.0.0.1", port=free_port())
    account = postgres.account_of(folder)
    rest = f"127.0.0.1:{free_port()}"
    settings = {
        "scope": "hiatus",
        "name": name,
        "restapi": {"listen": rest, "connect_address": rest},
        "raft": _raft(folder, address, addresses),
        "bootstrap": {"dcs": _CLUSTER, "initdb": ["no-sync", {"encoding": "UTF8"}, "no-locale"]},
        "postgresql": {
            "listen": f"127.0.0.1:{node.port}",
            "connect_address": f"127.0.0.1:{node.port}",
            "data_dir": f"{folder / 'data'}",
            "bin_dir": f"{postgres.programs(folder, account)}",
            "pgpass": f"{folder / 'pgpass'}",
            "authentication": {
                "superuser": {"username": "hiatus"},
                "replication": {"username": "hiatus"},
            },
            "parameters": {
                "unix_socket_directories": f"{folder}",
                "dynamic_shared_memory_type": "mmap",
            },
            "pg_hba": [
                "local all all trust",
                "host all all 127.0.0.1/32 trust",
                "host replication all 127.0.0.1/32 trust",
            ],
        },
    }
    with _process(PROGRAM, folder, settings) as process:
        yield Managed(name=name, node=node, patroni=process, rest_url=f"http://{rest}")


def _raft(folder: Path, address: str, addresses: Sequence[str]) -> dict[str, object]:
    partners = [one for one in addresses if one != address]
    return {"data_dir": f"{folder / 'raft'}", "self_addr": address, "partner_addrs": partners}


@contextmanager
def _process(
    program: str, folder: Path, settings: Mapping[str, object]
) -> Iterator[subprocess.Popen[bytes]]:
    account = postgres.account_of(folder)
    path = folder / "patroni.json"
    # JSON is YAML.
    path.write_text(json.dumps(settings))
    with (folder / "log").open("ab") as output:
        process = subprocess.Popen(
            [program, path],
            cwd=folder,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            **account,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _wait_until(is_so: Callable[[], bool], folder: Path) -> None:
    ends_at = time.monotonic() + _START_SECONDS
    while not is_so():
        if time.monotonic() > ends_at:
            raise TimeoutError(f"Patroni did not start:\n{(folder / 'log').read_text()}")
        time.sleep(0.2)
