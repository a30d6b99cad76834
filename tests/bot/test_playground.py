"""The playground's workspace: privacy of messages and forms, and bounded memory."""

from __future__ import annotations

import pytest

from playground.loopback.records import Message
from playground.loopback.workspace import Workspace
from playground.playground import (
    CHANNEL_ID,
    MAX_MESSAGES,
    Player,
    Playground,
    Unseen,
    options_in,
    screen,
)

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

    assert [message["text"] for message in ada["messages"]] == ["for Ada"]
    assert grace["messages"] == []
    assert [message["text"] for message in ada["channels"][0]["messages"]] == ["for all"]
    assert [message["text"] for message in grace["channels"][0]["messages"]] == [
        "for Grace in the channel",
        "for all",
    ]
    assert playground.message(ADA, dm.channel, dm.ts) is dm
    with pytest.raises(Unseen):
        playground.message(GRACE, dm.channel, dm.ts)
    with pytest.raises(Unseen):
        playground.message(ADA, aside.channel, aside.ts)


def test_replies_are_below_their_first_message_and_broadcast_ones_in_the_conversation(
    playground: Playground,
) -> None:
    workspace = playground.workspace
    first = post(workspace, CHANNEL_ID, "first")
    quiet, loud = (post(workspace, CHANNEL_ID, text) for text in ("quiet", "loud"))
    quiet.thread_ts = loud.thread_ts = first.ts
    loud.reply_broadcast = True

    before = screen(workspace, TEAM, ADA)["channels"][0]["messages"]
    workspace.delete(first)
    after = screen(workspace, TEAM, ADA)["channels"][0]["messages"]

    assert [message["text"] for message in before] == ["first", "loud"]
    assert [reply["text"] for reply in before[0]["replies"]] == ["quiet", "loud"]
    assert before[1]["replied_to"] == "first"
    assert [message["text"] for message in after] == ["This message was deleted.", "loud"]
    assert len(after[0]["replies"]) == 2


def test_a_form_is_seen_only_by_its_owner(playground: Playground) -> None:
    view = playground.workspace.open_view(TEAM, ADA, MODAL)

    assert playground.view(ADA, view.id) is view
    with pytest.raises(Unseen):
        playground.view(GRACE, view.id)


def test_old_records_are_pruned(playground: Playground) -> None:
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

    pruned = (workspace.messages, workspace.triggers, workspace.responses)
    assert [len(records) for records in pruned] == [500, 500, 500]
    assert len(workspace.views) <= 502
    assert len(workspace.messages[-1].history) == 1
    assert home.history == []
    visible = screen(workspace, TEAM, ADA)
    assert visible["home"]["id"] == home.id
    assert visible["modal"] is not None
    assert [message["text"] for message in visible["channels"][0]["messages"]][-1] == "599"
    assert len(visible["channels"][0]["messages"]) == MAX_MESSAGES


def test_every_change_increases_the_version(playground: Playground) -> None:
    before = playground.version
    view = playground.workspace.open_view(TEAM, ADA, MODAL)
    opened = playground.version
    playground.workspace.close_view(view)

    assert before < opened < playground.version


def test_absent_approvers_are_replaced_by_others(playground: Playground) -> None:
    assert playground.first(["grace@example.com", "unknown@example.com"]) == [GRACE, ADA]


def test_options_in_groups_are_offered_too() -> None:
    first, second = {"value": "1"}, {"value": "2"}

    options = {"options": [first], "option_groups": [{"options": [second]}]}
    assert options_in(options) == [first, second]
    assert options_in("") == []
