"""Balances and their ledgers in words, as plain text unless said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block
from bot.base.language import gettext, gettext_noop, ngettext
from bot.blocks import layout, words
from storage.base.allowance_values import Amount
from storage.leave.ledgers import Balance, Line
from storage.people.allowance_terms import AllowanceSource

# Of an adjustment's reason.
_MAX_REASON: Final = 80
_ALLOWANCE_OF: Final[Mapping[AllowanceSource, str]] = {
    "user": gettext_noop("Your own allowance for the year"),
    "department": gettext_noop("Your department's allowance for the year"),
    "organisation": gettext_noop("Allowance for the year"),
}
# As admins see it of other people.
_ALLOWANCE_OF_PERSON: Final[Mapping[AllowanceSource, str]] = {
    "user": gettext_noop("The person's own allowance for the year"),
    "department": gettext_noop("The department's allowance for the year"),
    "organisation": gettext_noop("Allowance for the year"),
}


def of_allowance(balance: Balance) -> str:
    """One line about an allowance with its name, in mrkdwn."""
    summary = ngettext(
        "*{allowance}*: {left} of {entitled} day left in {year}",
        "*{allowance}*: {left} of {entitled} days left in {year}",
        words.plural_number(balance.entitled_half_days),
        allowance=layout.name(words.allowance(balance.allowance)),
        left=words.number(balance.remaining_half_days / 2),
        entitled=words.number(balance.entitled_half_days / 2),
        year=balance.year.name,
    )
    facts = [summary]
    if balance.pending_half_days:
        facts.append(gettext("{amount} pending", amount=words.amount(balance.pending_half_days)))
    if balance.lapsing_half_days > 0 and balance.lapsing_after is not None:
        facts.append(
            gettext(
                "{amount} to use by {day}",
                amount=words.amount(balance.lapsing_half_days),
                day=words.day(balance.lapsing_after),
            )
        )
    return " · ".join(facts)


def where_from(balance: Balance, value: str = "") -> Block:
    """The button that opens the ledger; the value is the day, "" for today."""
    label = gettext("How is this worked out?")
    if balance.remaining_half_days > 0:
        label = ngettext(
            "Where does my {days} day come from?",
            "Where do my {days} days come from?",
            words.plural_number(balance.remaining_half_days),
            days=words.number(balance.remaining_half_days / 2),
        )
    return layout.button(label, ids.BALANCE, value)


def left(half_days: Amount) -> str:
    """``12.5 days left``, ``overdrawn by 1 day``."""
    if half_days < 0:
        return gettext("overdrawn by {amount}", amount=words.amount(-half_days))
    if half_days == 0:
        return gettext("no days left")
    return gettext("{amount} left", amount=words.amount(half_days))


def ledger(
    balance: Balance, type_names: Mapping[str, str], *, most_alike: int, is_own: bool = True
) -> list[str]:
    """A line for each of the ledger; of many alike in a row, the last are added up in one.

    ``is_own``: in words to the person whose ledger it is.
    """
    lines: list[str] = []
    # An allowance of which all days are earned grants none.
    explaining = (line for line in balance.lines if line.half_days)
    for _, group in groupby(explaining, key=lambda line: line.type):
        alike = list(group)
        shown = alike if len(alike) <= most_alike else alike[: most_alike - 1]
        lines += [_amount(line.half_days, _what(line, type_names, is_own=is_own)) for line in shown]
        if more := alike[len(shown) :]:
            rest = ngettext("… and {count} more", "… and {count} more", len(more))
            lines.append(_amount(sum(line.half_days for line in more), rest))
    return lines


def sections(lines: Iterable[str]) -> list[Block]:
    """Plain lines in as few sections as Slack's limit allows."""
    parts: list[list[str]] = [[]]
    for line in lines:
        if sum(len(each) + 1 for each in [*parts[-1], line]) > layout.MAX_SECTION:
            parts.append([])
        parts[-1].append(line)
    return [layout.paragraph("\n".join(part)) for part in parts if part]


def _amount(half_days: Amount, what: str) -> str:
    days = words.number(half_days / 2)
    signed = f"+{days}" if half_days > 0 else days
    return gettext("• {days}: {what}", days=signed, what=what)


def _what(line: Line, type_names: Mapping[str, str], *, is_own: bool) -> str:
    if not is_own and (of_person := _of_person(line)):
        return of_person
    match line.type:
        case "allowance":
            source = line.source or "organisation"
            return gettext(_ALLOWANCE_OF[source])
        case "pro_rata":
            return gettext("You started on {day}", day=_day(line))
        case "allowance_change":
            return gettext("Another allowance from {day} on", day=_day(line))
        case "employment_end":
            return gettext("Your employment ends on {day}", day=_day(line))
        case "earlier_employment":
            return gettext("For your employment until {day}", day=_day(line))
        case "earlier_employment_settled":
            return gettext("Left when that employment ended on {day}", day=_day(line))
        case "carry_over":
            year = "" if line.from_year is None else line.from_year.name
            return gettext("Carried over from {year}", year=year)
        case "carry_over_expired":
            return gettext("Carried over, but not used by {day}", day=_day(line))
        case "adjustment":
            reason = "" if line.adjustment is None else line.adjustment.reason
            shown = layout.cut(layout.one_line(reason), _MAX_REASON)
            return gettext("Adjustment: {reason}", reason=shown)
        case "leave":
            return _leave(line, type_names)
        case "credit":
            return gettext("Time in lieu for work on {day}", day=_day(line))
        case "credit_expired":
            return gettext("Time in lieu, but not used by {day}", day=_day(line))
        case "not_granted_yet":
            return gettext("Granted later this year")


def _of_person(line: Line) -> str | None:
    """A line in words to another person; None where the words are the same."""
    match line.type:
        case "allowance":
            source = line.source or "organisation"
            return gettext(_ALLOWANCE_OF_PERSON[source])
        case "pro_rata":
            return gettext("Started on {day}", day=_day(line))
        case "employment_end":
            return gettext("Employment ends on {day}", day=_day(line))
        case "earlier_employment":
            return gettext("For the employment until {day}", day=_day(line))
        case _:
            return None


def _day(line: Line) -> str:
    return "" if line.day is None else words.day(line.day)


def _leave(line: Line, type_names: Mapping[str, str]) -> str:
    leave = line.leave
    if leave is None:
        return ""
    name = layout.cut(type_names.get(leave.leave_type_id, ""), layout.MAX_NAME)
    when = words.dates(leave)
    if leave.status == "pending":
        return gettext("{leave_type}, {dates}: pending", leave_type=name, dates=when)
    return gettext("{leave_type}, {dates}: approved", leave_type=name, dates=when)


def names_of(balances: Sequence[Balance]) -> bool:
    """Whether the allowances have to be named: not if the default one is the only one."""
    return any(not balance.allowance.is_default for balance in balances)
