"""The Home tab, over signed HTTP: its content for each reader, and its buttons."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from bot.base import ids
from playground.loopback.blocks import located
from storage.admin import people_status
from storage.base.leave_values import LeaveRequest
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.leave import decisions, leave_lists, leave_requests, leave_rows, leave_types
from storage.leave.drafts import Draft
from storage.outbox import organisation_config
from storage.workspaces import slack_workspaces
from storage.workspaces.slack_workspaces import PageCursors
from tests.bot.browser import Browser, by_oauth
from tests.bot.conftest import Logged
from tests.bot.test_calendar import cell_text
from tests.bot.test_settings_access import choose
from tests.bot.world import ADA, EVE, FIRST_DAY, GRACE, HEDY, World
from tests.builders import NOW, Acme, a_person, a_request, an_organisation, caller_for
from tests.fakes.slack import LoopbackSlack, View

OPENED = {"type": "app_home_opened", "user": ADA, "tab": "home"}


def opened(world: World, who: str) -> View:
    assert world.slack.open_home(who).ok
    world.settled()
    return world.slack.home(who)


def labels(view: View) -> list[str]:
    return [button.text for button in view.buttons]


def menu_of(view: View, action_id: str) -> list[str]:
    """The labels of the first overflow menu with this id; none without one."""
    menus = (each for _, each in located(view.blocks) if each["action_id"] == action_id)
    menu: dict[str, Any] = next(menus, {"options": []})
    return [option["text"]["text"] for option in menu["options"]]


def pick_on_home(world: World, who: str, home: View, value: str) -> None:
    """Choose in the menu of one's own leave."""
    (block_id,) = [
        block["block_id"]
        for block, element in located(home.blocks)
        if value in [option["value"] for option in element.get("options", ())]
    ]
    assert world.pick(who, home, block_id, ids.HOME_LEAVE_MENU, value).ok


def ask_to_cancel(world: World, who: str, home: View, request: LeaveRequest) -> View:
    """Choose Cancel in the menu of the leave; returns the modal that is on top afterwards."""
    pick_on_home(world, who, home, f"cancel {request.id}")
    return world.slack.open_modal(who)


def rows(view: View) -> list[list[str]]:
    """The table of who is out, without its heading."""
    (table,) = [block for block in view.blocks if block["type"] == "table"]
    return [[cell_text(cell) for cell in row] for row in table["rows"][1:]]


def test_home_shows_the_balance_own_leave_and_absent_colleagues(world: World) -> None:
    world.submit_over_rest(ADA)

    home = opened(world, ADA)

    text = home.visible_text
    assert "*2026: 22 of 25 days left*" in text
    assert "▒▒░░░░░░░░░░░░░░░░░░  Approved: 0. Pending: 3." in text
    assert "Mon 3 to Wed 5 Aug 2026, 3 days · Awaiting a decision" in text
    assert "No one is out." in text
    assert "Waiting for your decision" not in text
    assert labels(home) == [
        "Settings",
        "Request leave",
        "I'm sick",
        "Calendar",
        "Where do my 22 days come from?",
        "Show everyone",
    ]
    assert menu_of(home, ids.HOME_LEAVE_MENU) == ["Edit", "Cancel leave…"]


def test_what_waits_for_the_viewer_comes_before_the_other_lists(world: World) -> None:
    world.submit_over_rest(ADA)
    world.submit_over_rest(GRACE)

    home = opened(world, GRACE)

    headers = [block["text"]["text"] for block in home.blocks if block["type"] == "header"]
    assert headers == [
        "Waiting for your decision",
        "Your leave",
        "Who's out",
    ]


def test_next_years_balance_is_shown_once_leave_is_booked_in_it(world: World) -> None:
    assert "2027" not in opened(world, ADA).visible_text

    world.submit_over_rest(ADA, start_date=date(2026, 12, 31), end_date=date(2027, 1, 5))

    text = opened(world, ADA).visible_text
    assert "*2026: 24 of 25 days left*" in text
    assert "*2027: 23 of 25 days left*" in text


def test_an_approver_sees_pending_leave_of_colleagues_marked(world: World) -> None:
    world.submit_over_rest(ADA, start_date=date(2026, 6, 2), end_date=date(2026, 6, 3))

    assert rows(opened(world, GRACE)) == [
        ["Ada Lovelace", "·", *[":palm_tree: (A)"] * 2, *["·"] * 7]
    ]
    assert "Ada" not in opened(world, EVE).visible_text


def test_home_says_how_many_are_out_today_and_names_them_in_the_table(world: World) -> None:
    today = world.clock.now.date()
    sick = world.leave_type("sick")
    everyone = PageCursors(scope="org")
    world.write(slack_workspaces.save_opened_home, everyone, by=EVE)
    nobody = opened(world, EVE).visible_text
    tomorrow = today + timedelta(days=1)
    world.submit_over_rest(HEDY, leave_type_id=sick, start_date=tomorrow, end_date=tomorrow)
    later = opened(world, EVE).visible_text
    for who in (ADA, HEDY):
        world.submit_over_rest(who, leave_type_id=sick, start_date=today, end_date=today)
    home = opened(world, EVE)

    heading = "Everyone, today to Sun 14 Jun 2026\n"
    assert f"{heading}No one is out.\n" in nobody
    assert f"{heading}No one is out today.\n" in later
    assert f"{heading}2 people are out today.\n" in home.visible_text
    assert home.visible_text.count("Ada Lovelace") == 1


def test_a_note_on_home_is_plain_text_as_on_the_card(world: World) -> None:
    note = "<!channel> <@UEVE> *bold* `code` :tada: <https://evil.example|here>"
    world.a_request(note=note)

    notes = [
        block["text"] for block in opened(world, GRACE).blocks if note in str(block.get("text"))
    ]

    assert notes == [{"type": "plain_text", "text": f"Note: {note}", "emoji": False}]
    card = [block["text"] for block in world.card(GRACE).blocks if note in str(block.get("text"))]
    assert card == notes


def test_opening_the_messages_tab_does_nothing(world: World) -> None:
    assert world.slack.open_home(ADA, tab="messages").ok
    world.settled()

    assert world.slack.calls("views.publish") == []


def test_cancel_asks_for_confirmation_and_refreshes_home(world: World) -> None:
    request = world.submit_over_rest(ADA)
    question = ask_to_cancel(world, ADA, opened(world, ADA), request)
    assert "Mon 3 to Wed 5 Aug 2026." in question.visible_text
    assert world.request(ADA).status == "pending"

    assert world.submit(ADA, question).ok

    assert world.request(ADA).status == "cancelled"
    assert "You have no upcoming leave." in world.slack.home(ADA).visible_text
    assert world.audited("leave_request.cancelled") == 1


def test_a_second_click_on_cancel_shows_the_status(world: World) -> None:
    request = world.submit_over_rest(ADA)
    stale = opened(world, ADA)
    question = ask_to_cancel(world, ADA, stale, request)
    world.write(leave_requests.cancel, request.id, by=ADA)

    world.submit(ADA, question)
    answered = world.slack.open_modal(ADA)
    world.slack.close(ADA, answered)

    assert "Already cancelled by Ada Lovelace." in answered.visible_text
    world.slack.open_home(ADA)
    again = ask_to_cancel(world, ADA, stale, request)
    assert "Already cancelled by Ada Lovelace." in again.visible_text
    assert world.audited("leave_request.cancelled") == 1


def test_an_approval_from_home_refreshes_every_card(world: World) -> None:
    sick = world.leave_type("sick")
    world.submit_over_rest(HEDY, leave_type_id=sick, start_date=FIRST_DAY, end_date=FIRST_DAY)
    world.a_request(ADA, note="Wedding <!here>")
    home = opened(world, GRACE)
    facts = (
        "25 → 22 days left in 2026",
        "Also off: Hedy Lamarr: Mon 3 Aug 2026 (Away)",
    )
    for shown in (world.card(GRACE), home):
        assert "\n".join(facts) in shown.visible_text
    assert "Note: Wedding <!here>" in home.visible_text

    world.slack.click_in_view(GRACE, home, ids.HOME_APPROVE)
    world.deliver()

    assert world.request(ADA).status == "approved"
    assert "Waiting for your decision" not in world.slack.home(GRACE).visible_text
    assert "Approved by Grace Hopper" in world.card(HEDY).visible_text
    assert world.card(HEDY).buttons == []


@pytest.mark.both_engines
def test_a_late_decision_shows_the_decider_and_the_current_state(world: World) -> None:
    request = world.submit_over_rest(ADA)
    stale = opened(world, GRACE)
    world.write(decisions.approve, request.id, by=HEDY)

    world.slack.click_in_view(GRACE, stale, ids.HOME_APPROVE)
    world.settled()

    assert "Already approved by Hedy Lamarr." in world.slack.open_modal(GRACE).visible_text
    assert "Waiting for your decision" not in world.slack.home(GRACE).visible_text


def test_declining_asks_for_a_reason(world: World) -> None:
    world.submit_over_rest(ADA)
    world.slack.click_in_view(GRACE, opened(world, GRACE), ids.HOME_DECLINE)
    form = world.slack.open_modal(GRACE, ids.HOME_DECLINE_FORM)
    assert "Ada Lovelace" in form.visible_text

    response = world.slack.submit(GRACE, form, {ids.REASON: "Release week"})
    world.settled()

    assert response.ok
    request = world.request(ADA)
    assert (request.status, request.decision_reason) == ("declined", "Release week")
    assert "Waiting for your decision" not in world.slack.home(GRACE).visible_text


def test_declining_a_decided_request_shows_the_decision_in_the_form(world: World) -> None:
    request = world.submit_over_rest(ADA)
    home = opened(world, GRACE)
    world.slack.click_in_view(GRACE, home, ids.HOME_DECLINE)
    form = world.slack.open_modal(GRACE, ids.HOME_DECLINE_FORM)
    world.write(decisions.approve, request.id, by=HEDY)

    world.slack.submit(GRACE, form, {ids.REASON: "Too late"})
    assert "Already approved by Hedy Lamarr." in world.slack.open_modal(GRACE).visible_text
    world.settled()
    assert world.request(ADA).status == "approved"


def test_private_leave_of_others_is_shown_as_away(world: World) -> None:
    world.submit_over_rest(
        GRACE,
        leave_type_id=world.leave_type("sick"),
        start_date=date(2026, 6, 1),
        end_date=date(2026, 6, 2),
    )

    theirs, own = opened(world, ADA), opened(world, GRACE)

    assert rows(theirs) == [["Grace Hopper", "●", "●", *["·"] * 8]]
    assert "● Away" in theirs.visible_text
    assert "Sick" not in theirs.visible_text
    assert [row[0] for row in rows(own)] == ["You"]
    assert "Sick leave" in own.visible_text


def test_the_team_view_can_show_the_whole_organisation(world: World) -> None:
    a_request(
        world.database,
        world.acme,
        world.people[EVE],
        start_date=date(2026, 6, 4),
        code="sick",
    )
    home = opened(world, ADA)
    assert "No one is out." in home.visible_text

    world.slack.click_in_view(ADA, home, ids.HOME_SCOPE)
    world.settled()

    wide = world.slack.home(ADA)
    assert rows(wide) == [["Eve Elsewhere", *["·"] * 3, "●", *["·"] * 6]]
    assert "● Away" in wide.visible_text
    assert "Show my team" in labels(wide)


def test_two_hundred_pending_requests_are_paginated(world: World) -> None:
    for number in range(20):
        person = a_person(
            world.database,
            world.acme,
            first_name=f"P{number:03}",
            department_id=world.people[ADA].department_id,
        )
        for week in range(10):
            day = FIRST_DAY + timedelta(weeks=week)
            a_request(world.database, world.acme, person, start_date=day)
    home = opened(world, GRACE)
    request_ids: list[str] = []
    for _ in range(20):
        assert len(home.blocks) <= 100
        request_ids += [
            button.value or "" for button in home.buttons if button.action_id == ids.HOME_APPROVE
        ]
        if len(request_ids) < 200:
            world.slack.click_in_view(GRACE, home, ids.HOME_NEXT)
            world.settled()
            home = world.slack.home(GRACE)

    page = world.database.read_now(
        leave_lists.assigned, PageOf(limit=100), by=world.caller(GRACE), now=world.clock()
    )
    assert len(set(request_ids)) == len(request_ids) == 200
    assert request_ids[:100] == [item.id for item in page.items]
    assert "Show more" not in labels(home)
    world.slack.click_in_view(GRACE, home, ids.HOME_APPROVE, request_ids[-1])
    world.settled()
    assert request_ids[-2] in [button.value for button in world.slack.home(GRACE).buttons]


def test_changes_made_elsewhere_refresh_an_open_home(world: World) -> None:
    opened(world, ADA)

    request = world.submit_over_rest(ADA)
    world.deliver()
    assert "Awaiting a decision" in world.slack.home(ADA, "Mon 3 to").visible_text

    world.write(decisions.approve, request.id, by=GRACE)
    world.deliver()
    world.settled()
    assert "Wed 5 Aug 2026, 3 days · Approved" in world.slack.home(ADA).visible_text


def test_a_rate_limited_workspace_does_not_delay_others(
    database: Database, slack: LoopbackSlack
) -> None:
    slack.add_team("T2", "xoxb-other")
    other = an_organisation(database, name="Other")
    mia = a_person(database, other, first_name="Mia", last_name="Malone")
    slack.add_person("UOLAF", other.owner.email, other.owner.name, team_id="T2")
    database.write_now(slack_workspaces.link, other.organisation, "T2", source="cli", now=NOW)
    with World(database, slack, slack_settings=by_oauth(slack)) as world:
        ours = world.acme.organisation
        database.write_now(slack_workspaces.link, ours, "T1", source="cli", now=NOW)
        for who, team_id in ((ADA, "T1"), ("UOLAF", "T2")):
            assert Browser(world).install(slack, who, team_id).status_code == 200
        assert slack.open_home(GRACE).ok
        assert slack.open_home("UOLAF", team_id="T2").ok
        annual = leave_type_id(world, other)
        slack.fail_next("views.publish", error="ratelimited", retry_after=60)

        world.submit_over_rest(ADA)
        world.deliver()
        world.settled()
        limited = len(slack.calls("views.publish"))
        database.write_now(
            leave_requests.submit,
            by=caller_for(other, mia),
            draft=Draft(leave_type_id=annual, start_date=FIRST_DAY, end_date=FIRST_DAY),
            now=world.clock(),
        )
        world.deliver()
        world.settled()

        published = [call.token for call in slack.calls("views.publish")[limited:]]
        assert published == [slack.team("T2").token]
        assert "Mia Malone" in slack.home("UOLAF", team_id="T2").visible_text
        assert "Ada Lovelace" not in slack.home(GRACE).visible_text


def leave_type_id(world: World, acme: Acme) -> str:
    config = world.database.read_now(organisation_config.of_organisation, acme.id)
    return next(
        leave_type.id for leave_type in config.leave_types.values() if leave_type.code == "annual"
    )


def test_a_home_not_opened_in_the_last_week_is_not_refreshed(world: World) -> None:
    opened(world, ADA)
    world.clock.advance(days=8)

    world.submit_over_rest(ADA)
    world.deliver()
    world.settled()

    # Ada opened hers more than a week ago, and the approvers never did.
    assert len(world.slack.calls("views.publish")) == 1


def test_a_cancellation_succeeds_if_home_cannot_be_published(world: World) -> None:
    request = world.submit_over_rest(ADA)
    question = ask_to_cancel(world, ADA, opened(world, ADA), request)
    world.slack.fail_next("views.publish", error="internal_error")

    assert world.submit(ADA, question).ok

    assert world.request(ADA).status == "cancelled"


@pytest.mark.parametrize(
    ("method", "error"),
    [
        ("views.publish", "invalid_arguments"),
        ("views.publish", "invalid_auth"),
        ("views.publish", "not_enabled"),
        ("views.publish", "user_not_found"),
        ("users.info", "missing_scope"),
    ],
)
def test_a_home_that_slack_refuses_is_logged_and_acknowledged(
    world: World, logged: Logged, method: str, error: str
) -> None:
    world.slack.fail_next(method, error=error)

    response = world.slack.open_home(ADA)

    assert response.status == 200
    assert len([line for line in logged.lines if error in line]) == 1
    assert "Traceback" not in "".join(logged.lines)


@pytest.mark.parametrize(
    "failure",
    [{"error": "internal_error"}, {"error": "ratelimited"}, {"status": 503}, {"reset": True}],
    ids=["internal_error", "ratelimited", "503", "reset"],
)
def test_a_home_that_could_not_be_published_is_published_when_slack_repeats_the_event(
    world: World, logged: Logged, failure: dict[str, Any]
) -> None:
    world.slack.fail_next("views.publish", **failure)

    statuses = [
        world.slack.event(OPENED, event_id="Ev1").status,
        world.slack.event(OPENED, event_id="Ev1", retry_num=1).status,
    ]

    assert statuses == [503, 200]
    assert "Request leave" in labels(world.slack.home(ADA))
    assert "Traceback" not in "".join(logged.lines)


@pytest.mark.parametrize("kind", [{"is_restricted": True}, {"is_bot": True}, {"is_stranger": True}])
def test_guests_bots_and_strangers_get_an_explanation(world: World, kind: dict[str, Any]) -> None:
    world.slack.add_person("UGUEST", "guest@example.com", "Guest", **kind)

    world.slack.open_home("UGUEST")
    world.settled()

    assert "full members" in world.slack.home("UGUEST").visible_text
    assert world.slack.home("UGUEST").buttons == []


def test_a_deactivated_user_sees_nothing(world: World) -> None:
    request = world.submit_over_rest(ADA)
    question = ask_to_cancel(world, ADA, opened(world, ADA), request)
    world.write(people_status.deactivate, world.people[ADA].id)

    world.submit(ADA, question)
    world.slack.open_home(ADA)
    world.settled()

    assert "deactivated" in world.slack.home(ADA).visible_text
    assert world.slack.home(ADA).buttons == []
    unchanged = world.database.read_now(
        leave_rows.get, request.id, by=world.acme.caller, now=world.clock()
    )
    assert unchanged.status == "pending"


def test_im_sick_opens_sick_leave_of_today(world: World) -> None:
    world.click_in_view(ADA, opened(world, ADA), ids.SICK)
    form = world.slack.open_modal(ADA, ids.REQUEST_FORM)

    assert world.submit(ADA, form).errors == {}

    request = world.request(ADA)
    assert (request.start_date, request.end_date) == (world.clock.now.date(),) * 2
    assert request.leave_type_id == world.leave_type("sick")
    assert request.status == "approved"


def test_im_sick_on_leave_opens_the_form_to_interrupt_it(world: World) -> None:
    today = world.clock.now.date()
    leave = world.submit_over_rest(ADA, start_date=today, end_date=today + timedelta(days=2))
    world.write(decisions.approve, leave.id, by=GRACE)

    world.click_in_view(ADA, opened(world, ADA), ids.SICK)

    assert world.slack.open_modal(ADA).callback_id == ids.INTERRUPTION_FORM


def test_without_sick_leave_that_needs_no_approval_home_has_no_button_for_it(world: World) -> None:
    world.change(leave_types.update, world.leave_type("sick"), {"requires_approval": True})

    assert "I'm sick" not in labels(opened(world, ADA))


def test_leave_that_runs_has_a_menu_with_everything_that_can_be_done(world: World) -> None:
    today = world.clock.now.date()
    leave = world.submit_over_rest(ADA, start_date=today, end_date=today + timedelta(days=2))
    world.write(decisions.approve, leave.id, by=GRACE)

    home = opened(world, ADA)
    assert menu_of(home, ids.HOME_LEAVE_MENU) == ["Change", "Cancel leave…", "I fell ill"]

    changed = choose(world, ADA, home, ids.HOME_LEAVE_MENU, f"edit {leave.id}")
    assert changed.callback_id == ids.EDIT_FORM
    world.slack.close(ADA, changed)
    ill = choose(world, ADA, home, ids.HOME_LEAVE_MENU, f"fell_ill {leave.id}")
    assert ill.callback_id == ids.INTERRUPTION_FORM


def test_recording_for_others_is_in_the_menu_of_those_who_may(world: World) -> None:
    assert menu_of(opened(world, GRACE), ids.HOME_MORE) == ["Record leave"]
    assert menu_of(opened(world, ADA), ids.HOME_MORE) == []
