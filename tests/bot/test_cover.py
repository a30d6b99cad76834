"""A colleague who covers: chosen in the form, shown to others, told the days only."""

from __future__ import annotations

from datetime import date
from typing import Any

from bot.base import ids
from storage.admin import organisation_settings, people_status
from storage.base.leave_values import LeaveRequest
from storage.leave import decisions, leave_requests
from tests.bot.test_form import alerts, pick, typed
from tests.bot.world import ADA, EVE, GRACE, HEDY, World
from tests.builders import a_leave_type, a_person, a_request
from tests.fakes.slack import View

TUESDAY = date(2026, 8, 4)


def offered(world: World, form: View, query: str = "") -> dict[str, list[str]]:
    """The names in the response to a search for a cover, by their group."""
    body = world.slack.suggest(ADA, form, ids.COVER_SEARCH, query).body
    assert isinstance(body, dict)
    return {
        group["label"]["text"]: [option["text"]["text"] for option in group["options"]]
        for group in body["option_groups"]
    }


def option(world: World, who: str) -> dict[str, Any]:
    """The person as an option of the search, which the form does not list."""
    person = world.people[who]
    return {"text": {"type": "plain_text", "text": person.name}, "value": person.id}


def picked(world: World, who: str) -> dict[str, Any]:
    return {ids.COVER: option(world, who)}


def approve(world: World, request: LeaveRequest) -> LeaveRequest:
    return world.write(decisions.approve, request.id)


def off(world: World, who: str, day: date, **fields: Any) -> LeaveRequest:
    request = a_request(world.database, world.acme, world.people[who], start_date=day, **fields)
    return approve(world, request)


def covered(world: World, cover: str = GRACE, **filled: Any) -> LeaveRequest:
    """Ada's request for three days in August, approved, with a cover."""
    request = world.a_request(**picked(world, cover), **filled)
    approve(world, request)
    world.deliver()
    return request


def told(world: World, who: str) -> list[str]:
    return [message.text for message in world.slack.dm(who) if "cover" in message.text]


def test_the_form_offers_the_team_with_those_who_are_there_first(world: World) -> None:
    off(world, GRACE, TUESDAY)

    form = typed(world, "3-5 aug annual")

    assert offered(world, form) == {
        "No cover": ["No one"],
        "Available on these days": ["Hedy Lamarr"],
        "Off on some of these days": ["Grace Hopper"],
    }
    assert offered(world, form, "else") == {"Available on these days": ["Eve Elsewhere"]}
    assert offered(world, form, "love") == {}

    form = pick(world, form, start_date="2026-08-05")
    assert offered(world, form)["Available on these days"] == ["Grace Hopper", "Hedy Lamarr"]


def test_colleagues_of_the_same_name_are_told_apart(world: World) -> None:
    other = a_person(world.database, world.acme, first_name="Grace", last_name="Hopper")

    form = typed(world, "3-5 aug annual")

    assert offered(world, form, "hopper")["Available on these days"] == [
        f"Grace Hopper ({world.people[GRACE].email})",
        f"Grace Hopper ({other.email})",
    ]


def test_the_live_line_warns_of_days_on_which_the_cover_is_off(world: World) -> None:
    off(world, GRACE, TUESDAY)
    form = typed(world, "3-5 aug annual")

    for cover, warns in ((GRACE, True), (HEDY, False)):
        answer = world.slack.pick(ADA, form, ids.COVER, ids.COVER_SEARCH, option(world, cover))
        assert answer.ok
        world.settled()
        form = world.slack.open_modal(ADA)
        assert (("info", "Grace Hopper is off on Tue 4 Aug.") in alerts(form)) == warns
        assert world.people[cover].name in form.visible_text


def test_a_cover_is_changed_and_removed_in_the_form(world: World) -> None:
    request = world.a_request(**picked(world, GRACE))
    assert request.cover_user_id == world.people[GRACE].id

    no_one = {"text": {"type": "plain_text", "text": "No one"}, "value": ids.NOTHING}
    for chosen, stored in ((option(world, HEDY), world.people[HEDY].id), (no_one, None)):
        world.click(ADA, ids.EDIT, world.own_message(ADA))
        form = world.slack.open_modal(ADA, ids.EDIT_FORM)
        assert world.slack.submit(ADA, form, {ids.COVER: chosen}).errors == {}
        world.deliver()
        assert world.request().cover_user_id == stored


def test_a_missing_cover_is_reported_at_its_field_when_the_form_is_sent(world: World) -> None:
    study = a_leave_type(world.database, world.acme, name="Study leave", requires_cover=True)

    form = typed(world, "3 aug study")
    assert "⚠️" not in form.visible_text
    world.slack.close(ADA, form)

    assert world.send_form(**{ids.LEAVE_TYPE: study.id}).errors == {
        ids.COVER: "Study leave needs a colleague to cover."
    }


def test_a_card_is_refreshed_when_the_cover_requests_leave(world: World) -> None:
    world.a_request(**picked(world, EVE))
    assert "⚠️" not in world.card(GRACE).visible_text

    a_request(world.database, world.acme, world.people[EVE], start_date=TUESDAY)
    world.clock.advance(seconds=5)
    world.deliver()

    assert "⚠️ Eve Elsewhere is off" in world.card(GRACE).visible_text


def test_the_cover_is_told_the_days_and_nothing_else(world: World) -> None:
    request = world.a_request(
        **picked(world, EVE),
        **{ids.LEAVE_TYPE: world.leave_type("compassionate"), ids.NOTE: "A funeral"},
    )
    assert world.slack.dm(EVE) == []

    approve(world, request)
    world.deliver()

    (message,) = world.slack.dm(EVE)
    assert message.text == ("You're covering for Ada Lovelace: Mon 3 to Wed 5 Aug 2026.")
    assert message.buttons == []


def test_the_cover_is_told_when_the_person_leaves_and_when_a_decision_is_reversed(
    world: World,
) -> None:
    request = covered(world, EVE)
    world.change(decisions.change_decision, request.id, "declined")
    assert told(world, EVE)[-1].startswith("You no longer need to cover for Ada Lovelace: ")

    world.change(decisions.change_decision, request.id, "approved")
    assert told(world, EVE)[-1].startswith("You're covering for Ada Lovelace: ")

    world.change(people_status.archive, world.people[ADA].id)
    assert told(world, EVE)[-1].startswith("You no longer need to cover for Ada Lovelace: ")
    assert len(told(world, EVE)) == 4


def test_the_cover_is_told_new_days_of_approved_leave(world: World) -> None:
    request = covered(world, EVE)

    shortened = {"end_date": TUESDAY}
    world.change(leave_requests.edit, request.id, shortened, by=ADA)
    assert told(world, EVE)[-1] == (
        "The days on which you cover for Ada Lovelace have changed. They're now Mon 3 to "
        "Tue 4 Aug 2026."
    )

    other = {"cover_user_id": world.people[HEDY].id, "end_date": date(2026, 8, 3)}
    world.change(leave_requests.edit, request.id, other, by=ADA)
    # Not the days that the new cover has.
    assert told(world, EVE)[-1] == (
        "You no longer need to cover for Ada Lovelace: Mon 3 to Tue 4 Aug 2026."
    )
    assert told(world, HEDY)[-1] == "You're covering for Ada Lovelace: Mon 3 Aug 2026."


def test_a_late_message_to_a_former_cover_is_not_sent(world: World) -> None:
    request = world.a_request(**picked(world, EVE))
    approve(world, request)
    world.change(leave_requests.cancel, request.id, by=ADA)

    assert [message.split(":")[0] for message in told(world, EVE)] == [
        "You no longer need to cover for Ada Lovelace"
    ]


def test_the_cover_of_leave_that_is_over_is_not_told(world: World) -> None:
    off(world, ADA, date(2026, 5, 5), cover_user_id=world.people[EVE].id)
    world.deliver()

    assert told(world, EVE) == []


def test_the_person_is_told_when_their_cover_is_archived(world: World) -> None:
    covered(world, EVE)

    world.change(people_status.archive, world.people[EVE].id)

    message = world.slack.dm(ADA)[-1]
    assert "The colleague who was to cover for you has left. Choose someone else." in message.text


def test_home_shows_who_covers_and_for_whom_one_covers(world: World) -> None:
    covered(world)

    own = world.home(ADA).visible_text
    assert "Approved, covered by Grace Hopper" in own
    assert "You're covering for" not in own

    world.slack.open_home(GRACE)
    assert "You're covering for\n• Ada Lovelace: Mon 3 to Wed 5 Aug 2026" in (
        world.slack.home(GRACE).visible_text
    )


def test_whos_out_and_the_daily_message_say_who_covers(world: World) -> None:
    world.slack.add_channel("COUT", "who-is-out", is_member=True)
    world.link()
    world.write(organisation_settings.update, {"digest_channel": "COUT"})
    request = off(world, ADA, date(2026, 6, 2), code="unpaid", cover_user_id=world.people[EVE].id)
    world.clock.now = request.created_at.replace(day=2, hour=8)

    world.run(world.app.digests.run)
    (message,) = world.slack.in_channel("COUT")
    assert "• Ada Lovelace: Unpaid leave, covered by Eve Elsewhere" in message.text

    world.command(HEDY, "out")
    assert "(Unpaid leave), covered by Eve Elsewhere" in world.slack.response_posts[-1].body["text"]
    home = world.home(HEDY).visible_text
    assert "Ada Lovelace: Tue 2 Jun 2026, covered by Eve Elsewhere" in home

    world.write(leave_requests.cancel, request.id, by=ADA)
    off(world, ADA, date(2026, 6, 2), code="unpaid", cover_user_id=world.people[GRACE].id)
    world.clock.advance(hours=1)
    world.run(world.app.digests.run)
    assert "covered by Grace Hopper" in world.slack.in_channel("COUT")[-1].text

    # Who covers is not told twice.
    home = world.home(GRACE).visible_text
    assert "You're covering for\n• Ada Lovelace: Tue 2 Jun 2026" in home
    assert "Who's out" in home
    assert home.count("Ada Lovelace: Tue 2 Jun 2026") == 1
