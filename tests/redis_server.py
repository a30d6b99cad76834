"""A Redis on a loopback port, for drills; from the system's packages. It stores nothing on disk."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from tests.flows.running import free_port

PROGRAM: Final = shutil.which("redis-server") or shutil.which("valkey-server")
MISSING: Final = "Redis is not installed: `apt-get install redis-server` or its like adds it."

_START_SECONDS: Final = 30


class RedisServer:
    """Started; ``close`` ends it."""

    def __init__(self, *options: str) -> None:
        self.port = free_port()
        self._folder = Path(tempfile.mkdtemp(prefix="hiatus-redis-"))
        self._options = options
        self.start()

    def url(self, password: str = "") -> str:
        login = f":{password}@" if password else ""
        return f"redis://{login}127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it empty, again after ``kill``. Raises RuntimeError if it does not start."""
        assert PROGRAM is not None
        log = self._folder / "log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [
                    *(PROGRAM, "--port", str(self.port), "--bind", "127.0.0.1"),
                    *("--save", "", "--appendonly", "no", *self._options),
                ],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        ends_at = time.monotonic() + _START_SECONDS
        while self._process.poll() is None and time.monotonic() < ends_at:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.01)
        raise RuntimeError(f"Redis does not start:\n{log.read_text()}")

    def command(self, *words: str) -> None:
        """Run one command, which must succeed, without a password."""
        parts = [b"$%d\r\n%s\r\n" % (len(word), word.encode()) for word in words]
        with socket.create_connection(("127.0.0.1", self.port), _START_SECONDS) as connection:
            connection.sendall(b"*%d\r\n%s" % (len(parts), b"".join(parts)))
            assert connection.recv(1024)[:1] in (b"+", b":")

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """It accepts connections and answers nothing until the block ends."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL: connections end, and what it counted is lost."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
