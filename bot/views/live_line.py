"""The live part of the request form: total, balances, colleagues and approvers."""

from __future__ import annotations

from collections.abc import Sequence

from bot.base import ids
from bot.base.block_kit import Block
from bot.base.language import gettext
from bot.blocks import layout, words
from storage.leave.previews import Preview, YearChange
from storage.rules.counted_days import DayLine
from storage.rules.free_days import Bridge


def blocks(
    preview: Preview | None,
    warnings: Sequence[str] = (),
    *,
    can_send: bool = True,
    is_own: bool = True,
    replaced_dates: str | None = None,
) -> list[Block]:
    """The total, who else is off, and the approvers; who is asked only if it can be sent.

    ``preview`` is None while a leave type or a day is missing. ``warnings`` are what else to
    consider. ``is_own``: it is the reader's own leave. ``replaced_dates`` are of other leave of the
    person, of which it replaces days.
    """
    if preview is None and is_own:
        return [_paragraph([gettext("Choose a leave type and days to see the total.")])]
    if preview is None:
        return [_paragraph([gettext("Choose a person, a leave type and days to see the total.")])]
    if preview.leave_type is None:
        return []
    shown: list[Block] = []
    lines = figures(preview, is_own)
    if replaced_dates is not None:
        lines.append(
            gettext(
                "Replaces days of other leave ({dates}). They get these days back.",
                dates=replaced_dates,
            )
        )
    shown.append(_paragraph(lines))
    if preview.bridge is not None:
        shown.append(layout.quiet(_bridge(preview.bridge)))
    shown += [
        layout.alert(warning, f"{ids.WARNINGS}.{index}", "info")
        for index, warning in enumerate(warnings)
    ]
    if preview.colleagues or preview.pending_colleagues_count:
        lines = words.colleagues_off(
            preview.colleagues, preview.colleagues_count, preview.pending_colleagues_count
        )
        shown.append(_plain(lines, ids.OFF))
    else:
        shown.append(layout.quiet(_no_one_off(is_own)))
    if not can_send:
        return shown
    shown.append(layout.quiet(layout.escaped(what_happens(preview))))
    if preview.unreachable:
        shown.append(layout.quiet(layout.escaped(_skipped(preview))))
    return shown


def _bridge(bridge: Bridge) -> str:
    return "💡 " + gettext(
        "{holiday} is a public holiday. Add {day} for {amount} off in a row.",
        holiday=words.short_day(bridge.holiday),
        day=words.short_day(bridge.day),
        amount=words.amount(2 * bridge.days_off),
    )


def _no_one_off(is_own: bool) -> str:
    if is_own:
        return gettext("No one else on your team is off.")
    return gettext("No one else on their team is off.")


def _plain(lines: Sequence[str], block_id: str) -> Block:
    block = layout.paragraph("\n".join(lines))
    return {"block_id": block_id, **block}


def _paragraph(lines: Sequence[str]) -> Block:
    return {"block_id": ids.LIVE, **layout.section("\n".join(lines))}


def figures(preview: Preview, is_own: bool) -> list[str]:
    """The total, the days that do not count, and the balance after, in mrkdwn."""
    first, last = preview.lines[0].date, preview.lines[-1].date
    when = words.short_span(first, last)
    lines = [f"*{words.amount(preview.total_half_days)}* ({when})"]
    if preview.effect is not None:
        lines.append(f"*{_effect(preview)}*")
    lines += [layout.escaped(line) for line in _not_counted(preview.lines)]
    if preview.leave_type is not None and preview.leave_type.deducts_allowance:
        lines += [_balance(change) for change in preview.years]
    elif is_own:
        lines.append(gettext("This type doesn't use your allowance."))
    else:
        lines.append(gettext("This type doesn't use their allowance."))
    return lines


def _balance(change: YearChange) -> str:
    line = words.left(change.after_half_days, change.year.name)
    name = change.allowance_name
    return words.with_allowance(line, None if name is None else layout.name(name))


def _not_counted(lines: Sequence[DayLine]) -> list[str]:
    """Lines for the days that count less than a whole day, by reason."""
    reasons = []
    off = [words.short_day(day.date) for day in lines if day.reason == "not_worked"]
    if off:
        reasons.append(gettext("Non-working days: {days}", days=words.few_days(off)))
    half = [words.short_day(day.date) for day in lines if day.reason == "half_worked"]
    if half:
        reasons.append(gettext("Half working days: {days}", days=words.few_days(half)))
    holidays = [day for day in lines if day.reason == "public_holiday"]
    if holidays:
        named = [f"{words.short_day(day.date)} ({_holiday(day)})" for day in holidays]
        reasons.append(gettext("Public holidays: {days}", days=words.few_days(named)))
    return reasons


def _holiday(day: DayLine) -> str:
    name = words.holiday(day.holiday_name or "", day.holiday_country, day.date)
    return layout.cut(name, layout.MAX_NAME)


def _effect(preview: Preview) -> str:
    """What the change of approved leave does: ``Gives back 2 days``."""
    before = 0 if preview.replaced is None else preview.replaced.total_half_days
    more = preview.total_half_days - before
    amount = words.amount(abs(more))
    if preview.effect == "amendment":
        if more == 0:
            return gettext("Needs approval")
        if more < 0:
            return gettext("Needs approval: {amount} less", amount=amount)
        return gettext("Needs approval: {amount} more", amount=amount)
    if more == 0:
        return gettext("Applies at once")
    if more < 0 and preview.replaced is not None and preview.replaced.interrupts is not None:
        # The balance falls again: these days are other leave from now on.
        return gettext("Goes back to the leave that it replaced: {amount}", amount=amount)
    if more < 0:
        return gettext("Gives back {amount}", amount=amount)
    return gettext("Applies at once: {amount} more", amount=amount)


def what_happens(preview: Preview) -> str:
    """Who approves it, or why it is approved at once; plain text."""
    if preview.replaced is not None and preview.replaced.status == "approved":
        return _what_changes(preview)
    if preview.approved_because == "recorded":
        return gettext("It's approved as soon as you record it. They'll get a message.")
    if preview.approved_because == "no_approval_needed":
        return gettext("No approval needed: it's approved as soon as you send it.")
    if preview.approved_because == "nobody_could_approve":
        return gettext("No one else can approve it, so it's approved as soon as you send it.")
    names = [layout.cut(user.name, layout.MAX_NAME) for user in preview.approvers]
    if not names:
        return gettext("This will be sent for approval.")
    return gettext("This will go to {names} for approval.", names=words.names(names))


def _what_changes(preview: Preview) -> str:
    if preview.effect == "at_once":
        return gettext("Your leave stays approved. The change applies as soon as you save it.")
    if preview.effect is None:
        return gettext("Change the dates, the type or the note, then save.")
    names = [layout.cut(user.name, layout.MAX_NAME) for user in preview.approvers]
    return gettext(
        "This will go to {names} for approval. Until then, your leave stays as it is.",
        names=words.names(names),
    )


def _skipped(preview: Preview) -> str:
    """The approvers who are skipped because they cannot be reached yet."""
    names = [layout.cut(user.name or user.email, layout.MAX_NAME) for user in preview.unreachable]
    return gettext(
        "Skipped: {names}. They haven't used Hiatus yet, and I don't know their Slack account.",
        names=words.names(names),
    )
