"""What a process imports at its start."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", ["greenlet", "pygments", "rich"])
def test_what_libraries_import_if_it_is_there_is_not_installed(name: str) -> None:
    locked = (ROOT / "requirements.txt").read_text(encoding="utf-8")

    assert f"\n{name}==" not in locked
