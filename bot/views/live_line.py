"""The line under the dates of the form: what the leave comes to, as ``previews.preview`` says."""

from __future__ import annotations

from collections.abc import Sequence

from bot.base import ids
from bot.base.block_kit import Block
from bot.base.language import gettext, ngettext
from bot.views import colleagues, text, words
from storage.leave.previews import Preview
from storage.rules.day_lines import DayLine

# Further days that do not count are only counted.
_MOST_DAYS_NAMED = 4
_MOST_PROBLEMS = 5


def blocks(preview: Preview | None, problems: Sequence[str]) -> list[Block]:
    """One paragraph, who else is off, and what happens on sending.

    ``preview`` is None while there is no type to count with. ``problems`` are sentences that say
    why it could not be sent as it is.
    """
    if preview is None:
        return [_paragraph([gettext("Choose a leave type to see the total.")])]
    refused = [f"⚠️ {text.cut(one, 500)}" for one in problems[:_MOST_PROBLEMS]]
    if preview.leave_type is None:
        return [_plain(refused or [gettext("These days can't be counted.")], ids.LIVE)]
    shown = [_plain(refused, ids.PROBLEMS)] if refused else []
    shown.append(_paragraph(_figures(preview)))
    if preview.colleagues or preview.pending_colleagues_count:
        lines = colleagues.lines(
            preview.colleagues, preview.colleagues_count, preview.pending_colleagues_count
        )
        shown.append(_plain(lines, ids.OFF))
    else:
        shown.append(text.quiet(gettext("No one else on your team is off.")))
    shown.append(text.quiet(text.escaped(_what_happens(preview))))
    if preview.unreachable:
        shown.append(text.quiet(text.escaped(_skipped(preview))))
    return shown


def _plain(lines: Sequence[str], block_id: str) -> Block:
    block = text.paragraph("\n".join(lines))
    return {"block_id": block_id, **block}


def _paragraph(lines: Sequence[str]) -> Block:
    return {"block_id": ids.LIVE, **text.section("\n".join(lines))}


def _figures(preview: Preview) -> list[str]:
    first, last = preview.lines[0].date, preview.lines[-1].date
    when = words.short_day(first)
    if first != last:
        when = gettext("{first} to {last}", first=when, last=words.short_day(last))
    figures = [f"*{words.amount(preview.total_half_days)}* ({when})"]
    figures += [text.escaped(one) for one in _not_counted(preview.lines)]
    if preview.leave_type is not None and preview.leave_type.deducts_allowance:
        figures += [words.left(one.after_half_days, one.year.name) for one in preview.years]
    else:
        figures.append(gettext("This type doesn't use your allowance."))
    return figures


def _not_counted(lines: Sequence[DayLine]) -> list[str]:
    """Which days count less than was asked of them, and why."""
    said = []
    off = [words.short_day(one.date) for one in lines if one.reason == "not_worked"]
    if off:
        said.append(gettext("Non-working days: {days}", days=_named(off)))
    half = [words.short_day(one.date) for one in lines if one.reason == "half_worked"]
    if half:
        said.append(gettext("Half working days: {days}", days=_named(half)))
    holidays = [one for one in lines if one.reason == "public_holiday"]
    if holidays:
        named = [
            f"{words.short_day(one.date)} ({text.cut(one.holiday_name or '', text.LONGEST_NAME)})"
            for one in holidays
        ]
        said.append(gettext("Public holidays: {days}", days=_named(named)))
    return said


def _named(days: Sequence[str]) -> str:
    shown = list(days[:_MOST_DAYS_NAMED])
    more = len(days) - len(shown)
    if more:
        shown.append(ngettext("{count} more day", "{count} more days", more))
    return ", ".join(shown)


def _what_happens(preview: Preview) -> str:
    if preview.approved_because == "no_approval_needed":
        return gettext("No approval needed: it's approved as soon as you send it.")
    if preview.approved_because == "nobody_could_approve":
        return gettext("No one else can approve it, so it's approved as soon as you send it.")
    asked = [text.cut(one.name, text.LONGEST_NAME) for one in preview.approvers]
    if not asked:
        return gettext("This will be sent for approval.")
    return gettext("This will go to {names} for approval.", names=words.names(asked))


def _skipped(preview: Preview) -> str:
    """Why the request skips people who would be asked first."""
    names = [text.cut(one.name or one.email, text.LONGEST_NAME) for one in preview.unreachable]
    return gettext(
        "Skipped: {names}. They haven't used Hiatus yet, and I don't know their Slack account.",
        names=words.names(names),
    )
