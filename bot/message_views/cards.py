"""The approval card in an approver's DM, rendered from the request's current state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, Message
from bot.base.language import gettext, gettext_noop, ngettext
from bot.blocks import layout, words
from bot.message_views import absence_messages, card_amendments
from storage.base.errors import Days, ShortDay
from storage.base.leave_values import LeaveRequest
from storage.leave.leave_balances import YearBalance
from storage.leave.limit_checks import LimitExcess, TeamStrength
from storage.leave.returns import Return
from storage.notifications.approval_cards import ApprovalCard, CardCover
from storage.people.colleagues import ColleagueOff
from storage.rules.absence_limits import Strength

# Beside a balance in a card's body of 200 characters.
_MAX_ALLOWANCE: Final = 40
# Of the strength of the team, runs of days; and exceeded absence limits.
_MAX_RUNS: Final = 4
_MAX_LIMITS: Final = 5


def message(card: ApprovalCard, home_url: str | None) -> Message:
    """``text`` and ``blocks`` of a message; buttons only while the viewer can decide.

    Leave that was approved at once is told instead, until a change of it awaits a decision.

    The text has all the information, because screen readers read only the text
    (docs.slack.dev, chat.postMessage, "Accessibility considerations").
    """
    told = card.told
    if told is not None and not (told.sees_request and card.amendment is not None):
        return absence_messages.told_message(card, told)
    return {"text": _text(card), "blocks": blocks(card, home_url)}


def blocks(card: ApprovalCard, home_url: str | None, title: str | None = None) -> list[Block]:
    """The state, the card block, and below it what does not fit into its 200 characters.

    ``title`` takes the place of the state, in plain text.
    """
    request, proposed = card.request, card.open_amendment
    shown = [_first_line(card, title or _status_line(card), home_url)]
    shown.append(block(card, _buttons(card)))
    if proposed is not None:
        shown.append(layout.section("\n".join(card_amendments.card_differences(card, proposed))))
    if card.is_undecided and card.colleagues_count > 1:
        lines = words.colleagues_off(card.colleagues, card.colleagues_count)
        shown.append(layout.paragraph("\n".join(lines)))
    if attendance := _attendance_lines(card):
        shown.append(layout.paragraph("\n".join(attendance)))
    if card.cover is not None:
        shown.append(layout.paragraph("\n".join(_cover_lines(card.cover))))
    if suggested := suggestion_line(card):
        shown.append(layout.paragraph(suggested))
    note = _note(card)
    if note:
        shown.append(layout.paragraph(gettext("Note: {note}", note=note)))
    if request.status == "declined" and request.decision_reason:
        reason = gettext("Reason: {reason}", reason=request.decision_reason)
        shown.append(layout.paragraph(reason))
    if declined := _amendment_reason(card):
        shown.append(layout.paragraph(gettext("Reason: {reason}", reason=declined)))
    return shown


def outcome(card: ApprovalCard) -> Message:
    """Only the state, for a reply to the card."""
    return {"text": _text(card), "blocks": [layout.quiet(_marked(card, _status_line(card)))]}


# Of a request, of an amendment and of time in lieu, by status.
SYMBOLS: Final[Mapping[str, str]] = {
    "pending": "⏳",
    "approved": "✅",
    "declined": "❌",
    "withdrawn": "🚫",
    "cancelled": "🚫",
}


def symbol(card: ApprovalCard, *, of_amendment: bool = True) -> str:
    """That of the state. ``of_amendment``: of a change that was its last one, if there is one."""
    if card.is_undecided:
        return SYMBOLS["pending"]
    if of_amendment and card.amendment is not None and card_amendments.amendment_outcome(card):
        return SYMBOLS[card.amendment.amendment.status]
    return SYMBOLS[card.request.status]


def _marked(card: ApprovalCard, sentence: str) -> str:
    return f"{symbol(card)} *{layout.escaped(sentence)}*"


def _first_line(card: ApprovalCard, sentence: str, home_url: str | None) -> Block:
    """The state, and beside it what undoes the decision, or where an approver can look."""
    line = layout.section(_marked(card, sentence))
    if card.may_decide:
        return {**line, "accessory": _menu(card, home_url)}
    if card.may_reverse:
        label = gettext("Undo") if card.ended_by_viewer else gettext("Change decision")
        spoken = words.labelled(label, card.requester.name)
        undo = layout.button(label, ids.REVERSE, card.request.id, spoken=spoken)
        return {**line, "accessory": undo}
    return line


def block(card: ApprovalCard, buttons: Sequence[Block] = ()) -> Block:
    """The card block: person and type, dates, the balance, and the first colleague who is off."""
    proposed = card.open_amendment
    off = card.colleagues if card.is_undecided else ()
    return layout.request_card(
        requester_name=card.requester.name,
        leave_type_name=words.leave_type((proposed or card).leave_type),
        dates=words.dates(card.request if proposed is None else proposed.amendment),
        amount=_with_return(card, words.amount((proposed or card.request).total_half_days)),
        facts=facts(card.balances, off, card.colleagues_count),
        buttons=buttons,
        kind=card_amendments.asked_kind(None if proposed is None else proposed.amendment),
    )


def facts(
    balances: Iterable[YearBalance], off: Sequence[ColleagueOff], colleagues_count: int
) -> list[str]:
    """The balance of each leave year before and after the request, and the first colleague off.

    With a warning where too little is left.
    """
    lines = [
        _with_pending(
            words.with_allowance(
                words.left_before_and_after(
                    balance.before_half_days, balance.remaining_half_days, balance.year_name
                ),
                balance.allowance_name and layout.cut(balance.allowance_name, _MAX_ALLOWANCE),
            ),
            balance,
        )
        for balance in balances
    ]
    lines += [_short(balance) for balance in balances if balance.is_short]
    return [*lines, words.first_colleague_off(off, colleagues_count)] if off else lines


def _with_return(card: ApprovalCard, amount: str) -> str:
    """The amount, and when the person works again: ``5 days · back Mon 15``."""
    if card.back is None:
        return amount
    day = _day_back(card, card.back)
    if card.back.is_at_midday:
        return gettext("{amount} · back {day} at midday", amount=amount, day=day)
    return gettext("{amount} · back {day}", amount=amount, day=day)


def _day_back(card: ApprovalCard, back: Return) -> str:
    last_day = (card.open_amendment.amendment if card.open_amendment else card.request).end_date
    if (back.day.year, back.day.month) == (last_day.year, last_day.month):
        return words.weekday_and_number(back.day)
    return words.short_day(back.day)


def _short(balance: YearBalance) -> str:
    return "⚠️ " + gettext("Not enough left in {year} to approve this", year=balance.year_name)


def _note(card: ApprovalCard) -> str | None:
    proposed = card.open_amendment
    return card.request.note if proposed is None else proposed.amendment.note


def _amendment_reason(card: ApprovalCard) -> str | None:
    """Why the last change was declined."""
    return None if card.amendment is None else card.amendment.amendment.decision_reason


def state(card: ApprovalCard) -> str:
    """The status, by whom and when: ``Approved by Grace, 2 June 2026, 10:05``."""
    request = card.request
    if card.is_undecided:
        return _pending_state(card)
    ended = card_amendments.amendment_outcome(card)
    if ended:
        return ended
    at = request.cancelled_at if request.status == "cancelled" else request.decided_at
    what = _outcome(card)
    if at is None:
        return what
    return gettext("{what}, {when}", what=what, when=words.moment(at, card.timezone))


def _outcome(card: ApprovalCard) -> str:
    by = card.ended_by_name and layout.cut(card.ended_by_name, layout.MAX_NAME)
    if card.ended_by_viewer and card.cancelled_because is None:
        match card.request.status:
            case "approved":
                return gettext("Approved by you")
            case "declined":
                return gettext("Declined by you")
            case "cancelled":
                return gettext("Cancelled by you")
    match card.request.status:
        case "cancelled" if card.cancelled_because == "interrupted":
            return gettext("Replaced by other leave")
        case "cancelled" if card.cancelled_because == "employment_ends":
            return gettext("Cancelled because employment ends")
        case "cancelled" if card.cancelled_because == "lapsed":
            return gettext("Lapsed without a decision")
        case "cancelled" if card.cancelled_because == "amendment_approved" and by:
            return gettext("Cancellation approved by {name}", name=by)
        case "cancelled" if card.cancelled_because == "employment_starts":
            return gettext("Cancelled because employment starts later")
        case "cancelled":
            return gettext("Cancelled by {name}", name=by) if by else gettext("Cancelled")
        case "approved":
            return (
                gettext("Approved by {name}", name=by) if by else gettext("Approved automatically")
            )
    return gettext("Declined by {name}", name=by) if by else gettext("Declined automatically")


def awaits_second(first: str, second: str | None) -> str:
    """Who approved, and who gives the second approval: any admin, if no person."""
    by = layout.cut(first, layout.MAX_NAME)
    if second is None:
        return gettext("Approved by {name}, waiting for an admin", name=by)
    return gettext(
        "Approved by {name}, waiting for {second}",
        name=by,
        second=layout.cut(second, layout.MAX_NAME),
    )


def _second_state(card: ApprovalCard, first: str) -> str:
    if card.may_decide:
        by = layout.cut(first, layout.MAX_NAME)
        return gettext("Approved by {name}, waiting for your approval", name=by)
    second = card.second_approver_name
    if not card.may_decline:
        return awaits_second(first, second)
    if second is None:
        return gettext("Approved by you, waiting for an admin")
    return gettext(
        "Approved by you, waiting for {second}", second=layout.cut(second, layout.MAX_NAME)
    )


def _pending_state(card: ApprovalCard) -> str:
    if card.first_approver_name is not None:
        return _second_state(card, card.first_approver_name)
    request = card.request
    sentence = words.awaiting(card.awaited_names, awaits_reader=card.awaits_viewer)
    if request.status == "pending" and request.version > 1:
        when = words.moment(request.updated_at, card.timezone)
        return gettext("{sentence}. Updated {when}", sentence=sentence, when=when)
    return sentence


def suggestion_line(card: ApprovalCard) -> str:
    """What an approver suggested and the requester answered, for approvers: plain text, or ""."""
    shown = card.suggestion
    if shown is None:
        return ""
    facts = {"dates": words.dates(shown.suggestion), "amount": words.amount(shown.half_days)}
    if not shown.is_open:
        requester = layout.cut(card.requester.name, layout.MAX_NAME)
        return gettext(
            "{requester} keeps these dates. Suggested were {dates}, {amount}.",
            requester=requester,
            **facts,
        )
    if shown.suggestion.suggested_by == card.viewer.id:
        return gettext("You suggested {dates}, {amount}.", **facts)
    name = layout.cut(shown.suggested_by_name, layout.MAX_NAME)
    return gettext("{name} suggested {dates}, {amount}.", name=name, **facts)


def _balance_lines(card: ApprovalCard) -> list[str]:
    lines = [_with_pending(balance_after(balance), balance) for balance in card.balances]
    return [*lines, *(_short(balance) for balance in card.balances if balance.is_short)]


def balance_after(balance: YearBalance) -> str:
    """The balance after the request, in mrkdwn, with the allowance that it draws on."""
    name = balance.allowance_name
    return words.with_allowance(
        words.left(balance.remaining_half_days, balance.year_name),
        None if name is None else layout.name(name),
    )


def _with_pending(line: str, balance: YearBalance) -> str:
    """The balance, and how much of it other pending requests of the person take."""
    if balance.pending_half_days <= 0:
        return line
    return gettext(
        "{balance}, after {amount} of other pending leave",
        balance=line,
        amount=words.amount(balance.pending_half_days),
    )


def _attendance_lines(card: ApprovalCard) -> list[str]:
    """How many of the department are away, and the absence limits exceeded: plain text."""
    if not card.is_undecided:
        return []
    lines = [] if card.strength is None else [_strength(card.strength)]
    return [*lines, *(f"⚠️ {over_limit(each)}" for each in card.over_limits[:_MAX_LIMITS])]


def _strength(strength: TeamStrength) -> str:
    runs = strength.runs
    first_day, last_day = runs[0].first_day, runs[-1].last_day
    is_one_week = first_day.isocalendar()[:2] == last_day.isocalendar()[:2]
    shown = [
        ngettext(
            "{days} {count} away",
            "{days} {count} away",
            run.away,
            days=_days(run, is_one_week=is_one_week),
        )
        for run in runs[:_MAX_RUNS]
    ]
    return gettext(
        "Team of {people}: {days}",
        people=strength.people,
        days=", ".join([*shown, "…"] if len(runs) > _MAX_RUNS else shown),
    )


def _days(run: Strength, *, is_one_week: bool) -> str:
    """``Mon–Wed``, or ``Mon 5 to Wed 28 Apr`` where all days are not of one week."""
    if not is_one_week:
        return words.short_span(run.first_day, run.last_day)
    days = (run.first_day,) if run.first_day == run.last_day else (run.first_day, run.last_day)
    return "–".join(words.short_weekday(day.weekday()) for day in days)


def over_limit(over: LimitExcess) -> str:
    sentence = over.sentence
    figures = {
        name: words.short_day(figure.day) if isinstance(figure, ShortDay) else figure
        for name, figure in sentence.figures.items()
    }
    return gettext(sentence.template, **figures)


def _cover_lines(cover: CardCover) -> list[str]:
    """Who covers, and on which days they are off; plain text, not escaped."""
    name = layout.cut(cover.name, layout.MAX_NAME)
    lines = [gettext("Covered by {name}", name=name)]
    if cover.days_off:
        off = words.few_runs(Days(dates=cover.days_off))
        lines.append(
            "⚠️ " + gettext("{name} is off, or has requested leave, on {days}.", name=name, days=off)
        )
    return lines


def _status_line(card: ApprovalCard) -> str:
    """As ``state`` for an approver: also says if they no longer need to decide."""
    if card.is_undecided and not card.may_decide and not card.may_decline:
        return gettext("You no longer need to decide. {state}", state=state(card))
    return state(card)


def _buttons(card: ApprovalCard) -> list[Block]:
    """What decides. Buttons of an amendment have its id: they are stale once it is replaced."""
    if not card.may_decide and not card.may_decline:
        return []
    approve, decline, value = ids.APPROVE, ids.DECLINE, card.request.id
    if card.open_amendment is not None:
        approve, decline = ids.AMENDMENT_APPROVE, ids.AMENDMENT_DECLINE
        value = card.open_amendment.amendment.id
    if not card.may_decide:
        take_back = layout.button(gettext("Take back approval"), ids.TAKE_BACK, card.request.id)
        _, declines = layout.decision_buttons(approve, decline, value, card.requester.name)
        return [take_back, declines] if card.may_take_back else [declines]
    buttons = layout.decision_buttons(approve, decline, value, card.requester.name)
    if card.open_amendment is None:
        suggest = layout.suggest_button(ids.SUGGEST, card.request.id, card.requester.name)
        buttons.append(suggest)
    return buttons


def _menu(card: ApprovalCard, home_url: str | None) -> Block:
    proposed = card.open_amendment
    first_day = (card.request if proposed is None else proposed.amendment).start_date.isoformat()
    options, urls = [(gettext("Show the team's calendar"), "calendar")], {}
    if home_url is not None:
        options.append((gettext("Open my Home tab"), "home"))
        urls["home"] = home_url
    return layout.menu(ids.CALENDAR, options, about=first_day, urls=urls)


def _text(card: ApprovalCard) -> str:
    parts = [
        _sentence(card),
        *return_sentence(card),
        *(f"{line}." for line in _balance_lines(card)),
        *_colleagues_sentence(card),
        # A weekday that is cut short ends in a full stop itself.
        *(f"{layout.escaped(line).removesuffix('.')}." for line in _attendance_lines(card)),
        *([f"{layout.escaped(_cover_lines(card.cover)[0])}."] if card.cover else []),
        *filter(None, [layout.escaped(suggestion_line(card))]),
        f"{layout.escaped(_status_line(card))}.",
    ]
    note = _note(card)
    if note:
        parts.append(gettext("Note: {note}", note=layout.excerpt(note, layout.room_after(parts))))
    return " ".join(parts)


def return_sentence(card: ApprovalCard) -> list[str]:
    if card.back is None:
        return []
    name, day = layout.name(card.requester.name), _day_back(card, card.back)
    if card.back.is_at_midday:
        return [gettext("{name} is back {day} at midday.", name=name, day=day)]
    return [gettext("{name} is back {day}.", name=name, day=day)]


def _colleagues_sentence(card: ApprovalCard) -> list[str]:
    if not card.colleagues or not card.is_undecided:
        return []
    first = words.first_colleague_off(card.colleagues, card.colleagues_count)
    return [f"{layout.escaped_within(first, 400)}."]


def _sentence(card: ApprovalCard) -> str:
    request, proposed = card.request, card.open_amendment
    if proposed is not None:
        return card_amendments.amendment_sentence(card, proposed)
    return gettext(
        "{requester} requested {leave_type}: {dates}, {amount}.",
        requester=layout.name(card.requester.name),
        leave_type=layout.name(words.leave_type(card.leave_type)),
        dates=words.dates(request),
        amount=words.amount(request.total_half_days),
    )


def summary(card: ApprovalCard) -> str:
    """Leave type, dates and amount in one line, in mrkdwn."""
    request = card.request
    amount = words.amount(request.total_half_days)
    return ", ".join((layout.name(words.leave_type(card.leave_type)), words.dates(request), amount))


GOES_BACK: Final = gettext_noop(
    "The days go back to the leave that it replaced, unless that leave was cancelled or moved."
)


def cancel_button(
    action_id: str, request: LeaveRequest, what: str, *, needs_approval: bool = False
) -> Block:
    """A cancel button with a confirmation dialogue; ``what`` is plain text."""
    button = layout.button(gettext("Cancel leave"), action_id, request.id, "danger")
    button["confirm"] = layout.confirm(
        gettext("Cancel this leave?"),
        what_is_cancelled(request, what, needs_approval=needs_approval),
        gettext("Cancel leave"),
        gettext("Keep it"),
    )
    return button


def what_is_cancelled(request: LeaveRequest, what: str, *, needs_approval: bool = False) -> str:
    """The text of the confirmation; ``what`` is the leave in plain text."""
    more = []
    if request.interrupts is not None:
        more.append(gettext(GOES_BACK))
    if needs_approval:
        more.append(gettext("Your approver has to agree."))
    return " ".join((f"{what.rstrip('.')}.", *more)) if more else what
