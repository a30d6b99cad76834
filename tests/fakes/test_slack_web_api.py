"""The loopback Slack's Web API responds, refuses and fails as Slack's does."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web import WebClient

from tests.fakes.sample_views import form, question
from tests.fakes.slack import LoopbackSlack


@pytest.fixture
def slack() -> Iterator[LoopbackSlack]:
    with LoopbackSlack() as running:
        running.add_person("U1", "Ada@example.com", "Ada Lovelace", tz="Asia/Tokyo")
        running.add_person("U2", "grace@example.com", "Grace Hopper")
        yield running


def web(slack: LoopbackSlack, token: str | None = None) -> WebClient:
    return WebClient(token or slack.token, base_url=slack.api_url)


def refusal(failed: pytest.ExceptionInfo[SlackApiError]) -> str:
    return str(failed.value.response["error"])


@pytest.mark.parametrize(
    ("token", "method", "code"),
    [
        ("xoxb-wrong", "auth.test", "invalid_auth"),
        ("xapp-hiatus", "auth.test", "not_allowed_token_type"),
        ("xoxb-hiatus", "apps.connections.open", "not_allowed_token_type"),
        ("xapp-wrong", "apps.connections.open", "invalid_auth"),
        ("xoxb-hiatus", "no.suchMethod", "unknown_method"),
        ("xoxb-hiatus", "team.info", "missing_scope"),
        ("xoxb-hiatus", "users.info", "invalid_arguments"),
    ],
)
def test_a_call_is_refused_before_the_method_runs(
    slack: LoopbackSlack, token: str, method: str, code: str
) -> None:
    with pytest.raises(SlackApiError) as failed:
        web(slack, token).api_call(method)

    assert refusal(failed) == code


def test_a_look_up_by_email_ignores_case_and_omits_deactivated_people(slack: LoopbackSlack) -> None:
    response = web(slack).users_lookupByEmail(email="ADA@EXAMPLE.COM")
    slack.change_person("U1", deleted=True)

    with pytest.raises(SlackApiError) as failed:
        web(slack).users_lookupByEmail(email="ada@example.com")

    assert response["user"]["id"] == "U1"
    assert refusal(failed) == "users_not_found"


def test_the_list_of_people_is_paginated(slack: LoopbackSlack) -> None:
    pages = [page["members"] for page in web(slack).users_list(limit=2)]

    assert [[member["id"] for member in page] for page in pages] == [["UBOTT1", "U1"], ["U2"]]


def test_only_the_apps_messages_are_updated_by_channel_and_time(slack: LoopbackSlack) -> None:
    client = web(slack)
    posted = client.chat_postMessage(channel="U1", **question("U2", "Monday"))
    channel, ts = posted["channel"], posted["ts"]
    foreign_message = slack.say("U1", channel, "hello")

    with pytest.raises(SlackApiError) as by_user_id:
        client.chat_update(channel="U1", ts=ts, text="x")
    with pytest.raises(SlackApiError) as unknown:
        client.chat_update(channel=channel, ts="1.2", text="x")
    with pytest.raises(SlackApiError) as foreign:
        client.chat_update(channel=channel, ts=foreign_message.ts, text="x")
    client.chat_update(channel=channel, ts=ts, text="Done")

    assert refusal(by_user_id) == "channel_not_found"
    assert refusal(unknown) == "message_not_found"
    assert refusal(foreign) == "cant_update_message"
    assert [(message.text, message.blocks) for message in slack.dm("U1")] == [
        ("Done", []),
        ("hello", []),
    ]


def test_a_reply_is_in_the_thread_of_its_first_message(slack: LoopbackSlack) -> None:
    client = web(slack)
    first = client.chat_postMessage(channel="C1", text="first")
    reply = client.chat_postMessage(channel="C1", thread_ts=first["ts"], text="reply")

    to_reply = client.chat_postMessage(
        channel="C1", thread_ts=reply["ts"], text="to the reply", reply_broadcast=True
    )
    updated = client.chat_update(channel="C1", ts=first["ts"], text="first, edited")

    assert reply["message"]["thread_ts"] == first["ts"]
    assert to_reply["message"]["thread_ts"] == first["ts"]
    assert to_reply["message"]["subtype"] == "thread_broadcast"
    assert updated["message"]["reply_count"] == 2
    assert updated["message"]["latest_reply"] == to_reply["ts"]
    assert [message.reply_broadcast for message in slack.in_channel("C1")] == [False, False, True]


def test_a_reply_reply_broadcast_later(slack: LoopbackSlack) -> None:
    client = web(slack)
    first = client.chat_postMessage(channel="C1", text="first")
    reply = client.chat_postMessage(channel="C1", thread_ts=first["ts"], text="reply")

    client.chat_update(channel="C1", ts=reply["ts"], text="reply", reply_broadcast=True)
    client.chat_update(channel="C1", ts=first["ts"], text="first", reply_broadcast=True)

    assert [message.reply_broadcast for message in slack.in_channel("C1")] == [False, True]


def test_a_trigger_is_valid_once_and_for_three_seconds(slack: LoopbackSlack) -> None:
    client, used = web(slack), slack.trigger("U1")
    client.views_open(trigger_id=used, view=form())

    with pytest.raises(SlackApiError) as exchanged:
        client.views_open(trigger_id=used, view=form())
    old = slack.trigger("U1")
    slack.expire_triggers()
    with pytest.raises(SlackApiError) as expired:
        client.views_push(trigger_id=old, view=form())

    assert refusal(exchanged) == "exchanged_trigger_id"
    assert refusal(expired) == "expired_trigger_id"


def test_at_most_three_views_are_stacked_and_a_stale_hash_is_refused(slack: LoopbackSlack) -> None:
    client = web(slack)
    first = client.views_open(trigger_id=slack.trigger("U1"), view=form())["view"]
    second = client.views_push(trigger_id=slack.trigger("U1"), view=form())["view"]
    client.views_push(trigger_id=slack.trigger("U1"), view=form())
    client.views_update(view_id=first["id"], hash=first["hash"], view=form("changed"))

    with pytest.raises(SlackApiError) as too_high:
        client.views_push(trigger_id=slack.trigger("U1"), view=form())
    with pytest.raises(SlackApiError) as stale:
        client.views_update(view_id=first["id"], hash=first["hash"], view=form("again"))

    assert (second["previous_view_id"], second["root_view_id"]) == (first["id"], first["id"])
    assert refusal(too_high) == "push_limit_reached"
    assert refusal(stale) == "hash_conflict"


def test_a_response_url_is_valid_five_times(slack: LoopbackSlack) -> None:
    web(slack).chat_postMessage(channel="C1", text="question")
    url = slack.response_url("U1", slack.messages[0])

    statuses = [httpx.post(url, json={"text": str(n)}).status_code for n in range(6)]

    assert statuses == [200] * 5 + [404]
    assert [message.text for message in slack.ephemerals] == ["0", "1", "2", "3", "4"]
    assert [post.status for post in slack.response_posts] == statuses


def test_a_response_url_replaces_and_deletes_its_message(slack: LoopbackSlack) -> None:
    web(slack).chat_postMessage(channel="C1", text="a")
    web(slack).chat_postMessage(channel="C1", text="b")
    first, second = (slack.response_url("U1", message) for message in slack.messages)

    httpx.post(first, json={"text": "new", "replace_original": True})
    httpx.post(second, json={"delete_original": True})

    assert [(message.text, message.history) for message in slack.messages] == [("new", [("a", [])])]


def test_a_code_is_accepted_in_a_form_and_not_in_the_query(slack: LoopbackSlack) -> None:
    slack.add_person("U9")
    code = {"code": slack.oauth_code("U9")}
    url, client = f"{slack.api_url}oauth.v2.access", (slack.client_id, slack.client_secret)

    by_query = httpx.post(url, auth=client, params=code).json()
    by_form = httpx.post(url, auth=client, data=code).json()

    assert by_query == {"ok": False, "error": "invalid_post_type"}
    assert by_form["ok"]
