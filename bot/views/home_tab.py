"""The Home tab, the most important first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, ngettext
from bot.blocks import balance_lines, layout, words
from bot.message_views import card_amendments, cards, inbox, time_credit_messages
from bot.views import calendar, home_checklist, home_leave
from storage.base.allowance_values import Amount
from storage.base.calendar_values import Absence
from storage.base.leave_values import Amendment, LeaveRequest
from storage.calendars import wallchart
from storage.leave.covers import Covered
from storage.leave.ledgers import Balance
from storage.notifications.time_credit_cards import TimeCreditCard
from storage.workspaces.home import MAX_COVERING, Home, Item
from storage.workspaces.slack_workspaces import PageCursors

# After escaping, the longest note and two names still fit in a section.
_MAX_NOTE: Final = 200
# Allowances whose lines fit in a section with the longest names.
_POTS_OF_SECTION: Final = 5


def view(home: Home) -> View:
    return {
        "type": "home",
        "callback_id": ids.HOME,
        "blocks": [
            _title(home),
            _first_row(home),
            *_pending_approvals(home),
            *home_checklist.steps(home.checklist),
            *balance_rows(home.balances),
            *_own_leave(home),
            *own_claims(home.own_claims),
            *covering_list(home.covering),
            *whos_out(home),
        ],
    }


def closed(sentence: str) -> View:
    """The Home tab of a person who cannot use Hiatus, with the reason in plain text."""
    return {
        "type": "home",
        "callback_id": ids.HOME,
        "blocks": [layout.paragraph(sentence)],
    }


def _title(home: Home) -> Block:
    title = f"*{layout.name(home.organisation.name)}*\n{words.day(home.today)}"
    settings = layout.button(gettext("Settings"), ids.SETTINGS)
    return {**layout.section(title), "accessory": settings}


def _first_row(home: Home) -> Block:
    """What people come for; what few of them do is in a menu."""
    buttons = [layout.button(gettext("Request leave"), ids.HOME_REQUEST, style="primary")]
    if home.may_report_sick:
        buttons.append(layout.button(gettext("I'm sick"), ids.SICK))
    buttons.append(layout.button(gettext("Calendar"), ids.CALENDAR))
    others = [(gettext("Record leave"), ids.MENU_RECORD)] * home.may_record
    others += [(gettext("Claim time in lieu"), ids.MENU_CLAIM)] * home.may_claim
    if others:
        buttons.append(layout.overflow(ids.HOME_MORE, others))
    return layout.actions(*buttons)


def _own_leave(home: Home) -> list[Block]:
    cursors, cursor = home.cursors, home.own.next_cursor
    return [
        layout.header(gettext("Your leave")),
        *home_leave.rows(home.own.items),
        *page_buttons(
            cursors.own, cursor, replace(cursors, own=None), replace(cursors, own=cursor)
        ),
    ]


def _pending_approvals(home: Home) -> list[Block]:
    if not home.waiting.items and not home.waiting_claims:
        return []
    if home.inbox is not None and home.inbox.waiting:
        blocks = [layout.header(inbox.summary(home.inbox)), *inbox.on_home(home.inbox)]
    else:
        blocks = [layout.header(gettext("Waiting for your decision"))]
    blocks += waiting_claims(home)
    for item in home.waiting.items:
        blocks += _pending_request(item)
    cursors, cursor = home.cursors, home.waiting.next_cursor
    return blocks + page_buttons(
        cursors.waiting,
        cursor,
        replace(cursors, waiting=None),
        replace(cursors, waiting=cursor),
    )


def waiting_claims(home: Home) -> list[Block]:
    """Time in lieu to decide on. There are no pages: others follow once these are decided."""
    blocks = [time_credit_messages.home_block(card) for card in home.waiting_claims]
    if home.has_more_claims:
        blocks.append(layout.quiet(gettext("More time in lieu appears here as you decide.")))
    return blocks


def own_claims(claims: Sequence[TimeCreditCard]) -> list[Block]:
    if not claims:
        return []
    return [layout.header(gettext("Your time in lieu")), *map(_own_claim, claims)]


def _own_claim(card: TimeCreditCard) -> Block:
    shown = layout.section(time_credit_messages.own_line(card))
    if card.credit.status != "pending":
        return shown
    return {**shown, "accessory": time_credit_messages.cancel_button(card)}


def _pending_request(item: Item) -> list[Block]:
    """The card of approvers' messages, and below it the cover and the note."""
    request, proposed = item.request, item.amendment
    approve, decline, value = ids.HOME_APPROVE, ids.HOME_DECLINE, request.id
    asked: LeaveRequest | Amendment = request
    if proposed is not None:
        approve, decline = ids.HOME_AMENDMENT_APPROVE, ids.HOME_AMENDMENT_DECLINE
        asked = proposed.counted.amendment
        value = asked.id
    buttons = layout.decision_buttons(approve, decline, value, item.person_name)
    if proposed is None:
        buttons.append(layout.suggest_button(ids.SUGGEST, request.id, item.person_name))
    shown = [
        layout.request_card(
            requester_name=item.person_name,
            leave_type_name=words.leave_type((proposed or item).leave_type),
            dates=words.dates(asked),
            amount=words.amount((proposed.counted if proposed else request).total_half_days),
            facts=cards.facts(item.balances, item.colleagues, item.colleagues_count),
            buttons=buttons,
            kind=card_amendments.asked_kind(
                None if proposed is None else proposed.counted.amendment
            ),
        )
    ]
    if item.first_approver_name is not None:
        first = layout.cut(item.first_approver_name, layout.MAX_NAME)
        sentence = gettext("Approved by {name}, waiting for your approval", name=first)
        shown.append(layout.paragraph(sentence))
    if proposed is not None:
        shown.append(
            layout.section(
                "\n".join(card_amendments.differences(*home_leave.compared(item, proposed)))
            )
        )
    elif item.cover_name:
        shown.append(
            layout.paragraph(
                gettext("Covered by {name}", name=layout.cut(item.cover_name, layout.MAX_NAME))
            )
        )
    if asked.note:
        # In plain text as on the card, so that Slack does not format user input.
        note = layout.cut(layout.one_line(asked.note), _MAX_NOTE)
        shown.append(layout.paragraph(gettext("Note: {note}", note=note)))
    return shown


def whos_out(home: Home) -> list[Block]:
    is_team = home.cursors.scope == "team"
    other = replace(home.cursors, scope="org" if is_team else "team", away=None)
    switch = layout.button(
        gettext("Show everyone") if is_team else gettext("Show my team"),
        ids.HOME_SCOPE,
        other.packed(),
    )
    last_day = words.day(home.last_day)
    if is_team:
        who = gettext("Your team, today to {day}", day=last_day)
    else:
        who = gettext("Everyone, today to {day}", day=last_day)
    if home.cursors.away is None:
        who = f"{who}\n{_today(home)}"
    shown: list[Block] = [
        layout.header(gettext("Who's out")),
        {**layout.section(who), "accessory": switch},
        *map(layout.paragraph, words.working_elsewhere(home.elsewhere, home.today, home.today)),
    ]
    if not home.away.items:
        return shown
    chart = wallchart.renamed(home.chart, words.leave_type)
    shown.append(calendar.table(chart))
    if meanings := calendar.legend(chart):
        shown.append(layout.quiet(meanings))
    shown += _covers(home)
    cursors, cursor = home.cursors, home.away.next_cursor
    return shown + page_buttons(
        cursors.away, cursor, replace(cursors, away=None), replace(cursors, away=cursor)
    )


def _today(home: Home) -> str:
    """How many people are out today; the table below has their names.

    Only for the first page, which begins with them.
    """
    items = home.away.items
    out = [absence for absence in items if absence.start_date <= home.today]
    count = len({absence.user_id for absence in out if absence.status != "pending"})
    if count and len(out) == len(items) and home.away.next_cursor is not None:
        return gettext("{count} people or more are out today.", count=count)
    if count:
        return ngettext("{count} person is out today.", "{count} people are out today.", count)
    return gettext("No one is out today.") if items else gettext("No one is out.")


def _covers(home: Home) -> list[Block]:
    """Who covers for whom, which the table cannot show, without what the viewer covers."""
    listed = {leave.request_id for leave in home.covering[:MAX_COVERING]}
    lines = [
        _cover_line(absence)
        for absence in home.away.items
        if absence.cover_name and absence.request_id not in listed
    ]
    return [layout.paragraph("\n".join(lines))] if lines else []


def _cover_line(absence: Absence) -> str:
    when = words.dates(absence)
    who = gettext("You") if absence.is_own else _one_line(absence.person_name)
    return words.with_cover(words.labelled(who, when), _one_line(absence.cover_name or ""))


def _one_line(name: str) -> str:
    return layout.one_line(layout.cut(name, layout.MAX_NAME))


_TAKEN, _PENDING, _LEFT = "█", "▒", "░"
_BAR_LENGTH: Final = 20


def bar(balance: Balance) -> str:
    """A bar of 20 characters for taken, pending and remaining days; "" without an allowance."""
    whole = max(balance.entitled_half_days, balance.taken_half_days + balance.pending_half_days)
    if whole <= 0:
        return ""
    taken = round(_BAR_LENGTH * balance.taken_half_days / whole)
    used = round(_BAR_LENGTH * (balance.taken_half_days + balance.pending_half_days) / whole)
    return _TAKEN * taken + _PENDING * (used - taken) + _LEFT * (_BAR_LENGTH - used)


def balance_rows(balances: Sequence[Balance]) -> list[Block]:
    """The default allowance with a bar and the way to its ledger, and a line for each other one."""
    shown: list[Block] = []
    for balance in balances:
        if not balance.allowance.is_default:
            continue
        block = layout.section(f"*{_summary(balance)}*")
        if not shown:
            block["accessory"] = balance_lines.where_from(balance)
        # The bar in a line of its own, which nothing beside it can break.
        shown += [block, layout.quiet(" ".join(_figures(balance)))]
    others = [each for each in balances if not each.allowance.is_default]
    for at in range(0, len(others), _POTS_OF_SECTION):
        lines = map(balance_lines.of_allowance, others[at : at + _POTS_OF_SECTION])
        shown.append(layout.section("\n".join(lines)))
    return shown


def _summary(balance: Balance) -> str:
    return ngettext(
        "{year}: {left} of {entitled} day left",
        "{year}: {left} of {entitled} days left",
        words.plural_number(balance.entitled_half_days),
        year=balance.year.name,
        left=_number_of_days(balance.remaining_half_days),
        entitled=_number_of_days(balance.entitled_half_days),
    )


def _figures(balance: Balance) -> list[str]:
    figures = gettext(
        "Approved: {approved}. Pending: {pending}.",
        approved=_number_of_days(balance.taken_half_days),
        pending=_number_of_days(balance.pending_half_days),
    )
    progress = bar(balance)
    sentences = [f"{progress}  {figures}" if progress else figures]
    if "/" in balance.year.name:
        sentences.append(gettext("Leave year: {year}.", year=words.leave_year(balance.year)))
    if balance.lapsing_half_days > 0 and balance.lapsing_after is not None:
        sentences.append(
            gettext(
                "Includes {amount} carried over, to use by {day}.",
                amount=words.amount(balance.lapsing_half_days),
                day=words.day(balance.lapsing_after),
            )
        )
    return sentences


def _number_of_days(half_days: Amount) -> str:
    return words.number(half_days / 2)


def covering_list(covering: Sequence[Covered]) -> list[Block]:
    if not covering:
        return []
    lines = [
        words.labelled(f"• {_one_line(leave.person_name)}", words.dates(leave))
        for leave in covering[:MAX_COVERING]
    ]
    if len(covering) > MAX_COVERING:
        lines.append(gettext("… and more"))
    return [layout.header(gettext("You're covering for")), layout.paragraph("\n".join(lines))]


def page_buttons(
    at: str | None, cursor: str | None, first: PageCursors, following: PageCursors
) -> list[Block]:
    buttons = []
    if at is not None:
        buttons.append(layout.button(gettext("Back to start"), ids.HOME_FIRST, first.packed()))
    if cursor is not None:
        buttons.append(layout.button(gettext("Show more"), ids.HOME_NEXT, following.packed()))
    return [layout.actions(*buttons)] if buttons else []
