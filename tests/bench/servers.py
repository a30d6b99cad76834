"""The servers that are measured, each a process of its own on a free port of 127.0.0.1."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from storage.base.values import as_dict
from tests import postgres
from tests.bench.bare import Ready
from tests.flows.running import free_port

ROOT = Path(__file__).parents[2]
_START_SECONDS = 30
_STOP_SECONDS = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    port: int
    pid: int

    def resident_megabytes(self) -> float:
        """The resident memory in units of 1,000,000 bytes; 0 without /proc."""
        try:
            pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        except FileNotFoundError:
            return 0.0
        return pages * os.sysconf("SC_PAGE_SIZE") / 1_000_000

    def cpu_seconds(self) -> float:
        """The processor time used so far; 0 without /proc."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except FileNotFoundError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def empty_database(engine: str, folder: Path, name: str) -> Iterator[str]:
    """The URL of a new database that survives a power cut, on a server of its own."""
    if engine == "sqlite":
        yield f"sqlite:///{folder / f'{name}.db'}"
        return
    server = postgres.start(durable=True)
    try:
        yield postgres.make_database(server.url, name)
    finally:
        server.stop()


@contextmanager
def bare(responses: Sequence[Ready], folder: Path) -> Iterator[Server]:
    file = folder / "bare.json"
    file.write_text(json.dumps([as_dict(response) for response in responses]))
    port = free_port()
    command = ["-m", "tests.bench.bare", str(port), str(file)]
    with _running(command, {}, port, folder / "bare.log") as server:
        yield server


@contextmanager
def receiver(folder: Path) -> Iterator[Server]:
    port = free_port()
    command = ["-m", "tests.bench.receiving", str(port)]
    with _running(command, {}, port, folder / "receiver.log") as server:
        yield server


@contextmanager
def hiatus(url: str, secret_key: str, folder: Path, name: str, **more: str) -> Iterator[Server]:
    """``hiatus serve``, with nothing sent out and without rate limits. ``more`` are settings."""
    port = free_port()
    settings = {
        "DATABASE_URL": url,
        "HIATUS_SECRET_KEYS": secret_key,
        "HIATUS_SCHEDULER": "off",
        "HIATUS_RATE_LIMIT": "1000000000/minute",
        "HIATUS_FEED_RATE_LIMIT": "1000000000/minute",
        "BASE_URL": f"http://127.0.0.1:{port}",
        **more,
    }
    command = ["-m", "serve", "serve", "--port", str(port)]
    with _running(command, settings, port, folder / f"{name}.log") as server:
        yield server


@contextmanager
def _running(
    arguments: Sequence[str], settings: Mapping[str, str], port: int, log: Path
) -> Iterator[Server]:
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    with log.open("wb") as lines:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={**environment, **settings},
            stdin=subprocess.DEVNULL,
            stdout=lines,
            stderr=lines,
        )
        try:
            _wait_until_open(port, process, log)
            yield Server(port=port, pid=process.pid)
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_until_open(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.005)
    raise RuntimeError(f"A server does not start:\n{log.read_text()}")
