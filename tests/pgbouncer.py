"""A PgBouncer in transaction mode before a PostgreSQL, for tests; from the system's packages."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests import postgres
from tests.flows.running import free_port

# Debian installs it where only root looks for programs.
PROGRAM: Final = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
SERVER_CONNECTIONS: Final = 4

_START_SECONDS: Final = 30
_SETTINGS: Final = """
[databases]
* = host={host} user=hiatus

[pgbouncer]
pool_mode = {pool_mode}
default_pool_size = {size}
max_client_conn = 500
auth_type = any
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
"""


class PgBouncer:
    """Leads every database of the server through at most ``size`` connections; not yet started."""

    def __init__(
        self,
        server: postgres.Server,
        *,
        size: int = SERVER_CONNECTIONS,
        pool_mode: str = "transaction",
    ) -> None:
        self._port = free_port()
        self._folder = Path(tempfile.mkdtemp(prefix="hiatus-pgbouncer-"))
        # It refuses to run as root, as PostgreSQL does.
        self._account = postgres.account_of(self._folder)
        self._settings = self._folder / "pgbouncer.ini"
        self._settings.write_text(
            _SETTINGS.format(host=server.folder, pool_mode=pool_mode, size=size, port=self._port)
        )
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, database: str) -> str:
        return f"postgresql://hiatus@127.0.0.1:{self._port}/{database}"

    def start(self) -> None:
        """Start it, again after ``kill``. Raises RuntimeError with its log if it does not start."""
        assert PROGRAM is not None
        log = self._folder / "log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [PROGRAM, self._settings],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                **self._account,
            )
        ends_at = time.monotonic() + _START_SECONDS
        while self._process.poll() is None and time.monotonic() < ends_at:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), 1):
                return
            time.sleep(0.01)
        raise RuntimeError(f"PgBouncer does not start:\n{log.read_text()}")

    def kill(self) -> None:
        """SIGKILL: every connection through it ends."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        if self._process is not None:
            self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
