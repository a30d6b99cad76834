"""What a change would do to leave and to people, told beforehand: the answer of a dry run."""

from __future__ import annotations

from typing import NamedTuple

from storage.values import LeaveEffect


class Effects(NamedTuple):
    """Everything that follows from a change; ``leave`` is by first day.

    ``chosen_country_code`` is the country that is being chosen, None where none is.
    """

    leave: tuple[LeaveEffect, ...] = ()
    chosen_country_code: str | None = None
