"""Working weeks: which halves of each weekday a person or organisation works."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from storage.base.errors import FieldError, InvalidInput, Sentence
from storage.rules.halves import AFTERNOON, MORNING, NOTHING, WHOLE_DAY

WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

# A mask for each weekday, Monday first, as ``date.weekday()``.
WorkingWeek = tuple[int, ...]

_HALF_SUFFIXES: Final = {"": WHOLE_DAY, ":am": MORNING, ":pm": AFTERNOON}
_SUFFIX_OF_MASK: Final = {mask: suffix for suffix, mask in _HALF_SUFFIXES.items()}
_WORKING_DAY: Final[Mapping[str, tuple[int, int]]] = {
    name + suffix: (weekday, mask)
    for weekday, name in enumerate(WEEKDAYS)
    for suffix, mask in _HALF_SUFFIXES.items()
}


def working_week(working_days: Sequence[str]) -> WorkingWeek:
    """The week of a list of working days.

    Expects a list from `check_working_days`; other words raise KeyError.
    """
    week = [NOTHING] * 7
    for entry in working_days:
        weekday, mask = _WORKING_DAY[entry]
        week[weekday] |= mask
    return tuple(week)


def check_working_days(working_days: Sequence[str], field: str = "working_days") -> tuple[str, ...]:
    """The normalised list: in week order, with both halves of a day as that day.

    ``friday:pm`` with ``friday:am`` becomes ``friday``. Raises InvalidInput with
    one error per wrong entry at ``/<field>/<index>`` (``unknown_working_day``,
    ``duplicate_working_day``), or at ``/<field>`` when the list is empty (``no_working_days``).
    """
    if not working_days:
        raise InvalidInput.of(field, "no_working_days", "Choose at least one working day.")
    week = [NOTHING] * 7
    errors: list[FieldError] = []
    for index, entry in enumerate(working_days):
        weekday, mask = _WORKING_DAY.get(entry, (0, NOTHING))
        if mask == NOTHING:
            code = "unknown_working_day"
            detail = Sentence(
                "{entry} is not a weekday. Use monday to sunday, or a half-day such as "
                "friday:am or friday:pm.",
                entry=repr(entry),
            )
        elif week[weekday] & mask:
            code = "duplicate_working_day"
            detail = Sentence("{entry} is listed twice.", entry=entry)
        else:
            week[weekday] |= mask
            continue
        errors.append(FieldError(pointer=f"/{field}/{index}", code=code, detail=detail))
    if errors:
        raise InvalidInput(errors)
    return tuple(
        name + _SUFFIX_OF_MASK[mask]
        for name, mask in zip(WEEKDAYS, week, strict=True)
        if mask != NOTHING
    )
