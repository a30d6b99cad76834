"""The Procfile's lines as a buildpack or a process manager runs them: a source tree, no package."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.flows.running import ROOT, START_SECONDS, free_port

pytestmark = pytest.mark.slow

_ENDS_AT_ONCE_SECONDS = 60


class SourceTree:
    """A copy of the sources, and a ``python`` that has the dependencies but no hiatus."""

    def __init__(self, folder: Path, database_url: str) -> None:
        self.folder = folder / "app"
        for name in ("api", "bot", "playground", "storage"):
            shutil.copytree(ROOT / name, self.folder / name)
        for name in ("serve.py", "Procfile"):
            shutil.copy(ROOT / name, self.folder / name)
        dependencies = folder / "dependencies"
        dependencies.mkdir()
        for path in Path(httpx.__file__).parents[1].iterdir():
            if "hiatus" not in path.name:
                (dependencies / path.name).symlink_to(path)
        python = folder / "bin" / "python"
        python.parent.mkdir()
        # -S: only packages on PYTHONPATH can be imported.
        python.write_text(f'#!/bin/sh\nexec "{Path(sys.executable).resolve()}" -S "$@"\n')
        python.chmod(0o755)
        self.env = {
            "PATH": f"{python.parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(dependencies),
            "DATABASE_URL": database_url,
        }

    def line(self, name: str) -> str:
        """The command of one kind of process."""
        lines = (self.folder / "Procfile").read_text().splitlines()
        return next(line.partition(": ")[2] for line in lines if line.startswith(f"{name}: "))

    def run(self, command: str, **settings: str) -> tuple[int, str]:
        """Run it to its end: the exit code and the text on standard error."""
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.folder,
            env=self.env | settings,
            capture_output=True,
            timeout=_ENDS_AT_ONCE_SECONDS,
            check=False,
        )
        return done.returncode, done.stderr.decode()

    @contextmanager
    def running(self, command: str, **settings: str) -> Iterator[subprocess.Popen[bytes]]:
        """The process, killed at the end if it still runs then."""
        with (self.folder / "log").open("wb") as log:
            process = subprocess.Popen(
                ["/bin/sh", "-c", f"exec {command}"],
                cwd=self.folder,
                env=self.env | settings,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def logged(self) -> str:
        return (self.folder / "log").read_text()


@pytest.fixture
def tree(tmp_path: Path, sqlite_url: str) -> SourceTree:
    return SourceTree(tmp_path, sqlite_url)


def test_the_web_line_serves_under_the_address_that_the_platform_states(tree: SourceTree) -> None:
    port = str(free_port())
    command = tree.line("web").replace("0.0.0.0", "127.0.0.1")
    platform = {"RENDER_EXTERNAL_URL": "https://leave.onrender.com", "PORT": port}
    assert tree.run(tree.line("release"))[0] == 0

    with tree.running(command, **platform) as web:
        response = get_once_up(f"http://127.0.0.1:{port}/no-such-path")
        metrics = httpx.get(f"http://127.0.0.1:{port}/metrics").text
        web.send_signal(signal.SIGTERM)
        code = web.wait(60)

    assert response.json()["type"] == "https://leave.onrender.com/docs/errors#not_found"
    assert 'hiatus_build_info{commit="' in metrics
    assert code == 0


def test_the_web_line_without_an_address_ends_with_a_sentence(tree: SourceTree) -> None:
    code, message = tree.run(tree.line("web"), PORT="8123")

    assert code == 1
    assert message == (
        "BASE_URL is missing. With --host 0.0.0.0, set it to the public address of Hiatus, such as "
        "https://hiatus.example.com.\n"
    )


def test_the_bot_line_without_slack_stays_until_it_is_stopped(tree: SourceTree) -> None:
    # Process managers stop every process as soon as one ends.
    with tree.running(tree.line("bot")) as bot:
        wait_until(lambda: "idle until stopped" in tree.logged())
        assert bot.poll() is None
        bot.send_signal(signal.SIGTERM)
        code = bot.wait(60)

    assert code == 0
    assert tree.logged().count("\n") == 1


def test_the_bot_command_without_slack_ends_with_a_sentence(tree: SourceTree) -> None:
    code, message = tree.run("python -m serve bot")

    assert (code, message) == (1, "HIATUS_SLACK_APP_TOKEN is missing: Socket Mode needs it.\n")


def get_once_up(url: str) -> httpx.Response:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return httpx.get(url)
        except httpx.TransportError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.1)
