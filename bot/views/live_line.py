"""The live part of the request form: total, balances, colleagues and approvers."""

from __future__ import annotations

from collections.abc import Sequence

from bot.base import ids
from bot.base.block_kit import Block
from bot.base.language import gettext, ngettext
from bot.blocks import colleagues, text, words
from storage.leave.previews import Preview
from storage.rules.day_lines import DayLine

# Further non-working days are only counted.
_MAX_DAYS_NAMED = 4
_MAX_PROBLEMS = 5


def blocks(preview: Preview | None, problems: Sequence[str]) -> list[Block]:
    """The total, who else is off, and the approvers.

    ``preview`` is None while no leave type is chosen. ``problems`` are the reasons why the request
    would be refused.
    """
    if preview is None:
        return [_paragraph([gettext("Choose a leave type to see the total.")])]
    refused = [f"⚠️ {text.cut(problem, 500)}" for problem in problems[:_MAX_PROBLEMS]]
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
    figures += [text.escaped(line) for line in _not_counted(preview.lines)]
    if preview.leave_type is not None and preview.leave_type.deducts_allowance:
        figures += [
            words.left(change.after_half_days, change.year.name) for change in preview.years
        ]
    else:
        figures.append(gettext("This type doesn't use your allowance."))
    return figures


def _not_counted(lines: Sequence[DayLine]) -> list[str]:
    """Lines for the days that count less than a whole day, by reason."""
    reasons = []
    off = [words.short_day(day.date) for day in lines if day.reason == "not_worked"]
    if off:
        reasons.append(gettext("Non-working days: {days}", days=_few(off)))
    half = [words.short_day(day.date) for day in lines if day.reason == "half_worked"]
    if half:
        reasons.append(gettext("Half working days: {days}", days=_few(half)))
    holidays = [day for day in lines if day.reason == "public_holiday"]
    if holidays:
        named = [
            f"{words.short_day(day.date)} ({text.cut(day.holiday_name or '', text.MAX_NAME)})"
            for day in holidays
        ]
        reasons.append(gettext("Public holidays: {days}", days=_few(named)))
    return reasons


def _few(days: Sequence[str]) -> str:
    shown = list(days[:_MAX_DAYS_NAMED])
    more = len(days) - len(shown)
    if more:
        shown.append(ngettext("{count} more day", "{count} more days", more))
    return ", ".join(shown)


def _what_happens(preview: Preview) -> str:
    if preview.approved_because == "no_approval_needed":
        return gettext("No approval needed: it's approved as soon as you send it.")
    if preview.approved_because == "nobody_could_approve":
        return gettext("No one else can approve it, so it's approved as soon as you send it.")
    names = [text.cut(user.name, text.MAX_NAME) for user in preview.approvers]
    if not names:
        return gettext("This will be sent for approval.")
    return gettext("This will go to {names} for approval.", names=words.names(names))


def _skipped(preview: Preview) -> str:
    """The approvers who are skipped because they cannot be reached yet."""
    names = [text.cut(user.name or user.email, text.MAX_NAME) for user in preview.unreachable]
    return gettext(
        "Skipped: {names}. They haven't used Hiatus yet, and I don't know their Slack account.",
        names=words.names(names),
    )
