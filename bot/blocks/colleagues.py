"""The list of colleagues who are off, for forms and cards; plain text, not escaped."""

from __future__ import annotations

from collections.abc import Sequence

from bot.base.language import gettext, ngettext
from bot.blocks import text, words
from storage.directory.colleagues import ColleagueOff


def lines(shown: Sequence[ColleagueOff], count: int, pending: int = 0) -> list[str]:
    """A heading, a line for each, and the number of the ``count`` that is not shown.

    ``pending`` is the number of pending requests, which are shown without names.
    """
    more = count - len(shown)
    rest = [ngettext("… and {count} more", "… and {count} more", more)] if more > 0 else []
    if pending > 0:
        rest.append("• " + ngettext("{count} pending request", "{count} pending requests", pending))
    return [gettext("Also off:"), *(f"• {line(colleague)}" for colleague in shown), *rest]


def first(shown: Sequence[ColleagueOff], count: int) -> str:
    """The first in one line, and how many more there are."""
    also_off = gettext("Also off: {colleague}", colleague=line(shown[0]))
    more = count - 1
    if more < 1:
        return also_off
    return ngettext(
        "{also_off}, and {count} more", "{also_off}, and {count} more", more, also_off=also_off
    )


def line(colleague: ColleagueOff) -> str:
    """Name, dates and type of one, and whether the leave is pending."""
    when = words.span(
        colleague.start_date, colleague.end_date, colleague.start_half_day, colleague.end_half_day
    )
    what = (
        gettext("Away")
        if colleague.type_name is None
        else text.cut(colleague.type_name, text.MAX_NAME)
    )
    if colleague.is_pending:
        what = gettext("{leave_type}, pending", leave_type=what)
    return f"{text.cut(colleague.name, text.MAX_NAME)}: {when} ({what})"
