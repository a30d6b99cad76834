"""Leave as the Slack status of people who connect it, against a Slack that refuses and revokes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import httpx
import pytest

from bot.base import ids
from storage.admin import people_status
from storage.db.database import Database
from storage.db.tables import SlackStatusRow
from storage.keys import stored_secrets
from storage.leave import leave_requests, leave_types
from storage.workspaces import slack_installations, slack_profiles
from tests.bot.browser import by_oauth, page_text
from tests.bot.world import ADA, GRACE, World
from tests.builders import (
    a_slack_installation,
    a_slack_profile,
    approved_leave,
    audit_entries,
    home_office,
)
from tests.fakes.slack import LoopbackSlack, View

SCREEN = "settings.slack_status"
# Monday to Friday; London is an hour ahead of UTC.
FIRST_DAY, LAST_DAY = date(2026, 8, 3), date(2026, 8, 7)
ON_LEAVE = datetime(2026, 8, 3, 7, 0, tzinfo=UTC)
BACK_AT = datetime(2026, 8, 9, 23, 0, tzinfo=UTC)
NOTHING = ("", "", 0)


@pytest.fixture
def world(database: Database, slack: LoopbackSlack) -> Iterator[World]:
    """Acme's workspace has installed the app by OAuth; Ada's leave begins on a Monday."""
    with World(database, slack, slack_settings=by_oauth(slack)) as running:
        running.link()
        installation = a_slack_installation(
            a_slack_profile("olive@example.com", slack_user_id="UOLIVE"),
            team_id=slack.team_id,
            team_name="Acme",
            bot_token=slack.token,
            bot_id=f"BOT{slack.team_id}",
        )
        database.write_now(slack_installations.install, installation, now=running.clock())
        yield running


def opened(world: World, who: str) -> View:
    world.click_in_view(who, world.home(who), ids.SETTINGS)
    world.click_in_view(who, world.slack.open_modal(who), SCREEN)
    return world.slack.open_modal(who)


def link_of(view: View) -> str:
    """The address of the button that connects the status."""
    (url,) = [
        element["url"]
        for block in view.blocks
        for element in block.get("elements", ())
        if "url" in element
    ]
    return str(url)


def follow(world: World, link: str, agrees: str | None) -> httpx.Response:
    """Open the link in a browser in which ``agrees`` is signed in; None declines."""
    world.slack.installer = None if agrees is None else (world.slack.team_id, agrees)
    response = httpx.get(link, follow_redirects=True, timeout=30)
    world.settled()
    return response


def connect(world: World, who: str) -> None:
    response = follow(world, link_of(opened(world, who)), who)
    assert response.status_code == 200, response.text


def check(world: World, **later: float) -> None:
    world.clock.advance(**later)
    world.run(world.app.statuses.run)


def status(world: World, who: str = ADA) -> tuple[str, str, int]:
    person = world.slack.workspace.person(world.slack.team_id, who)
    return person.status_text, person.status_emoji, person.status_expiration


def set_by_hand(world: World, who: str, text: str, emoji: str = ":sunny:", until: int = 0) -> None:
    world.slack.change_person(who, status_text=text, status_emoji=emoji, status_expiration=until)


def leave(
    world: World, who: str = ADA, first: date = FIRST_DAY, last: date = LAST_DAY, **how: Any
) -> Any:
    return approved_leave(
        world.database, world.acme, world.people[who], first, last, now=world.clock(), **how
    )


def on_leave(world: World, **how: Any) -> Any:
    """Ada is connected and on leave, which her status shows."""
    connect(world, ADA)
    request = leave(world, **how)
    world.clock.now = ON_LEAVE
    check(world)
    return request


def revoked_in_slack(world: World, who: str) -> None:
    tokens = {"oauth": [who], "bot": []}
    assert world.slack.event({"type": "tokens_revoked", "tokens": tokens}).ok
    world.settled()


def connections(world: World) -> int:
    return len(world.database.read_now(lambda tx: tx.select(SlackStatusRow)))


def calls(world: World, method: str) -> int:
    return len(world.slack.calls(method))


def test_connecting_ends_with_a_page_that_leads_back(world: World) -> None:
    response = follow(world, link_of(opened(world, ADA)), ADA)

    assert page_text(response) == (
        "Your Slack status is connected While you're off, your Slack status says until when. To "
        "change this, open “Slack status” in the settings on Hiatus's Home tab. Back to Slack"
    )
    assert "https://slack.com/app_redirect?app=A1&amp;team=T1" in response.text
    assert "Disconnect" in json.dumps(opened(world, ADA).body)


@pytest.mark.both_engines
def test_a_connected_person_is_away_until_they_work_again(world: World) -> None:
    connect(world, ADA)
    leave(world)
    check(world)
    assert status(world) == NOTHING

    world.clock.now = datetime(2026, 8, 2, 23, 0, tzinfo=UTC)
    check(world)

    assert status(world) == (
        "Away until Mon 10 Aug",
        ":palm_tree:",
        int(BACK_AT.timestamp()),
    )
    (call,) = world.slack.calls("users.profile.set")
    assert call.token is not None
    assert call.token.startswith("xoxp-")
    # Nothing is asked or set again until then.
    for _ in range(6 * 24):
        check(world, hours=1)
    assert calls(world, "users.profile.set") == 1
    assert world.audited("slack_status.connected") == 1
    entries = audit_entries(world.database, world.acme.caller)
    assert "xoxp" not in json.dumps([str(entry) for entry in entries])


def test_the_status_is_in_the_persons_language(world: World) -> None:
    world.slack.change_person(ADA, locale="de-DE")
    world.home(ADA)
    world.database.write_now(
        slack_profiles.sync_all,
        world.acme.id,
        [a_slack_profile(world.people[ADA].email, slack_user_id=ADA, locale="de-DE")],
        now=world.clock(),
    )
    on_leave(world)

    assert status(world)[0] == "Abwesend bis Mo 10. Aug."


def test_private_leave_has_a_neutral_emoji(world: World) -> None:
    connect(world, ADA)
    world.clock.now = ON_LEAVE
    leave(world, code="sick")

    check(world)

    assert status(world)[:2] == ("Away until Mon 10 Aug", ":spiral_calendar_pad:")


def test_home_office_and_pending_leave_set_no_status(world: World) -> None:
    connect(world, ADA)
    home_office(world.database, world.acme)
    leave(world, code="home-office", last=date(2026, 8, 4))
    world.submit_over_rest(start_date=date(2026, 8, 5), end_date=date(2026, 8, 5))

    for day in (3, 4, 5):
        world.clock.now = datetime(2026, 8, day, 9, tzinfo=UTC)
        check(world)
        assert status(world) == NOTHING


def test_a_morning_off_ends_at_midday(world: World) -> None:
    on_leave(world, last=FIRST_DAY, end_half_day="am")

    midday = datetime(2026, 8, 3, 12, 0, tzinfo=UTC)
    assert status(world) == (
        "Away until Mon 3 Aug, 13:00",
        ":palm_tree:",
        int(midday.timestamp()),
    )


@pytest.mark.both_engines
def test_changed_leave_moves_the_status_and_cancelled_leave_clears_it(world: World) -> None:
    request = on_leave(world)

    world.write(leave_requests.edit, request.id, {"end_date": date(2026, 8, 5)}, by=ADA)
    check(world)
    assert status(world)[0] == "Away until Thu 6 Aug"

    world.write(leave_requests.cancel, request.id)
    check(world)
    assert status(world) == NOTHING


def test_a_status_of_the_persons_own_is_never_replaced(world: World) -> None:
    connect(world, ADA)
    leave(world)
    set_by_hand(world, ADA, "In Spain")
    world.clock.now = ON_LEAVE

    for _ in range(24):
        check(world, hours=1)

    assert status(world)[0] == "In Spain"
    # Once theirs is gone, the status is free.
    set_by_hand(world, ADA, "", "")
    check(world, hours=1)
    assert status(world)[0] == "Away until Mon 10 Aug"


@pytest.mark.parametrize("theirs", [("In Spain", ":sunny:"), ("", "")], ids=["changed", "cleared"])
def test_a_status_that_the_person_changed_is_theirs(world: World, theirs: tuple[str, str]) -> None:
    request = on_leave(world)
    set_by_hand(world, ADA, *theirs)

    world.write(leave_requests.edit, request.id, {"end_date": date(2026, 8, 5)}, by=ADA)
    for _ in range(48):
        check(world, hours=1)
    world.write(leave_requests.cancel, request.id)
    check(world)

    assert status(world)[:2] == theirs
    assert calls(world, "users.profile.set") == 1


def test_a_leave_type_that_becomes_private_loses_its_emoji(world: World) -> None:
    on_leave(world)

    world.write(leave_types.update, world.leave_type("annual"), {"is_private": True})
    check(world, hours=1)

    assert status(world)[1] == ":spiral_calendar_pad:"


@pytest.mark.both_engines
def test_disconnecting_removes_the_status_and_revokes_the_token(world: World) -> None:
    on_leave(world)
    (token,) = world.slack.workspace.user_tokens

    world.slack.click_in_view(ADA, opened(world, ADA), f"{SCREEN}.disconnect")
    world.settled()
    check(world)

    assert status(world) == NOTHING
    assert token in world.slack.workspace.revoked_tokens
    assert connections(world) == 0
    assert world.audited("slack_status.disconnected") == 1
    world.deliver()
    revoked_in_slack(world, ADA)
    assert world.deliver() == 0
    assert link_of(opened(world, ADA))


def test_disconnecting_leaves_a_status_of_the_persons_own(world: World) -> None:
    on_leave(world)
    set_by_hand(world, ADA, "In Spain")

    world.slack.click_in_view(ADA, opened(world, ADA), f"{SCREEN}.disconnect")
    world.settled()
    check(world)

    assert status(world)[0] == "In Spain"
    assert connections(world) == 0


def test_a_revoked_token_ends_the_connection_and_is_told_once(world: World) -> None:
    connect(world, ADA)
    leave(world)
    (token,) = world.slack.workspace.user_tokens
    world.slack.revoke(token)
    world.clock.now = ON_LEAVE
    world.deliver()

    check(world)
    check(world, hours=2)
    revoked_in_slack(world, ADA)

    assert connections(world) == 0
    assert world.deliver() == 1
    assert world.own_message(ADA).text == (
        "Your Slack status no longer shows your leave. Slack ended my permission to set it. To "
        "allow it again, open “Slack status” in the settings on my Home tab."
    )
    assert world.audited("slack_status.ended") == 1
    # The app itself works as before.
    assert world.home(ADA)


def test_the_event_of_a_revoked_token_ends_the_connection_at_once(world: World) -> None:
    connect(world, ADA)
    connect(world, GRACE)

    revoked_in_slack(world, ADA)

    assert connections(world) == 1
    assert world.deliver() == 1
    assert "no longer shows your leave" in world.own_message(ADA).text


def test_a_rate_limit_is_waited_for(world: World) -> None:
    connect(world, ADA)
    leave(world)
    world.clock.now = ON_LEAVE
    world.slack.fail_next("users.profile.set", error="ratelimited", retry_after=600)

    check(world)
    check(world, seconds=599)
    assert calls(world, "users.profile.set") == 1
    check(world, seconds=1)

    assert status(world)[0] == "Away until Mon 10 Aug"


def test_a_rate_limit_of_the_workspace_holds_for_all_of_its_people(world: World) -> None:
    for who in (ADA, GRACE):
        connect(world, who)
        leave(world, who)
    world.clock.now = ON_LEAVE
    before = calls(world, "users.info")
    world.slack.fail_next("users.info", error="ratelimited", retry_after=300)

    check(world)
    assert calls(world, "users.info") == before + 1
    check(world, seconds=301)

    assert status(world, ADA)[0] == status(world, GRACE)[0] == "Away until Mon 10 Aug"


@pytest.mark.parametrize("was_applied", [True, False])
def test_without_an_answer_the_status_is_set_once(world: World, was_applied: bool) -> None:
    connect(world, ADA)
    request = leave(world)
    world.clock.now = ON_LEAVE
    world.slack.fail_next("users.profile.set", reset=True, apply_first=was_applied)

    check(world)
    assert (status(world) != NOTHING) is was_applied
    check(world, minutes=2)

    assert status(world)[0] == "Away until Mon 10 Aug"
    assert calls(world, "users.profile.set") == 2 - was_applied
    world.write(leave_requests.cancel, request.id)
    check(world)
    assert status(world) == NOTHING


def test_an_emoji_that_slack_does_not_know_is_replaced(world: World) -> None:
    world.slack.workspace.unknown_emoji.add("palm_tree")
    request = on_leave(world)
    assert status(world)[:2] == ("Away until Mon 10 Aug", ":spiral_calendar_pad:")

    check(world, hours=3)
    assert calls(world, "users.profile.set") == 2
    world.write(leave_requests.cancel, request.id)
    check(world)

    assert status(world) == NOTHING


def test_other_refusals_are_tried_again_later(world: World) -> None:
    connect(world, ADA)
    leave(world)
    world.clock.now = ON_LEAVE
    world.slack.fail_next("users.profile.set", error="profile_set_failed")

    check(world)
    assert connections(world) == 1
    check(world, minutes=2)

    assert status(world)[0] == "Away until Mon 10 Aug"


def test_archiving_a_person_removes_their_status(world: World) -> None:
    on_leave(world)

    world.write(people_status.archive, world.people[ADA].id)
    check(world)

    assert status(world) == NOTHING
    assert connections(world) == 0
    assert world.audited("slack_status.ended") == 1


def test_a_deactivated_person_has_no_status_until_they_come_back(world: World) -> None:
    on_leave(world)

    world.write(people_status.deactivate, world.people[ADA].id)
    check(world)
    assert status(world) == NOTHING
    world.write(people_status.reactivate, world.people[ADA].id)
    check(world)

    assert status(world)[0] == "Away until Mon 10 Aug"


def test_uninstalling_the_app_deletes_the_tokens(world: World) -> None:
    connect(world, ADA)

    world.slack.event({"type": "app_uninstalled"})
    world.settled()

    assert connections(world) == 0


def test_only_the_person_who_clicked_can_connect(world: World) -> None:
    link = link_of(opened(world, ADA))

    response = follow(world, link, GRACE)

    assert response.status_code == 403
    assert page_text(response) == (
        "Your Slack status is not connected You agreed with another Slack account than the one "
        "that you use Hiatus with. Sign in with that one, and try again."
    )
    (token,) = world.slack.workspace.user_tokens
    assert token in world.slack.workspace.revoked_tokens
    assert connections(world) == 0


def test_a_refused_connection_leaves_that_of_the_other_account(world: World) -> None:
    connect(world, GRACE)

    assert follow(world, link_of(opened(world, ADA)), GRACE).status_code == 403

    assert connections(world) == 1
    assert world.slack.workspace.revoked_tokens == set()


def test_a_member_of_another_workspace_is_refused(world: World) -> None:
    world.slack.add_team("T2", "xoxb-other")
    world.slack.add_person(ADA, "ada@other.example", "Ada Other", team_id="T2")
    link = link_of(opened(world, ADA))
    world.slack.installer = ("T2", ADA)

    assert httpx.get(link, follow_redirects=True, timeout=30).status_code == 403

    assert connections(world) == 0


def test_a_link_works_once_and_for_ten_minutes(world: World) -> None:
    link = link_of(opened(world, ADA))
    assert follow(world, link, ADA).status_code == 200
    assert follow(world, link, ADA).status_code == 400
    world.database.write_now(lambda tx: tx.delete(SlackStatusRow, organisation_id=world.acme.id))
    late = link_of(opened(world, ADA))

    world.clock.advance(minutes=11)
    response = follow(world, late, ADA)

    assert response.status_code == 400
    assert "expired or was used before" in response.text
    altered = late[:-3] + "abc"
    assert follow(world, altered, ADA).status_code == 400
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["referrer-policy"] == "no-referrer"
    assert connections(world) == 0


def test_declining_changes_nothing(world: World) -> None:
    response = follow(world, link_of(opened(world, ADA)), None)

    assert response.status_code == 200
    assert page_text(response) == (
        "Your Slack status is not connected You didn't agree, so nothing has changed."
    )
    assert connections(world) == 0


def test_the_permission_may_be_left_out_as_it_is_optional(world: World) -> None:
    link = link_of(opened(world, ADA))
    redirected = httpx.get(link)
    state = httpx.URL(redirected.headers["location"]).params["state"]
    code = world.slack.oauth_code(ADA, user_scopes="identify")

    back = {"state": state, "code": code}
    response = httpx.get(f"{world.slack.app_url}/slack/oauth_redirect/status", params=back)

    assert "You didn't agree" in page_text(response)
    assert connections(world) == 0


def test_slack_that_fails_while_connecting_is_told(world: World) -> None:
    link = link_of(opened(world, ADA))
    world.slack.fail_next("oauth.v2.access", status=500)

    response = follow(world, link, ADA)

    assert response.status_code == 503
    assert "Please try again in a minute" in page_text(response)
    assert connections(world) == 0


def test_the_link_asks_slack_for_the_status_alone_in_the_persons_workspace(world: World) -> None:
    response = httpx.get(link_of(opened(world, ADA)))

    assert response.status_code == 302
    query = httpx.URL(response.headers["location"]).params
    assert (query["scope"], query["user_scope"]) == ("", "users.profile:write")
    assert query["team"] == world.slack.team_id
    assert query["redirect_uri"] == f"{world.slack.app_url}/slack/oauth_redirect/status"


def test_a_rotation_of_keys_covers_the_tokens(world: World) -> None:
    connect(world, ADA)

    number = world.database.read_now(stored_secrets.count)

    assert "Slack status" in stored_secrets.KINDS
    (row,) = world.database.read_now(lambda tx: tx.select(SlackStatusRow))
    assert "xoxp" not in row.token_encrypted
    assert number >= 2


@pytest.mark.both_engines
def test_two_processes_set_a_status_once(world: World) -> None:
    connect(world, ADA)
    leave(world)
    world.clock.now = ON_LEAVE

    async def both() -> None:
        await asyncio.gather(world.app.statuses.run(), world.app.statuses.run())

    world.run(both)

    assert calls(world, "users.profile.set") == 1


def test_with_one_bot_token_the_button_is_not_offered(
    database: Database, slack: LoopbackSlack
) -> None:
    with World(database, slack) as world:
        world.click_in_view(ADA, world.home(ADA), ids.SETTINGS)
        menu = json.dumps(world.slack.open_modal(ADA).body)

        assert SCREEN not in menu
        assert "settings.feeds" in menu
        link = f"{slack.app_url}/slack/status/connect"
        assert httpx.get(link).status_code == 404
