"""Messages about days that lapse: what a person has in a leave year, and reminders.

They show the figures of the notice, so that they say later what they said when they were sent.
"""

from __future__ import annotations

from collections.abc import Sequence

from babel.lists import format_list

from bot.base import ids, language
from bot.base.block_kit import Block, Message
from bot.base.language import gettext, ngettext
from bot.blocks import layout, words
from storage.base.allowance_values import Amount
from storage.base.values import local_day
from storage.leave.lapsing_days import TellsOf
from storage.notifications.expiry_notices import ShownNotice
from storage.rules.expiring_days import Lapse, Pot
from storage.rules.leave_years import LeaveYear, months_after


def message(shown: ShownNotice) -> Message:
    """The message, with "Got it" until the person has clicked it."""
    parts = _statement(shown) if shown.notice.kind == "statement" else _reminder(shown)
    buttons = [layout.button(gettext("Request leave"), ids.HOME_REQUEST)]
    blocks: list[Block] = [layout.section(part) for part in parts]
    if shown.notice.seen_at is None:
        got_it = layout.button(gettext("Got it"), ids.EXPIRY_SEEN, shown.notice.id, "primary")
        buttons.insert(0, got_it)
    blocks.append(layout.actions(*buttons))
    if shown.notice.seen_at is not None:
        day = words.short_day(local_day(shown.notice.seen_at, shown.timezone))
        blocks.append(layout.quiet(gettext("✅ Seen {day}", day=day)))
    return {"text": _text(parts), "blocks": blocks}


def _text(parts: Sequence[str]) -> str:
    """The whole message as far as it fits; the first part always does."""
    text = parts[0].replace("*", "")
    for part in parts[1:]:
        longer = f"{text}\n{part.replace('*', '')}"
        if len(longer) > layout.MAX_MESSAGE:
            break
        text = longer
    return text


def _statement(shown: ShownNotice) -> list[str]:
    parts = []
    for each in shown.notice.contents:
        first, *others = _of_pot(each.pot)
        if len(shown.notice.contents) == 1:
            parts.append(f"*{first}*\n{' '.join(others)}")
            continue
        name = layout.name(words.allowance(shown.allowances[each.allowance_id]))
        parts.append(f"*{name}*\n{' '.join((first, *others))}")
    parts.append(
        gettext("Your employer asks you to take your leave in time, so that none of it lapses.")
    )
    return parts


def _of_pot(pot: Pot) -> list[str]:
    """What the person has, what of it is booked, and until when it must be taken."""
    sentences = [_total(pot)]
    if pot.taken_half_days:
        sentences.append(
            ngettext(
                "{days} of them is booked or taken.",
                "{days} of them are booked or taken.",
                words.plural_number(pot.taken_half_days),
                days=_number(pot.taken_half_days),
            )
        )
    for lapse in pot.lapses:
        if lapse.reason == "carry_over":
            sentences.append(_carried(pot, lapse))
        elif lapse.reason == "credit":
            sentences.append(
                gettext(
                    "Take {amount} of time in lieu by {day}; what isn't taken then lapses.",
                    amount=words.amount(lapse.half_days),
                    day=words.day(lapse.last_day),
                )
            )
    if pot.left_half_days > 0:
        sentences.append(_at_year_end(pot))
    return sentences


def _total(pot: Pot) -> str:
    """``You have 28 days in 2027: 25 of this year and 3 carried over from 2026.``"""
    total = pot.granted_half_days + pot.carried_half_days + pot.credit_half_days
    amount, year = words.amount(total), pot.year.name
    parts = []
    if pot.granted_half_days:
        parts.append(gettext("{days} of this year", days=_number(pot.granted_half_days)))
    if pot.carried_half_days:
        parts.append(
            gettext(
                "{days} carried over from {year}",
                days=_number(pot.carried_half_days),
                year=_year_after(pot.year, -1),
            )
        )
    if pot.credit_half_days:
        parts.append(gettext("{days} of time in lieu", days=_number(pot.credit_half_days)))
    if len(parts) < 2 and not pot.carried_half_days:
        return gettext("You have {amount} in {year}.", amount=amount, year=year)
    listed = format_list(parts, locale=language.locale())
    return gettext("You have {amount} in {year}: {parts}.", amount=amount, year=year, parts=listed)


def _carried(pot: Pot, lapse: Lapse) -> str:
    day = words.day(lapse.last_day)
    if lapse.half_days == pot.carried_half_days == 2:
        return gettext("Take the carried day by {day}; it lapses after that.", day=day)
    if lapse.half_days == pot.carried_half_days > 2:
        return gettext(
            "Take the carried {days} by {day}; they lapse after that.",
            days=_number(lapse.half_days),
            day=day,
        )
    return gettext(
        "Take {amount} more of what was carried over by {day}; what isn't taken then lapses.",
        amount=words.amount(lapse.half_days),
        day=day,
    )


def _at_year_end(pot: Pot) -> str:
    day, next_year = words.day(pot.last_day), _year_after(pot.year, 1)
    if pot.ends_employment:
        return gettext("Take your leave by {day}, your last day of work.", day=day)
    if pot.carries_half_days is None:
        return gettext(
            "Days that you don't take by {day} are carried over into {year}.",
            day=day,
            year=next_year,
        )
    if not pot.carries_half_days:
        return gettext("Take your leave by {day}: days that are left then lapse.", day=day)
    return gettext(
        "Take your leave by {day}: up to {amount} can be carried over into {year}, the rest "
        "lapses.",
        day=day,
        amount=words.amount(pot.carries_half_days),
        year=next_year,
    )


def _reminder(shown: ShownNotice) -> list[str]:
    lines = sorted(
        (
            (_lapses(shown, each, lapse), each.pot, lapse)
            for each in shown.notice.contents
            for lapse in each.pot.lapses
        ),
        key=lambda line: line[2].last_day,
    )
    facts = [_left(pot) for _, pot, lapse in lines if lapse.reason == "year_end"]
    advice = gettext(
        "Your employer asks you to take this leave in time. What you've booked is counted already."
    )
    if len(lines) == 1:
        return [f"*{lines[0][0]}.*\n{' '.join((*facts, advice))}"]
    heading = gettext("Some of your days lapse soon.")
    listed = "\n".join(f"• {line}" for line, _, _ in lines)
    # Facts about other allowances would not say which they are about.
    if len(shown.notice.contents) > 1:
        facts = []
    return [f"*{heading}*\n{listed}", " ".join((*facts, advice))]


def _lapses(shown: ShownNotice, each: TellsOf, lapse: Lapse) -> str:
    """``1 day lapses on Fri 31 Dec 2027``; with the allowance unless it is the default one."""
    allowance = shown.allowances[each.allowance_id]
    days, day = _number(lapse.half_days), words.day(lapse.last_day)
    count = words.plural_number(lapse.half_days)
    match lapse.reason:
        case "carry_over":
            line = ngettext(
                "{days} day carried over from {year} lapses on {day}",
                "{days} days carried over from {year} lapse on {day}",
                count,
                days=days,
                day=day,
                year=_year_after(each.pot.year, -1),
            )
        case "credit" if allowance.is_default:
            line = ngettext(
                "{days} day of time in lieu lapses on {day}",
                "{days} days of time in lieu lapse on {day}",
                count,
                days=days,
                day=day,
            )
        case _:
            line = ngettext(
                "{days} day lapses on {day}",
                "{days} days lapse on {day}",
                count,
                days=days,
                day=day,
            )
    name = None if allowance.is_default else layout.name(words.allowance(allowance))
    return words.with_allowance(line, name)


def _left(pot: Pot) -> str:
    left, carries = words.amount(pot.left_half_days), pot.carries_half_days
    if not carries:
        return gettext(
            "You have {left} left in {year}, and nothing can be carried over.",
            left=left,
            year=pot.year.name,
        )
    return gettext(
        "You have {left} left in {year}, and up to {amount} can be carried over.",
        left=left,
        year=pot.year.name,
        amount=words.amount(carries),
    )


def _year_after(year: LeaveYear, years: int) -> str:
    first_day = months_after(year.first_day, 12 * years)
    return LeaveYear(first_day=first_day, last_day=year.last_day).name


def _number(half_days: Amount) -> str:
    return words.number(half_days / 2)
