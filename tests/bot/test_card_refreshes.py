"""Open approval cards show absent colleagues and the balance as they are now."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest

from storage.admin import allowances, departments, organisation_settings, people, people_status
from storage.base.leave_values import LeaveRequest
from storage.db.database import Transaction
from storage.leave import adjustments, decisions, leave_requests, leave_types, time_credits
from storage.leave.drafts import Draft
from tests.bot.world import ADA, EVE, FIRST_DAY, GRACE, HEDY, LAST_DAY, World
from tests.builders import a_leave_type, a_person, caller_for, home_office

HEDYS_LEAVE = "Hedy Lamarr: Mon 3 to Wed 5 Aug 2026"


def deliver_all(world: World) -> None:
    """Send all due notifications, and the refreshes that wait for further changes of cover."""
    world.deliver()
    world.clock.advance(seconds=3)
    world.deliver()


def shown(world: World, who: str = GRACE) -> str:
    """The text of Ada's card in this approver's conversation."""
    (card,) = [card for card in world.cards(who) if card.text.startswith("Ada")]
    return card.visible_text


def refreshes(world: World) -> int:
    return len(world.slack.calls("chat.update"))


def test_pending_leave_of_colleagues_is_on_the_card_and_marked(world: World) -> None:
    a_leave_type(world.database, world.acme, name="Therapy", code="therapy", is_private=True)
    world.submit_over_rest(HEDY)
    world.submit_over_rest(GRACE, leave_type_id=world.leave_type("therapy"))

    world.a_request()

    assert f"{HEDYS_LEAVE} (Annual leave, pending)" in shown(world, GRACE)
    assert "Grace Hopper: Mon 3 to Wed 5 Aug 2026 (Away, pending)" in shown(world, HEDY)
    assert "Therapy" not in shown(world, HEDY)


def test_an_open_card_follows_changes_of_a_colleagues_leave(world: World) -> None:
    world.a_request()
    assert "Hedy" not in shown(world).partition("Ada Lovelace ·")[2]

    theirs = world.submit_over_rest(HEDY)
    deliver_all(world)
    assert f"{HEDYS_LEAVE} (Annual leave, pending)" in shown(world)

    world.write(leave_requests.edit, theirs.id, {"end_date": date(2026, 8, 4)}, by=HEDY)
    deliver_all(world)
    assert "Hedy Lamarr: Mon 3 to Tue 4 Aug 2026 (Annual leave, pending)" in shown(world)

    world.write(decisions.approve, theirs.id)
    deliver_all(world)
    assert "Hedy Lamarr: Mon 3 to Tue 4 Aug 2026 (Annual leave)" in shown(world)

    world.write(leave_requests.cancel, theirs.id, by=HEDY)
    deliver_all(world)
    assert "Hedy Lamarr:" not in shown(world)


def test_leave_that_moves_away_from_the_dates_leaves_the_card(world: World) -> None:
    theirs = world.submit_over_rest(HEDY)
    world.a_request()
    assert HEDYS_LEAVE in shown(world)

    world.write(
        leave_requests.edit,
        theirs.id,
        {"start_date": date(2026, 9, 1), "end_date": date(2026, 9, 2)},
        by=HEDY,
    )
    deliver_all(world)

    assert "Hedy Lamarr:" not in shown(world)


def test_the_leave_of_an_archived_colleague_leaves_the_card(world: World) -> None:
    world.submit_over_rest(HEDY)
    world.a_request()
    assert HEDYS_LEAVE in shown(world)

    hedy = world.people[HEDY]
    world.write(people_status.archive, hedy.id)
    deliver_all(world)

    assert "Hedy Lamarr:" not in shown(world)


@pytest.mark.both_engines
def test_simultaneous_requests_show_on_each_others_cards(world: World) -> None:
    world.link()
    together = threading.Barrier(2)

    def request_leave(who: str) -> LeaveRequest:
        together.wait()
        return world.submit_over_rest(who)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(request_leave, (ADA, HEDY)))
    deliver_all(world)

    cards = {card.text.split()[0]: card.visible_text for card in world.cards(GRACE)}
    assert f"{HEDYS_LEAVE} (Annual leave, pending)" in cards["Ada"]
    assert "Ada Lovelace: Mon 3 to Wed 5 Aug 2026" in cards["Hedy"]


@pytest.mark.parametrize("day", [date(2026, 8, 3), date(2026, 8, 5)], ids=["first", "last"])
def test_a_colleagues_leave_on_one_date_of_the_request_is_on_the_card(
    world: World, day: date
) -> None:
    world.a_request()

    world.submit_over_rest(HEDY, start_date=day, end_date=day)
    deliver_all(world)

    assert "Hedy" in shown(world).partition("Ada Lovelace ·")[2]


def test_leave_on_other_dates_or_of_other_teams_refreshes_no_card(world: World) -> None:
    world.a_request()
    before = refreshes(world)

    world.submit_over_rest(HEDY, start_date=date(2026, 9, 7), end_date=date(2026, 9, 8))
    world.submit_over_rest(EVE)
    deliver_all(world)

    assert refreshes(world) == before


@pytest.mark.both_engines
def test_several_changes_refresh_a_card_once(world: World) -> None:
    world.a_request()
    before = refreshes(world)
    others = [
        a_person(
            world.database,
            world.acme,
            first_name=f"Colleague{number}",
            department_id=world.people[ADA].department_id,
        )
        for number in range(4)
    ]
    for other in others:
        world.database.write_now(
            leave_requests.submit,
            by=caller_for(world.acme, other),
            draft=Draft(
                leave_type_id=world.leave_type("sick"), start_date=FIRST_DAY, end_date=LAST_DAY
            ),
            now=world.clock(),
        )
    deliver_all(world)

    assert all(f"• {other.name}: " in shown(world) for other in others)
    # Ada's card, once for each of its two approvers.
    assert refreshes(world) - before == 2


def test_another_request_of_the_same_person_changes_the_balance_on_the_open_card(
    world: World,
) -> None:
    world.a_request()
    assert "→ 22 days left in 2026" in shown(world)

    second = world.submit_over_rest(ADA, start_date=date(2026, 9, 7), end_date=date(2026, 9, 8))
    world.deliver()
    first, other = [card for card in world.cards(GRACE) if card.text.startswith("Ada")]
    assert "23 → 20 days left in 2026, after 2 days of other pending leave" in first.visible_text
    assert "After this: 20 days left in 2026, after 2 days of other pending leave." in first.text
    assert "22 → 20 days left in 2026, after 3 days of other pending leave" in other.visible_text

    world.change(decisions.approve, second.id)
    (card,) = [card for card in world.cards(GRACE) if card.ts == first.ts]
    assert "23 → 20 days left in 2026\n" in card.visible_text
    (decided,) = [card for card in world.cards(GRACE) if card.ts == other.ts]
    assert "22 → 20 days left in 2026" in decided.visible_text

    world.change(leave_requests.cancel, second.id, by=ADA)
    (card,) = [card for card in world.cards(GRACE) if card.ts == first.ts]
    assert "→ 22 days left in 2026" in card.visible_text


def adjusted(tx: Transaction, world: World) -> None:
    adjustments.add(
        tx,
        world.people[ADA].id,
        half_days=4,
        reason="Moved house",
        leave_year=2026,
        by=world.acme.caller,
        now=world.clock(),
    )


def earned(tx: Transaction, world: World) -> None:
    by, now = world.acme.caller, world.clock()
    allowances.update(tx, world.acme.id, {"earnable": True}, by=by, now=now)
    time_credits.create(
        tx,
        allowance_id=world.acme.id,
        worked_on=world.clock().date(),
        days=2,
        reason="Release",
        user_id=world.people[ADA].id,
        by=by,
        now=now,
    )


def own_allowance(tx: Transaction, world: World) -> None:
    changes = {"leave_allowance_half_days": 54}
    people.update(tx, world.people[ADA].id, changes, by=world.acme.caller, now=world.clock())


def allowance_of_the_department(tx: Transaction, world: World) -> None:
    changes = {"default_leave_allowance_half_days": 54}
    departments.update(
        tx,
        str(world.people[ADA].department_id),
        changes,
        by=world.acme.caller,
        now=world.clock(),
    )


def allowance_of_the_organisation(tx: Transaction, world: World) -> None:
    changes = {"default_leave_allowance_half_days": 54}
    organisation_settings.update(tx, changes, by=world.acme.caller, now=world.clock())


@pytest.mark.parametrize(
    "change",
    [adjusted, earned, own_allowance, allowance_of_the_department, allowance_of_the_organisation],
)
def test_another_allowance_changes_the_balance_on_open_cards(
    world: World, change: Callable[[Transaction, World], None]
) -> None:
    world.a_request()
    assert "→ 22 days left in 2026" in shown(world)

    world.database.write_now(change, world)
    world.deliver()

    assert "→ 24 days left in 2026" in shown(world)


def test_the_allowance_of_a_later_department_changes_the_balance_on_open_cards(
    world: World,
) -> None:
    research = world.write(departments.create, {"name": "Research"})
    world.write(
        people.update,
        world.people[ADA].id,
        {"department_id": research.id, "effective_from": date(2026, 7, 1)},
    )
    world.a_request()
    assert "→ 22 days left in 2026" in shown(world)

    world.change(departments.update, research.id, {"default_leave_allowance_half_days": 60})

    assert "→ 25 days left in 2026" in shown(world)


def test_a_type_that_becomes_private_is_no_longer_named_on_open_cards(world: World) -> None:
    world.submit_over_rest(HEDY)
    world.a_request()
    changes = {"is_private": True}

    world.change(leave_types.update, world.leave_type("annual"), changes)

    assert f"{HEDYS_LEAVE} (Away, pending)" in shown(world)


def test_a_type_that_no_longer_counts_as_away_disappears_from_open_cards(world: World) -> None:
    world.submit_over_rest(HEDY)
    world.a_request()
    assert HEDYS_LEAVE in shown(world)

    world.change(leave_types.update, world.leave_type("annual"), {"is_away": False})

    assert HEDYS_LEAVE not in shown(world)


def test_work_elsewhere_refreshes_no_cards_of_colleagues(world: World) -> None:
    home = home_office(world.database, world.acme)
    world.a_request()
    before = refreshes(world)

    world.submit_over_rest(HEDY, leave_type_id=home.id)
    deliver_all(world)

    assert refreshes(world) == before


def test_a_deleted_card_does_not_come_back_because_cover_changed(world: World) -> None:
    world.a_request()
    world.delete(world.card(GRACE))

    world.submit_over_rest(HEDY)
    deliver_all(world)

    assert [card for card in world.cards(GRACE) if card.text.startswith("Ada")] == []
