"""Messages to colleagues: of leave that was approved at once, and of leave that they cover."""

from __future__ import annotations

from datetime import date

from bot.base import ids
from bot.base.block_kit import Block, Message
from bot.base.language import gettext
from bot.blocks import layout, words
from storage.base.event_values import NotificationEvent
from storage.base.leave_values import LeaveRequest
from storage.notifications.approval_cards import ApprovalCard, ToldAbsence, Uncovered


def told_message(card: ApprovalCard, told: ToldAbsence) -> Message:
    """Who is off and when, who covers, and whom the person was to cover; no decision is asked."""
    sentence = _sentence(card, told)
    facts = [_facts(card, told)]
    if card.cover is not None and card.request.status == "approved":
        facts.append(gettext("Covered by {name}", name=layout.name(card.cover.name)))
    uncovered = [_uncovered(leave) for leave in told.uncovered]
    blocks = [layout.section("\n".join((f"*{sentence}*{_note(card, told)}", *facts)))]
    for line, leave in zip(uncovered, told.uncovered, strict=True):
        blocks.append(layout.section(line))
        if leave.may_change:
            blocks.append(layout.actions(_other_cover(leave)))
    shown = f"{sentence}{_note(card, told)} {'. '.join(facts)}."
    for line in uncovered:
        if len(shown) + len(line) < layout.MAX_MESSAGE:
            shown += f" {line}"
    return {"text": shown, "blocks": blocks}


def _note(card: ApprovalCard, told: ToldAbsence) -> str:
    """What approvers have to do."""
    if not told.sees_request or card.request.status != "approved":
        return ""
    return " " + gettext("Nothing to approve.")


def _sentence(card: ApprovalCard, told: ToldAbsence) -> str:
    """``Amir is on sick leave today.`` in mrkdwn."""
    request, leave_type = card.request, card.leave_type
    name, when = layout.name(card.requester.name), _when(request, told.today)
    is_over = request.end_date < told.today
    if not leave_type.is_away:
        return _sentence_elsewhere(card, told, name, when)
    if request.status == "cancelled":
        return gettext("{name}'s absence {when} was cancelled.", name=name, when=when)
    if not _shows_type(card, told):
        if is_over:
            return gettext("{name} was away {when}.", name=name, when=when)
        return gettext("{name} is away {when}.", name=name, when=when)
    if leave_type.code == "sick":
        if is_over:
            return gettext("{name} was on sick leave {when}.", name=name, when=when)
        return gettext("{name} is on sick leave {when}.", name=name, when=when)
    shown = layout.name(words.leave_type(leave_type))
    if is_over:
        return gettext(
            "{name} was off {when}: {leave_type}.", name=name, when=when, leave_type=shown
        )
    return gettext("{name} is off {when}: {leave_type}.", name=name, when=when, leave_type=shown)


def _sentence_elsewhere(card: ApprovalCard, told: ToldAbsence, name: str, when: str) -> str:
    """``Amir is working elsewhere today: Home office.`` in mrkdwn."""
    if card.request.status == "cancelled":
        return gettext("{name} is no longer working elsewhere {when}.", name=name, when=when)
    if card.request.end_date < told.today:
        shown = gettext("{name} was working elsewhere {when}", name=name, when=when)
    else:
        shown = gettext("{name} is working elsewhere {when}", name=name, when=when)
    if not _shows_type(card, told):
        return f"{shown}."
    return f"{words.labelled(shown, layout.name(words.leave_type(card.leave_type)))}."


def _shows_type(card: ApprovalCard, told: ToldAbsence) -> bool:
    return told.sees_request or not card.leave_type.is_private


def _when(request: LeaveRequest, today: date) -> str:
    first_day, last_day = request.start_date, request.end_date
    if first_day <= today == last_day:
        return gettext("today")
    if first_day <= today < last_day:
        return gettext("until {day}", day=words.short_day(last_day))
    if first_day == last_day:
        return gettext("on {day}", day=words.short_day(first_day))
    return gettext(
        "from {first} until {last}",
        first=words.short_day(first_day),
        last=words.short_day(last_day),
    )


def _facts(card: ApprovalCard, told: ToldAbsence) -> str:
    """The dates with their halves; with the type and the amount if the viewer may see them."""
    request = card.request
    dates = words.dates(request)
    if not _shows_type(card, told):
        return dates
    amount = words.amount(request.total_half_days)
    return ", ".join((layout.name(words.leave_type(card.leave_type)), dates, amount))


def _uncovered(leave: Uncovered) -> str:
    dates = words.dates(leave.request)
    if leave.is_own:
        return gettext("They were to cover for you: {dates}.", dates=dates)
    return gettext(
        "They were to cover for {name}: {dates}.", name=layout.name(leave.person_name), dates=dates
    )


def _other_cover(leave: Uncovered) -> Block:
    dates = words.dates(leave.request)
    return layout.button(
        gettext("Choose another cover"),
        ids.OTHER_COVER,
        leave.request.id,
        spoken=gettext("Choose another cover: {dates}", dates=dates),
    )


def cover_sentence(
    card: ApprovalCard,
    event_type: NotificationEvent,
    cover_user_id: str,
    known_days: tuple[date, date],
) -> str | None:
    """The DM to a cover, in mrkdwn; None if the request has changed again since.

    ``known_days``: the first and last day that a former cover was told.
    """
    request, requester = card.request, layout.name(card.requester.name)
    is_cover = request.status == "approved" and request.cover_user_id == cover_user_id
    if event_type == "cover.assigned" and is_cover:
        return gettext(
            "You're covering for {requester}: {dates}.",
            requester=requester,
            dates=words.dates(request),
        )
    if event_type == "cover.changed" and is_cover:
        return gettext(
            "The days on which you cover for {requester} have changed. They're now {dates}.",
            requester=requester,
            dates=words.dates(request),
        )
    if event_type == "cover.ended" and not is_cover:
        return gettext(
            "You no longer need to cover for {requester}: {dates}.",
            requester=requester,
            dates=words.span(*known_days, None, None),
        )
    return None
