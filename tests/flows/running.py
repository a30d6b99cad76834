"""Hiatus in its own process, as its operators start it, reached over HTTP."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from click.testing import CliRunner

import serve
from storage.base.secrets import new_secret_key

ROOT = Path(__file__).parents[2]
START_SECONDS = 90
_given_ports: set[int] = set()
INIT = (
    *("init", "--name", "Acme", "--country", "GB-ENG", "--timezone", "Europe/London"),
    *("--owner-email", "olive@example.com", "--owner-name", "Olive Owner", "--json"),
)


class Deployment:
    """One database with its secret key and settings, for any number of processes."""

    def __init__(self, database_url: str, **settings: str) -> None:
        self.env = {
            "PATH": os.environ["PATH"],
            "DATABASE_URL": database_url,
            "HIATUS_SECRET_KEYS": new_secret_key(),
            "HIATUS_RATE_LIMIT": "1000000/minute",
            "HIATUS_FEED_RATE_LIMIT": "1000000/minute",
            **settings,
        }

    def command(self, *arguments: str) -> dict[str, Any]:
        """Run ``hiatus …`` in this process, and parse the JSON object that it prints."""
        done = CliRunner().invoke(serve.command_line(self.env), arguments)
        assert done.exit_code == 0, done.output
        printed: dict[str, Any] = json.loads(done.stdout) if "--json" in arguments else {}
        return printed

    def init(self) -> dict[str, Any]:
        """Run ``hiatus init`` with Olive as the owner; the ids and the key that it prints."""
        return self.command(*INIT)

    @contextmanager
    def serving(self, *options: str, release: Path = ROOT, **settings: str) -> Iterator[Server]:
        """``hiatus serve`` on a free port, ready; stopped as an operator would if still alive.

        ``release``: the source tree to run it from.
        """
        server = Server(self.env | settings, *options, release=release)
        try:
            server.wait_until_ready()
            yield server
        finally:
            server.stop()


class Bot:
    """One ``hiatus bot``."""

    def __init__(self, env: dict[str, str], *options: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "serve.py", "bot", *options],
            cwd=ROOT,
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def stop(self) -> tuple[int, str]:
        """Send SIGTERM if it still runs; the exit code and what it logged."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        return self.ended()

    def ended(self) -> tuple[int, str]:
        """Wait until it ends; the exit code and what it logged."""
        _, logged = self._process.communicate(timeout=90)
        return self._process.returncode, logged.decode()


class Server:
    """One ``hiatus serve``."""

    def __init__(self, env: dict[str, str], *options: str, release: Path = ROOT) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._clients: list[httpx.Client] = []
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115  # closed by stop()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed by logged()
        self._log = ""
        self._process = subprocess.Popen(
            [sys.executable, "serve.py", "serve", "--port", str(self.port), *options],
            cwd=release,
            env={"BASE_URL": self.url, **env},
            stdout=self._printed,
            # A file: a full pipe would block the server.
            stderr=self._errors,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            try:
                if httpx.get(f"{self.url}/readyz").status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.05)
        self.kill()
        raise AssertionError(self.logged())

    def client(self, api_key: str) -> httpx.Client:
        """A client that sends the key and is closed with the server."""
        client = httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {api_key}"},
            timeout=20,
            # Sooner than the server closes an idle connection: a request could meet its end.
            limits=httpx.Limits(keepalive_expiry=3),
        )
        self._clients.append(client)
        return client

    def kill(self) -> None:
        """SIGKILL: the process finishes and logs nothing."""
        self._process.kill()
        self._process.wait()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def stop(self) -> int:
        """Send SIGTERM as an operator does; the exit code. ``logged`` can still be called."""
        for client in self._clients:
            client.close()
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(90)
        self._printed.close()
        self.logged()
        return code

    def printed(self) -> str:
        """Standard output so far."""
        self._printed.seek(0)
        return self._printed.read().decode()

    def logged(self) -> str:
        """Standard error, once the process has ended."""
        if not self._errors.closed:
            self._errors.seek(0)
            self._log = self._errors.read().decode()
            self._errors.close()
        return self._log


def free_port() -> int:
    """A port on which nothing listens at the moment, and that was not given before.

    The system may offer a port again as soon as it is closed, also to the next call.
    """
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        if port not in _given_ports:
            _given_ports.add(port)
            return port
