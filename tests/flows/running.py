"""Hiatus as its users start it: a process of its own, spoken to over HTTP, killed like one."""

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

from storage.base.secrets import new_secret_key

ROOT = Path(__file__).parents[2]
START_SECONDS = 90


class Deployment:
    """One database, its secret key and settings; processes come and go."""

    def __init__(self, database_url: str, **settings: str) -> None:
        self.env = {
            "PATH": os.environ["PATH"],
            "DATABASE_URL": database_url,
            "HIATUS_SECRET_KEYS": new_secret_key(),
            "HIATUS_RATE_LIMIT": "1000000/minute",
            **settings,
        }

    def command(self, *arguments: str) -> dict[str, Any]:
        """Run ``hiatus …`` to its end and read the JSON object that it prints."""
        done = subprocess.run(
            [sys.executable, "serve.py", *arguments],
            cwd=ROOT,
            env=self.env,
            capture_output=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr.decode()
        printed: dict[str, Any] = json.loads(done.stdout) if "--json" in arguments else {}
        return printed

    def init(self) -> dict[str, Any]:
        """``hiatus init`` of an organisation owned by Olive; gives its ids and key."""
        return self.command(
            *("init", "--name", "Acme", "--country", "GB-ENG", "--timezone", "Europe/London"),
            *("--owner-email", "olive@example.com", "--owner-name", "Olive Owner", "--json"),
        )

    @contextmanager
    def serving(self, *options: str, **settings: str) -> Iterator[Server]:
        """``hiatus serve`` on a free port, ready; stopped as an operator would if still alive."""
        server = Server(self.env | settings, *options)
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
        """By SIGTERM, if it still runs: the exit code and what it logged."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        return self.ended()

    def ended(self) -> tuple[int, str]:
        """Wait for its end: the exit code and what it logged."""
        _, logged = self._process.communicate(timeout=90)
        return self._process.returncode, logged.decode()


class Server:
    """One ``hiatus serve``."""

    def __init__(self, env: dict[str, str], *options: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._clients: list[httpx.Client] = []
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115  # closed by stop()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed by logged()
        self._log = ""
        self._process = subprocess.Popen(
            [sys.executable, "serve.py", "serve", "--port", str(self.port), *options],
            cwd=ROOT,
            env={"BASE_URL": self.url, **env},
            stdout=self._printed,
            # A file: a full pipe would stop a server that nobody reads from.
            stderr=self._errors,
        )

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
        """A client that sends the key; it is closed with the server."""
        client = httpx.Client(
            base_url=self.url, headers={"Authorization": f"Bearer {api_key}"}, timeout=20
        )
        self._clients.append(client)
        return client

    def kill(self) -> None:
        """As the kernel does when memory runs out: nothing is finished, nothing is said."""
        self._process.kill()
        self._process.wait()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def stop(self) -> int:
        """As an operator does, by SIGTERM; the exit code. What was logged stays readable."""
        for client in self._clients:
            client.close()
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(90)
        self._printed.close()
        self.logged()
        return code

    def printed(self) -> str:
        """What it has said on standard output so far."""
        self._printed.seek(0)
        return self._printed.read().decode()

    def logged(self) -> str:
        """Everything on standard error, once the process has ended."""
        if not self._errors.closed:
            self._errors.seek(0)
            self._log = self._errors.read().decode()
            self._errors.close()
        return self._log


def free_port() -> int:
    """A port on which nothing listens just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
