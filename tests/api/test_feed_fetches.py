"""Feeds are never without a name, and say when they were last fetched and by which program."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from api.feeds.feed_endpoint import program_of
from api.service import app
from storage.admin import people
from storage.base.secrets import Secrets
from storage.calendars import feeds
from storage.db.database import Database
from tests import outside
from tests.api.conftest import SETTINGS, Client
from tests.builders import (
    NOW,
    Acme,
    a_key,
    a_person,
    an_organisation,
    caller_for,
    owner_of_feed,
    personal_token,
)

pytestmark = pytest.mark.both_engines

V1 = "/api/v1"
THUNDERBIRD = "Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Thunderbird/115.9"


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def client(database: Database, clock: Clock) -> Iterator[Client]:
    client = Client(app.application(app.routes(database, SETTINGS, clock), SETTINGS))
    yield client
    client.close()


def fetched(client: Client, key: str, feed_id: str) -> tuple[Any, Any]:
    """The last fetch as the list and the feed itself show it."""
    (listed,) = client.get(f"{V1}/calendar-feeds", key).json()["data"]
    alone = client.get(f"{V1}/calendar-feeds/{feed_id}", key).json()
    assert listed == alone
    return alone["last_fetched_at"], alone["last_fetched_by"]


def test_a_feed_without_a_name_is_called_after_its_owner(
    client: Client, database: Database
) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    key = a_key(database, acme, ada)

    created = [client.post(f"{V1}/calendar-feeds", key, json=body) for body in ({}, {"name": None})]
    named = client.post(f"{V1}/calendar-feeds", key, json={"name": "Phone"}).json()

    assert [response.json()["name"] for response in created] == ["Leave: Ada Lovelace"] * 2
    assert named["name"] == "Phone"
    acme.write(people.update, ada.id, {"last_name": "King"})
    listed = client.get(f"{V1}/calendar-feeds", key).json()["data"]
    assert [feed["name"] for feed in listed] == ["Phone", "Leave: Ada King", "Leave: Ada King"]
    # The calendar's name describes the selected scope.
    path = created[0].json()["url"].removeprefix(SETTINGS.base_url)
    assert "X-WR-CALNAME:Leave: Ada King\r\n" in client.get(path).text
    assert "X-WR-CALNAME:Leave: Acme (my team)" in client.get(f"{path}?scope=team").text


def test_the_last_fetch_of_a_feed_is_recorded_once_an_hour(
    client: Client, database: Database, clock: Clock
) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme)
    feed = client.post(f"{V1}/calendar-feeds", key, json={"name": "Phone"}).json()
    path = feed["url"].removeprefix(SETTINGS.base_url)
    assert (feed["last_fetched_at"], feed["last_fetched_by"]) == (None, None)

    first = client.get(path, headers={"User-Agent": THUNDERBIRD})
    assert fetched(client, key, feed["id"]) == ("2026-06-01T09:00:00Z", "Thunderbird")

    clock.now += timedelta(minutes=59)
    client.get(path, headers={"User-Agent": "curl/8.5.0"})
    assert fetched(client, key, feed["id"]) == ("2026-06-01T09:00:00Z", "Thunderbird")

    # A 304 is a fetch, too.
    clock.now += timedelta(minutes=1)
    unchanged = {"User-Agent": "curl/8.5.0", "If-None-Match": first.headers["ETag"]}
    assert client.get(path, headers=unchanged).status_code == 304
    assert fetched(client, key, feed["id"]) == ("2026-06-01T10:00:00Z", "curl")

    clock.now += timedelta(hours=2)
    client.request("HEAD", path, headers={"User-Agent": ""})
    assert fetched(client, key, feed["id"]) == ("2026-06-01T12:00:00Z", None)


def test_recording_a_fetch_does_not_change_the_feed(client: Client, database: Database) -> None:
    acme = an_organisation(database)
    token = acme.write(personal_token)
    before = client.get(f"/cal/{token}")

    after = client.get(f"/cal/{token}")

    assert owner_of_feed(database, token).last_fetched_at == NOW
    assert (after.content, after.headers["ETag"]) == (before.content, before.headers["ETag"])
    assert after.headers["Last-Modified"] == before.headers["Last-Modified"]


def test_the_personal_token_shows_its_last_fetch(client: Client, database: Database) -> None:
    acme: Acme = an_organisation(database)
    ada = a_person(database, acme)
    key = a_key(database, acme, ada)
    path = f"{V1}/calendar-feeds/token"
    own = client.get(path, key).json()
    assert (own["last_fetched_at"], own["last_fetched_by"]) == (None, None)

    client.get(own["feeds"]["team"], headers={"User-Agent": "Google-Calendar-Importer"})

    after = client.get(path, key).json()
    assert after["last_fetched_at"] == "2026-06-01T09:00:00Z"
    assert after["last_fetched_by"] == "Google-Calendar-Importer"
    new = client.post(f"{V1}/calendar-feeds/regenerate", key).json()
    assert (new["last_fetched_at"], new["last_fetched_by"]) == (None, None)
    assert database.read_now(feeds.find_personal, by=caller_for(acme, ada)) is not None


@pytest.mark.parametrize(
    ("user_agent", "program"),
    [
        (THUNDERBIRD, "Thunderbird"),
        ("Google-Calendar-Importer", "Google-Calendar-Importer"),
        ("iOS/17.4 (21E219) dataaccessd/1.0", "iOS"),
        ("macOS/14.4 (23E214) CalendarAgent/1025", "macOS"),
        ("Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0)", "Microsoft Office"),
        ("curl/8.5.0", "curl"),
        (
            "Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36",
            "Chrome",
        ),
        ("Mozilla/5.0 (Mac) AppleWebKit/605.1 (KHTML) Version/17.4 Safari/605.1", "Safari"),
        ("", None),
        ("/////", None),
        ("(only a comment)", None),
        ("<b>*x*</b> <!channel>\x00\xe9\u202e" + "y" * 5_000, "b x"),
        ("z" * 5_000, "z" * 60),
        ("((((" * 200, None),
    ],
)
def test_a_program_is_shown_by_its_short_name(user_agent: str, program: str | None) -> None:
    assert program_of(user_agent) == program


def test_feeds_with_a_lost_secret_key_are_listed_and_can_be_replaced(
    client: Client, database: Database, database_url: str
) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme, a_person(database, acme))
    lost = client.post(f"{V1}/calendar-feeds", key, json={"name": "Phone"}).json()
    old = client.get(f"{V1}/calendar-feeds/token", key).json()
    lost_token = Secrets.generate().encrypt("encrypted with a key that is gone")
    outside.run(database_url, f"UPDATE calendar_feeds SET token_encrypted = '{lost_token}'")

    (listed,) = client.get(f"{V1}/calendar-feeds", key).json()["data"]
    alone = client.get(f"{V1}/calendar-feeds/{lost['id']}", key).json()
    assert listed == alone == lost | {"url": None}
    refused = client.get(f"{V1}/calendar-feeds/token", key)
    assert (refused.status_code, refused.json()["code"]) == (409, "feed_token_unreadable")
    assert client.get(old["feeds"]["personal"], None).status_code == 200

    renewed = client.post(f"{V1}/calendar-feeds/regenerate", key).json()
    assert client.get(f"{V1}/calendar-feeds/token", key).json()["token"] == renewed["token"]
    assert client.get(old["feeds"]["personal"], None).status_code == 404


@pytest.mark.parametrize("query", ["", "?scope=team", "?scope=org"])
def test_a_browser_is_sent_to_the_feed_with_the_scheme_of_calendars(
    database: Database, client: Client, query: str
) -> None:
    acme = an_organisation(database)
    caller = caller_for(acme, a_person(database, acme))
    token = database.write_now(personal_token, by=caller, now=NOW + timedelta(hours=1))

    response = client.get(f"/cal/{token}/subscribe{query}")

    host = SETTINGS.base_url.partition("://")[2]
    assert response.status_code == 302
    assert response.headers["Location"] == f"webcal://{host}/cal/{token}{query}"
    assert response.headers["Cache-Control"] == "private, no-store"
    assert client.get(f"/cal/{token}{query}").status_code == 200


def test_what_cannot_be_a_token_is_not_found(client: Client) -> None:
    assert client.get("/cal/no%0d%0atoken/subscribe").status_code == 404


def test_an_unknown_scope_is_refused(client: Client) -> None:
    response = client.get(f"/cal/{'a' * 43}/subscribe?scope=planet")

    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "?scope"
