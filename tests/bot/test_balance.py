"""What people see of their allowances: Home, the ledger in words, the command, and refusals."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.base import ids
from bot.base.language import using_locale
from bot.blocks import balance_lines
from bot.interaction import errors
from bot.views import balance as views
from bot.views import home_tab
from playground.loopback.limits import is_too_large, problems_of_view
from storage.admin import allowances, people
from storage.admin.allowances import MAX_ALLOWANCES
from storage.base.errors import InsufficientAllowance
from storage.leave import adjustments
from storage.leave.bookings import BookedLeave
from storage.leave.ledgers import YEARS_AHEAD, Balance, Line
from storage.rules.leave_years import LeaveYear
from tests.bot.test_home_views import balance
from tests.bot.test_settings_access import choose, click, settings
from tests.bot.test_settings_views import a_balance
from tests.bot.test_views import text
from tests.bot.world import ADA, ADMIN, GRACE, World
from tests.builders import a_leave_type, an_allowance
from tests.fakes.slack import Message, View

FRIDAY = date(2026, 8, 7)


def a_pot(world: World, name: str = "Volunteering", **terms: Any) -> str:
    """An allowance of two days and a leave type of the same name; the allowance's id."""
    terms = {"half_days_per_year": 4} | terms
    shown = world.write(allowances.create, {"name": name, **terms})
    a_leave_type(world.database, world.acme, name=name, allowance_id=shown.allowance.id)
    return shown.allowance.id


def terms(world: World, effective_from: date | None = date(2026, 1, 1), **terms: Any) -> None:
    """Other terms of the default allowance."""
    world.write(allowances.update, world.acme.id, terms, effective_from=effective_from)


def reply(world: World, typed: str, who: str = ADA) -> Message:
    world.command(who, typed)
    return [message for message in world.slack.ephemerals if message.user == who][-1]


def ledger(world: World) -> View:
    """Ada's ledger as of today, opened from Home."""
    home = world.home(ADA)
    world.click_in_view(ADA, home, ids.BALANCE)
    return world.slack.open_modal(ADA)


def on(world: World, day: str) -> str:
    """The text of the open ledger as of another day."""
    shown = world.slack.open_modal(ADA)
    world.pick(ADA, shown, views.DAY, ids.BALANCE_DAY, day)
    return world.slack.open_modal(ADA).visible_text


def test_home_has_a_line_for_each_other_allowance_and_one_question(world: World) -> None:
    a_pot(world)
    a_pot(world, "Study <leave>", half_days_per_year=None)
    world.submit_over_rest(
        leave_type_id=world.leave_type("volunteering"), start_date=FRIDAY, end_date=FRIDAY
    )

    home = world.home(ADA)

    assert "*2026: 25 of 25 days left*" in home.visible_text
    assert "*Volunteering*: 1 of 2 days left in 2026 · 1 day pending" in home.visible_text
    assert "Study" not in home.visible_text
    asked = [button.text for button in home.buttons if button.action_id == ids.BALANCE]
    assert asked == ["Where do my 25 days come from?"]


def test_the_ledger_says_where_the_days_come_from(world: World) -> None:
    a_pot(world)
    terms(world, carry_over_half_days=10, carry_over_expires_after_months=3)
    person = world.people[ADA].id
    world.write(people.update, person, {"start_date": date(2024, 1, 1)})
    world.write(adjustments.add, person, half_days=3, reason="Moved *house*", leave_year=2026)
    world.submit_over_rest()

    shown = ledger(world).visible_text

    assert "Annual leave, 2026\n*23.5 days left*\n• +25: Allowance for the year\n" in shown
    assert "\n• +1.5: Adjustment: Moved *house*\n" in shown
    assert "\n• -3: Annual leave, Mon 3 to Wed 5 Aug 2026: pending" in shown
    assert "Volunteering, 2026\n*2 days left*\n• +2: Allowance for the year" in shown


def test_the_ledger_of_another_day_is_shown_once_it_is_picked(world: World) -> None:
    terms(world, granting="monthly")
    first = ledger(world).visible_text

    december = on(world, "2026-12-01")
    next_year = on(world, "2027-01-31")

    assert "*12.5 days left*\n• +25: Allowance for the year\n• -12.5: Granted later" in first
    assert "*25 days left*\n• +25: Allowance for the year" in december
    assert "Granted later" not in december
    assert "2027\n*2.5 days left*" in next_year


def test_a_day_out_of_reach_is_explained_and_another_can_be_picked(world: World) -> None:
    ledger(world)

    refused = on(world, "2999-01-01")

    assert "Choose a date within 20 years of today." in refused
    assert "*25 days left*" in on(world, "2026-06-02")


def test_allowances_are_named_only_where_there_are_several(world: World) -> None:
    shown = ledger(world).visible_text

    assert "2026\n*25 days left*" in shown
    assert "Annual leave" not in shown


def balance_of_ada(world: World) -> View:
    """The balance of Ada, opened by an admin from the list of people."""
    world.add_admin()
    listed = settings(world, ADMIN, "settings.people")
    return choose(world, ADMIN, listed, "settings.people.menu", f"balance {world.people[ADA].id}")


def test_admins_see_where_the_days_of_a_person_come_from_on_any_day(world: World) -> None:
    person = world.people[ADA].id
    own = {"start_date": date(2026, 2, 1), "leave_allowance_half_days": 48}
    world.write(people.update, person, own | {"effective_from": date(2026, 2, 1)})
    world.submit_over_rest()

    shown = click(world, ADMIN, balance_of_ada(world), "settings.people.ledger")

    assert "Ada Lovelace" in shown.visible_text
    assert "2026\n*19 days left*\n• +24: The person's own allowance" in shown.visible_text
    assert "\n• -2: Started on Sun 1 Feb 2026\n" in shown.visible_text
    assert "Annual leave, Mon 3 to Wed 5 Aug 2026: pending" in shown.visible_text
    assert "You" not in shown.visible_text
    world.pick(ADMIN, shown, views.DAY, "settings.people.ledger.day", "2027-03-01")
    assert "2027\n*24 days left*" in world.slack.open_modal(ADMIN).visible_text
    world.pick(ADMIN, shown, views.DAY, "settings.people.ledger.day", "2999-01-01")
    refused = world.slack.open_modal(ADMIN)
    assert "Choose a date within 20 years of today." in refused.visible_text


def test_the_ledger_of_a_person_leads_back_to_the_form_that_adjusts_it(world: World) -> None:
    form = balance_of_ada(world)
    shown = click(world, ADMIN, form, "settings.people.ledger")
    assert shown.id == form.id

    form = click(world, ADMIN, shown, "settings.people.ledger.adjust")
    adjusted = {"days": "2", "reason": "Moved house"}
    assert world.slack.submit(ADMIN, form, adjusted).errors == {}

    shown = click(world, ADMIN, world.slack.open_modal(ADMIN), "settings.people.ledger")
    assert "\n• +2: Adjustment: Moved house" in shown.visible_text


def test_the_command_shows_every_allowance(world: World) -> None:
    a_pot(world)

    shown = reply(world, "balance")

    assert shown.text == (
        "*25 days left* in the leave year 2026\n"
        "Allowance: 25 days. Approved: no days. Pending: no days.\n"
        "*Volunteering*: 2 of 2 days left in 2026"
    )
    world.click(ADA, ids.BALANCE, shown)
    assert "Volunteering, 2026\n*2 days left*" in world.slack.open_modal(ADA).visible_text


@pytest.mark.parametrize(
    ("typed", "starts"),
    [
        ("balance 2027", "On Fri 1 Jan 2027:\n*28 days left*"),
        ("balance next year", "On Fri 1 Jan 2027:\n*28 days left*"),
        ("balance for 2026", "*25 days left* in the leave year 2026\n"),
        ("my balance in 2025?", "On Wed 31 Dec 2025:\n*25 days left*"),
        ("balance on 1 may", "On Sat 1 May 2027:\n*28 days left*"),
        ("balance 1.5.", "On Sat 1 May 2027:\n*28 days left*"),
        ("balance on 31 december 2026", "On Thu 31 Dec 2026:\n*25 days left*"),
        ("balance as of 2027-05-01", "On Sat 1 May 2027:\n*28 days left*"),
        ("balance today", "*25 days left*"),
        ("how many days do I have left in 2027?", "On Fri 1 Jan 2027:\n*28 days left*"),
        ("urlaubskonto 2027", "On Fri 1 Jan 2027:\n*28 days left*"),
        ("konto am 1. mai", "On Sat 1 May 2027:\n*28 days left*"),
        ("Resturlaub 2027", "On Fri 1 Jan 2027:\n*28 days left*"),
    ],
)
def test_the_balance_of_a_typed_day_or_year(world: World, typed: str, starts: str) -> None:
    terms(world, date(2027, 1, 1), half_days_per_year=56)

    assert reply(world, typed).text.startswith(starts)


def test_the_question_below_another_days_balance_opens_the_ledger_of_that_day(
    world: World,
) -> None:
    terms(world, date(2027, 1, 1), half_days_per_year=56)

    shown = reply(world, "balance on 1 may 2027")
    world.click(ADA, ids.BALANCE, shown)

    modal = world.slack.open_modal(ADA)
    assert modal.values[views.DAY][ids.BALANCE_DAY]["selected_date"] == "2027-05-01"
    assert "2027\n*28 days left*\n• +28: Allowance for the year" in modal.visible_text


@pytest.mark.parametrize("typed", ["soon", "of <@eve", "on 31 june", "0000", "sick"])
def test_words_that_are_no_day_get_an_example(world: World, typed: str) -> None:
    shown = reply(world, f"balance {typed}").text

    assert shown.startswith("Sorry, I can't read “")
    assert shown.endswith("Try `/timeoff balance 2027` or `/timeoff balance on 1 may`.")


def test_a_year_out_of_reach_is_refused(world: World) -> None:
    assert reply(world, "balance 2999").text == "Choose a date within 20 years of today."


def test_the_form_the_card_and_the_messages_name_the_allowance(world: World) -> None:
    a_pot(world, "Study & rest")
    study = world.leave_type("study-rest")

    form = world.open_form()
    world.pick(ADA, form, ids.LEAVE_TYPE, ids.RECOUNT, study)
    world.pick(ADA, form, ids.FIRST_DAY, ids.RECOUNT, FRIDAY.isoformat())
    live = world.slack.open_modal(ADA).visible_text
    world.slack.close(ADA, world.slack.open_modal(ADA))
    world.a_request(
        **{ids.LEAVE_TYPE: study, ids.FIRST_DAY: str(FRIDAY), ids.LAST_DAY: str(FRIDAY)}
    )

    assert "After this: 1 day left in 2026 (Study &amp; rest)" in live
    card = world.card(GRACE)
    assert "2 → 1 day left in 2026 (Study &amp; rest)" in card.visible_text
    assert "After this: 1 day left in 2026 (Study &amp; rest)." in card.text
    assert "After this: 1 day left in 2026 (Study &amp; rest)" in world.own_message(ADA).text


def test_the_default_allowance_is_not_named(world: World) -> None:
    a_pot(world)

    world.a_request()

    assert "25 → 22 days left in 2026" in world.card(GRACE).visible_text
    assert "2026 (" not in world.card(GRACE).visible_text + world.own_message(ADA).text


def test_a_request_for_a_used_up_allowance_is_refused_with_its_name(world: World) -> None:
    a_pot(world, half_days_per_year=2)
    volunteering = world.leave_type("volunteering")
    world.submit_over_rest(leave_type_id=volunteering, start_date=FRIDAY, end_date=FRIDAY)

    answer = world.send_form(
        **{ids.LEAVE_TYPE: volunteering, ids.FIRST_DAY: "2026-08-10", ids.LAST_DAY: "2026-08-11"}
    )

    assert " ".join(answer.errors.values()) == (
        "You have no days of “Volunteering” left in 2026. This request needs 2 days."
    )


def test_a_request_that_later_leave_needs_the_days_of_is_refused_with_its_dates(
    world: World,
) -> None:
    terms(world, half_days_per_year=48, granting="monthly")
    world.submit_over_rest(start_date=date(2027, 8, 2), end_date=date(2027, 8, 17))

    answer = world.send_form(**{ids.FIRST_DAY: "2027-05-10", ids.LAST_DAY: "2027-05-14"})

    assert " ".join(answer.errors.values()) == (
        "You have 4 days left in 2027. This request needs 5 days. "
        "The other days are needed for later leave: Mon 2 to Tue 17 Aug 2027."
    )


def test_refusals_of_allowances_in_german() -> None:
    refusal = InsufficientAllowance(
        4, 6, "2027", allowance_name="Ehrenamt", later_leave=(date(2027, 8, 2), date(2027, 8, 17))
    )

    with using_locale("de-DE"):
        some = errors.sentence(refusal)
        none = errors.sentence(InsufficientAllowance(0, 6, "2027", allowance_name="Ehrenamt"))

    assert some == (
        "Du hast 2027 noch 2 Tage im Kontingent „Ehrenamt“ übrig. Dieser Antrag braucht 3 Tage. "
        "Die übrigen Tage sind schon für später verplant: Mo 2. bis Di 17. Aug. 2027."
    )
    assert none == (
        "Du hast 2027 keine Tage im Kontingent „Ehrenamt“ mehr übrig. Dieser Antrag braucht 3 Tage."
    )


def test_admins_see_and_adjust_each_allowance(world: World) -> None:
    pot = a_pot(world)
    world.add_admin()
    person = world.people[ADA].id
    listed = settings(world, ADMIN, "settings.people")
    form = choose(world, ADMIN, listed, "settings.people.menu", f"{ids.MENU_BALANCE} {person}")

    sent = world.submit(ADMIN, form, {"days": "1.5", "reason": "Fire drill", "allowance_id": pot})

    done = world.slack.open_modal(ADMIN)
    assert "*Volunteering*\n2 days left in 2026" in form.visible_text
    assert sent.errors == {}
    assert "*Ada Lovelace*\n25 days left in 2026" in done.visible_text
    assert "*Volunteering*\n3.5 days left in 2026" in done.visible_text


def test_what_a_change_does_to_balances_names_the_allowance(world: World) -> None:
    a_pot(world)
    world.add_admin()
    volunteering = world.leave_type("volunteering")
    world.submit_over_rest(leave_type_id=volunteering, start_date=FRIDAY, end_date=FRIDAY)
    listed = settings(world, ADMIN, "settings.leave_types")
    form = choose(world, ADMIN, listed, "settings.leave_types.menu", f"edit {volunteering}")

    world.submit(ADMIN, form, {"allowance_id": ids.NOTHING})

    confirmation = world.slack.open_modal(ADMIN, "Before you save")
    assert "• Ada Lovelace, Volunteering 2026: 1 → 2 days left" in confirmation.visible_text


def a_line(number: int, **fields: Any) -> Line:
    booked = BookedLeave(
        id=str(number),
        leave_type_id="type",
        start_date=FRIDAY,
        end_date=FRIDAY,
        start_half_day=None,
        end_half_day=None,
        status="approved",
        counted_halves="3",
    )
    return Line(type="leave", half_days=-2, leave=replace(booked, **fields))


def test_many_lines_alike_end_with_the_sum_of_the_rest() -> None:
    many = replace(a_balance(2, "", an_allowance()), lines=[a_line(at) for at in range(10)])

    lines = balance_lines.ledger(many, {"type": "Annual leave"}, most_alike=4)

    assert lines[:3] == ["• -1: Annual leave, Fri 7 Aug 2026: approved"] * 3
    assert lines[3:] == ["• -7: … and 7 more"]


def test_periods_expiry_and_time_in_lieu_in_words() -> None:
    day, year = (
        date(2026, 3, 31),
        LeaveYear(first_day=date(2025, 1, 1), last_day=date(2025, 12, 31)),
    )
    shown = replace(
        a_balance(2, "", an_allowance()),
        lines=[
            Line(type="earlier_employment", half_days=4, day=day),
            Line(type="earlier_employment_settled", half_days=-4, day=day),
            Line(type="allowance", half_days=50, source="department"),
            Line(type="pro_rata", half_days=-2, day=day),
            Line(type="allowance_change", half_days=2, day=day),
            Line(type="employment_end", half_days=-4, day=day),
            Line(type="carry_over", half_days=6, from_year=year),
            Line(type="carry_over_expired", half_days=-6, day=day),
            Line(type="credit", half_days=2, day=day),
            Line(type="credit_expired", half_days=-1, day=day),
        ],
    )

    assert balance_lines.ledger(shown, {}, most_alike=4) == [
        "• +2: For your employment until Tue 31 Mar 2026",
        "• -2: Left when that employment ended on Tue 31 Mar 2026",
        "• +25: Your department's allowance for the year",
        "• -1: You started on Tue 31 Mar 2026",
        "• +1: Another allowance from Tue 31 Mar 2026 on",
        "• -2: Your employment ends on Tue 31 Mar 2026",
        "• +3: Carried over from 2025",
        "• -3: Carried over, but not used by Tue 31 Mar 2026",
        "• +1: Time in lieu for work on Tue 31 Mar 2026",
        "• -0.5: Time in lieu, but not used by Tue 31 Mar 2026",
    ]


def test_an_allowance_that_grants_nothing_has_only_what_was_earned() -> None:
    earned = Line(type="credit", half_days=2, day=date(2026, 5, 30))
    shown = replace(
        a_balance(2, "", an_allowance()), lines=[Line(type="allowance", half_days=0), earned]
    )

    lines = balance_lines.ledger(shown, {}, most_alike=4)

    assert lines == ["• +1: Time in lieu for work on Sat 30 May 2026"]


@given(text(200), text(200), st.integers(1, MAX_ALLOWANCES))
def test_the_ledger_and_the_lines_of_home_are_within_limits(
    name: str, reason: str, count: int
) -> None:
    pots = [an_allowance(name, is_default=at == 0) for at in range(count)]
    balances: list[Balance] = []
    for pot in pots:
        shown = a_balance(2, reason, pot)
        balances.append(replace(shown, lines=[*shown.lines, *[a_line(at) for at in range(200)]]))
    of_years = [
        replace(balance(50, 2, 2, 2), allowance=pot) for pot in pots for _ in range(1 + YEARS_AHEAD)
    ]

    view = views.view(balances, {"type": name})
    home = {"type": "home", "callback_id": ids.HOME, "blocks": home_tab.balance_rows(of_years)}

    for shown_view in (view, home):
        assert problems_of_view(shown_view) == []
        assert not is_too_large(shown_view)
