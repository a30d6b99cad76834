"""An HAProxy in front of two PostgreSQL servers, for tests; from the system's packages.

It asks each server's Patroni which one is the primary; ``Leaders`` answers in Patroni's place.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from tests.flows.running import free_port
from tests.replication import DATABASE, Node, Pair

# Debian installs it where only root looks for programs.
PROGRAM: Final = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")

_START_SECONDS: Final = 30
# As docs/operations/failover.md has it, with checks that are four times as frequent.
_SETTINGS: Final = """
global
    maxconn 400
defaults
    mode tcp
    timeout connect 4s
    timeout client 30m
    timeout server 30m
    timeout check 2s
listen primary
    bind 127.0.0.1:{port}
    option httpchk OPTIONS /primary
    http-check expect status 200
    default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
"""


class Leaders:
    """What two Patronis answer: ``/primary`` of the ``leader`` is 200, that of the other 503."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.leader: Node | None = nodes[0]
        self.refusals = 0
        self._servers = [ThreadingHTTPServer(("127.0.0.1", 0), self._handler(n)) for n in nodes]
        self.ports = [server.server_address[1] for server in self._servers]

    def start(self) -> None:
        for server in self._servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def _handler(self, node: Node) -> type[BaseHTTPRequestHandler]:
        leaders = self

        class Handler(BaseHTTPRequestHandler):
            def do_OPTIONS(self) -> None:
                leads = leaders.leader == node
                leaders.refusals += not leads
                self.send_response(200 if leads else 503)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


@contextmanager
def running(pair: Pair) -> Iterator[tuple[str, Leaders]]:
    """The URL that leads through HAProxy to the leader, and who that is."""
    assert PROGRAM is not None
    leaders = Leaders([pair.primary, pair.standby])
    leaders.start()
    port = free_port()
    folder = Path(tempfile.mkdtemp(prefix="hiatus-haproxy-"))
    servers = [
        f"    server db{number} {node.host}:{node.port} check port {check_port}\n"
        for number, (node, check_port) in enumerate(
            zip((pair.primary, pair.standby), leaders.ports, strict=True), start=1
        )
    ]
    settings = folder / "haproxy.cfg"
    settings.write_text(_SETTINGS.format(port=port) + "".join(servers))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([PROGRAM, "-db", "-f", settings], stdout=log, stderr=log)
    try:
        ends_at = time.monotonic() + _START_SECONDS
        # Until the second check it takes the standby for a primary as well.
        while leaders.refusals < 3:
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < ends_at
            time.sleep(0.01)
        yield f"postgresql://hiatus@127.0.0.1:{port}/{DATABASE}?sslmode=disable", leaders
    finally:
        process.kill()
        process.wait()
        leaders.stop()
        shutil.rmtree(folder, ignore_errors=True)
