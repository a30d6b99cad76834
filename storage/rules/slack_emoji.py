"""The emoji that every Slack workspace has, by short name.

A workspace's custom emoji are not included: listing them needs a scope that Hiatus does not
request.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

_NAMES_FILE: Final = Path(__file__).with_suffix(".txt")


def is_standard(short_name: str) -> bool:
    """Whether Slack shows this name as an emoji; a skin tone may follow the name."""
    return short_name.partition("::")[0] in _names()


@cache
def _names() -> frozenset[str]:
    lines = _NAMES_FILE.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))
