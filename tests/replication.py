"""A PostgreSQL primary with a synchronous standby, for drills: killed, frozen, cut off, promoted.

A commit is acknowledged once the standby has it on disk. The standby itself waits for no other
server after its promotion.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psycopg
from psycopg import sql

from tests import outside, postgres
from tests.flows.running import free_port

DATABASE: Final = "hiatus"

_SECONDS: Final = 60
_SETTINGS: Final = ("wal_level=replica", "max_wal_senders=10", "synchronous_commit=on")
# Besides the host itself, whose clients are trusted already.
_CLIENTS: Final = "host all all samenet trust\nhost replication all samenet trust\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """One of the two servers; ``host`` is an address of this machine or of a namespace."""

    folder: Path
    host: str
    port: int

    @property
    def url(self) -> str:
        """Leads to it over TCP, as processes reach it."""
        return f"postgresql://hiatus@{self.host}:{self.port}/{DATABASE}?sslmode=disable"

    @property
    def local_url(self) -> str:
        """Leads to it over its Unix socket, also while its network is cut."""
        return f"postgresql://hiatus@/{DATABASE}?host={self.folder}&port={self.port}"

    def kill(self) -> None:
        postgres.kill(self.folder)


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """A primary and its standby, which the URL names in that order."""

    primary: Node
    standby: Node

    @property
    def url(self) -> str:
        hosts = ",".join(f"{node.host}:{node.port}" for node in (self.primary, self.standby))
        return (
            f"postgresql://hiatus@{hosts}/{DATABASE}"
            "?sslmode=disable&target_session_attrs=read-write"
        )

    def promote(self) -> float:
        """Make the standby a primary; the moment of the order, in monotonic seconds."""
        ordered_at = time.monotonic()
        assert outside.rows(self.standby.local_url, "SELECT pg_promote()") == [(True,)]
        return ordered_at


@contextmanager
def running(namespace: Namespace | None = None) -> Iterator[Pair]:
    """A primary, in the namespace if there is one, and a standby that has all of its commits."""
    primary_host = "127.0.0.1" if namespace is None else namespace.inside
    folders = [postgres.new_folder(), postgres.new_folder()]
    nodes = [
        Node(folder=folder, host=host, port=free_port())
        for folder, host in zip(folders, (primary_host, "127.0.0.1"), strict=True)
    ]
    pair = Pair(primary=nodes[0], standby=nodes[1])
    try:
        _start(pair.primary, namespace)
        hba = pair.primary.folder / "data" / "pg_hba.conf"
        with hba.open("a") as file:
            file.write(_CLIENTS)
        server_url = pair.primary.local_url.replace(f"/{DATABASE}?", "/postgres?")
        outside.rows(server_url, "SELECT pg_reload_conf()")
        postgres.make_database(server_url, DATABASE)
        _copy(pair.primary, pair.standby)
        _start(pair.standby, None)
        _wait_for_commits(pair, server_url)
        yield pair
    finally:
        for folder in folders:
            postgres.stop(folder)


def _start(node: Node, namespace: Namespace | None) -> None:
    postgres.start(
        node.folder,
        settings=(*_SETTINGS, f"listen_addresses={node.host}", f"port={node.port}"),
        namespace=None if namespace is None else namespace.name,
    )


def _copy(primary: Node, standby: Node) -> None:
    """A base backup that follows its primary, with the owner that the server needs."""
    subprocess.run(
        [
            *(postgres.client_programs() / "pg_basebackup", "--write-recovery-conf"),
            *("--checkpoint=fast", "--no-sync", f"--pgdata={standby.folder / 'data'}"),
            *("-d", f"host={primary.host} port={primary.port} user=hiatus"),
        ],
        check=True,
        capture_output=True,
        **postgres.account_of(standby.folder),
    )


def set_up(url: str, name: str, value: str) -> None:
    """Change a setting of a running server."""
    statement = sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.Identifier(name), value)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)
        connection.execute("SELECT pg_reload_conf()")


def _wait_for_commits(pair: Pair, server_url: str) -> None:
    """From here on a commit waits until the standby has it."""
    set_up(server_url, "synchronous_standby_names", "*")
    ends_at = time.monotonic() + _SECONDS
    query = "SELECT sync_state FROM pg_stat_replication"
    while outside.rows(server_url, query) != [("sync",)]:
        assert time.monotonic() < ends_at
        time.sleep(0.05)


@dataclass(frozen=True, kw_only=True, slots=True)
class Namespace:
    """A network of its own, with one cable to the machine; ``inside`` is its address there."""

    name: str
    inside: str
    device: str

    def cut(self) -> None:
        """From now on packets vanish: no RST, no ICMP message."""
        _ip("-n", self.name, "link", "set", "inside", "down")

    def heal(self) -> None:
        _ip("-n", self.name, "link", "set", "inside", "up")


def lacks_namespaces() -> str:
    """Why there are no network namespaces, as a sentence; "" if there are."""
    programs = [name for name in ("ip", "nsenter") if shutil.which(name) is None]
    if programs:
        return f"{programs[0]} is not installed: `apt-get install iproute2 util-linux` adds it."
    probe = f"hiatus-probe-{free_port()}"
    if subprocess.run(["ip", "netns", "add", probe], check=False, capture_output=True).returncode:
        return "Only root may add network namespaces."
    _ip("netns", "delete", probe)
    return ""


@contextmanager
def namespace() -> Iterator[Namespace]:
    # A network of four addresses that other runs at the same time do not use.
    number = free_port()
    base = f"10.{200 + (number >> 14)}.{(number >> 6) & 255}.{(number & 63) << 2}"
    prefix, _, last = base.rpartition(".")
    outside_address, inside = f"{prefix}.{int(last) + 1}", f"{prefix}.{int(last) + 2}"
    name = f"hiatus-{number}"
    device = f"hx{number}"
    _ip("netns", "add", name)
    try:
        _ip("link", "add", device, "type", "veth", "peer", "name", "inside", "netns", name)
        _ip("address", "add", f"{outside_address}/30", "dev", device)
        _ip("link", "set", device, "up")
        _ip("-n", name, "address", "add", f"{inside}/30", "dev", "inside")
        _ip("-n", name, "link", "set", "lo", "up")
        _ip("-n", name, "link", "set", "inside", "up")
        # Else the machine notices after seconds that nothing answers ARP, and says so at once.
        link = _ip("-n", name, "-o", "link", "show", "inside")
        hardware = link.split("link/ether ")[1].split()[0]
        _ip("neighbour", "replace", inside, "lladdr", hardware, "dev", device, "nud", "permanent")
        yield Namespace(name=name, inside=inside, device=device)
    finally:
        # Its devices go with it.
        _ip("netns", "delete", name)


def _ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout
