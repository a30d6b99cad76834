"""One letter for each leave type, for calendars that have room for no more."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping
from typing import Final

from storage.base.values import LeaveType

# For leave whose type is hidden from the viewer. No type has this letter.
HIDDEN: Final = "●"
_OTHERS: Final = string.ascii_uppercase + string.digits


def letters(leave_types: Iterable[LeaveType]) -> Mapping[str, str]:
    """By the types' ids: the first letter of each name that no earlier type has.

    Older types choose first. Private types choose last: otherwise a missing letter would reveal
    that a private type exists.
    """
    chosen: dict[str, str] = {}
    for leave_type in sorted(leave_types, key=lambda each: (each.is_private, each.id)):
        taken = set(chosen.values())
        own = [letter for letter in leave_type.name.upper() if letter.isalnum()]
        free = (letter for letter in (*own, *_OTHERS) if letter not in taken)
        chosen[leave_type.id] = next(free, own[0] if own else "?")
    return chosen
