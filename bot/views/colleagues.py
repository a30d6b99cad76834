"""Who else is off: one way to say it, for forms and cards. Plain text, nothing escaped."""

from __future__ import annotations

from collections.abc import Sequence

from bot.base.language import gettext, ngettext
from bot.views import text, words
from storage.directory.colleagues import ColleagueOff


def lines(shown: Sequence[ColleagueOff], count: int, pending: int = 0) -> list[str]:
    """A heading, a line for each, and how many are not shown of the ``count``.

    ``pending``: how many requests are to be mentioned without a name.
    """
    more = count - len(shown)
    rest = [ngettext("… and {count} more", "… and {count} more", more)] if more > 0 else []
    if pending > 0:
        rest.append("• " + ngettext("{count} pending request", "{count} pending requests", pending))
    return [gettext("Also off:"), *map(_line, shown), *rest]


def _line(one: ColleagueOff) -> str:
    when = words.span(one.start_date, one.end_date, one.start_half_day, one.end_half_day)
    what = gettext("Away") if one.type_name is None else text.cut(one.type_name, text.LONGEST_NAME)
    if one.is_pending:
        what = gettext("{leave_type}, pending", leave_type=what)
    return f"• {text.cut(one.name, text.LONGEST_NAME)}: {when} ({what})"
