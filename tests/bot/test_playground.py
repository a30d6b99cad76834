"""The playground's workspace: who sees what, and how much of the past is kept."""

from __future__ import annotations

import pytest

from playground.loopback.records import Message
from playground.loopback.workspace import Workspace
from playground.playground import CHANNEL_ID, Player, Playground, Unseen, options_in
from playground.screens import MAX_MESSAGES, screen

TEAM = "T0PLAYGROUND"
ADA, GRACE = "UADA", "UGRACE"
HOME = {"type": "home", "blocks": [{"type": "divider"}]}
MODAL = {"type": "modal", "blocks": [{"type": "divider"}]}


@pytest.fixture
def playground() -> Playground:
    people = [
        Player(
            slack_user_id=ADA,
            email="ada@example.com",
            name="Ada Lovelace",
            title="member",
            timezone="Europe/London",
        ),
        Player(
            slack_user_id=GRACE,
            email="grace@example.com",
            name="Grace Hopper",
            title="approver",
            timezone="Europe/London",
        ),
    ]
    return Playground(TEAM, people, "http://127.0.0.1:1")


def post(workspace: Workspace, channel: str, text: str, only: str | None = None) -> Message:
    return workspace.add_message(
        Message(
            *(TEAM, channel, workspace.next_ts(), text, [], "UBOT"),
            user=only,
            ephemeral=only is not None,
        )
    )


def test_a_dm_and_an_ephemeral_message_are_seen_by_one_person(playground: Playground) -> None:
    workspace = playground.workspace
    dm = post(workspace, workspace.dm_channel(TEAM, ADA), "for Ada")
    aside = post(workspace, CHANNEL_ID, "for Grace in the channel", only=GRACE)
    post(workspace, CHANNEL_ID, "for all")

    ada, grace = (screen(workspace, TEAM, who) for who in (ADA, GRACE))

    assert [one["text"] for one in ada["messages"]] == ["for Ada"]
    assert grace["messages"] == []
    assert [one["text"] for one in ada["channels"][0]["messages"]] == ["for all"]
    assert [one["text"] for one in grace["channels"][0]["messages"]] == [
        "for Grace in the channel",
        "for all",
    ]
    assert playground.message(ADA, dm.channel, dm.ts) is dm
    with pytest.raises(Unseen):
        playground.message(GRACE, dm.channel, dm.ts)
    with pytest.raises(Unseen):
        playground.message(ADA, aside.channel, aside.ts)


def test_a_form_is_only_its_owners(playground: Playground) -> None:
    view = playground.workspace.open_view(TEAM, ADA, MODAL)

    assert playground.view(ADA, view.id) is view
    with pytest.raises(Unseen):
        playground.view(GRACE, view.id)


def test_a_long_afternoon_of_playing_takes_no_more_room(playground: Playground) -> None:
    workspace = playground.workspace
    home = workspace.publish_view(TEAM, ADA, HOME, None)
    for number in range(600):
        message = post(workspace, CHANNEL_ID, f"{number}")
        workspace.rewrite(message, "again", [])
        workspace.rewrite(message, f"{number}", [])
        workspace.publish_view(TEAM, ADA, HOME, None)
        workspace.issue_trigger(TEAM, ADA)
        workspace.issue_response(TEAM, ADA, CHANNEL_ID)
        workspace.open_view(TEAM, ADA, MODAL)

    playground.forget_old()

    kept = (workspace.messages, workspace.triggers, workspace.responses)
    assert [len(one) for one in kept] == [500, 500, 500]
    assert len(workspace.views) <= 502
    assert len(workspace.messages[-1].history) == 1
    assert home.history == []
    shown = screen(workspace, TEAM, ADA)
    assert shown["home"]["id"] == home.id
    assert shown["modal"] is not None
    assert [one["text"] for one in shown["channels"][0]["messages"]][-1] == "599"
    assert len(shown["channels"][0]["messages"]) == MAX_MESSAGES


def test_everything_that_happens_moves_the_version(playground: Playground) -> None:
    before = playground.version
    view = playground.workspace.open_view(TEAM, ADA, MODAL)
    opened = playground.version
    playground.workspace.close_view(view)

    assert before < opened < playground.version


def test_absent_approvers_are_replaced_by_others(playground: Playground) -> None:
    assert playground.first(["grace@example.com", "nobody@example.com"]) == [GRACE, ADA]


def test_options_in_groups_are_offered_too() -> None:
    one, two = {"value": "1"}, {"value": "2"}

    assert options_in({"options": [one], "option_groups": [{"options": [two]}]}) == [one, two]
    assert options_in("") == []
