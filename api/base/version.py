"""The version of Hiatus, which pyproject.toml reads from here, and the commit of its code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

VERSION: Final = "1.0.0"

UNKNOWN: Final = "unknown"
# Beside this file in wheels, where api/base/wheel.py writes it.
COMMIT_FILE: Final = "commit.txt"
# `git archive` fills it in (.gitattributes).
_OF_ARCHIVE: Final = "$Format:%H$"
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def commit() -> str:
    """The commit of the running code, 40 hexadecimal digits; "unknown" if nothing says it."""
    here = Path(__file__)
    for found in (_read(here.with_name(COMMIT_FILE)), _OF_ARCHIVE):
        if _COMMIT.fullmatch(found):
            return found
    return commit_of_checkout(here.parents[2])


def commit_of_checkout(folder: Path) -> str:
    """The commit that is checked out there; "unknown" if it is no checkout of Git."""
    git = folder / ".git"
    if git.is_file():
        # A worktree: "gitdir: /path/to/.git/worktrees/name".
        git = folder / _read(git).removeprefix("gitdir: ")
    common = git / (_read(git / "commondir") or ".")
    head = _read(git / "HEAD")
    if head.startswith("ref: "):
        name = head.removeprefix("ref: ")
        packed = re.search(rf"^(\w+) {re.escape(name)}$", _read(common / "packed-refs"), re.M)
        head = _read(common / name) or (packed[1] if packed else "")
    return head if _COMMIT.fullmatch(head) else UNKNOWN


def _read(path: Path) -> str:
    """The text of a small file; "" if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
