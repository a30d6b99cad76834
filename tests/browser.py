"""A headless Chromium for tests: that of an npm package, else that of the machine.

The package's is a build for Linux on x86-64 with all the libraries that it needs; elsewhere
CHROME_PATH or one of the usual names on PATH has to lead to a browser.
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, sync_playwright

from tests import javascript

_UNPACKED: Final = javascript.FOLDER / "node_modules" / ".chromium"
_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NONE_FOUND: Final = (
    "no Chromium: the npm package carries one for Linux on x86-64 only; set CHROME_PATH, or put "
    "chromium or google-chrome on PATH"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Chromium:
    """A program and its environment variables."""

    program: str
    env: dict[str, str | float | bool]


def find() -> Chromium | None:
    """A Chromium to run, None where there is none. Raises javascript.NotInstalled."""
    named = os.environ.get("CHROME_PATH")
    if named:
        return Chromium(program=named, env={**os.environ})
    if sys.platform == "linux" and platform.machine() == "x86_64":
        return _of_package()
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    return None if program is None else Chromium(program=program, env={**os.environ})


def _of_package() -> Chromium:
    javascript.install()
    folder = _UNPACKED
    done = folder / ".unpacked"
    # Beside the folder: several processes may start at once, and the first unpacks.
    with Path(f"{folder}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.is_file():
            shutil.rmtree(folder, ignore_errors=True)
            result = javascript.node("unpack-chromium.mjs", str(folder))
            assert result.returncode == 0, result.stderr
            done.write_text(result.stdout.strip())
    return Chromium(
        program=done.read_text(),
        env={
            **os.environ,
            "LD_LIBRARY_PATH": str(folder / "al2023" / "lib"),
            "FONTCONFIG_PATH": str(folder / "fonts"),
        },
    )


@contextmanager
def launched(chromium: Chromium) -> Iterator[Browser]:
    """A browser without a window, closed at the end."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.program,
            env=chromium.env,
            # Root cannot use the sandbox in a container; the browser opens the tests' pages only.
            args=["--no-sandbox", "--no-zygote"],
        )
        try:
            yield browser
        finally:
            browser.close()
