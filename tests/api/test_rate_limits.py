"""Limits: by API key, by feed token, and by address for failed authentications."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Iterator
from typing import Any

import httpx
import limits
import pytest
from structlog.testing import capture_logs

from api.base.redis_windows import REDIS_PAUSE_SECONDS, Hit
from api.base.settings import ApiSettings
from api.http.errors import RateLimited
from api.http.rate_limits import FAILURE_LIMIT, MemoryCounter, RateLimits
from storage.base.environment import SettingsError
from storage.base.secrets import new_token
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.keys import api_keys, authentication
from tests import outside
from tests.api.conftest import Client, application
from tests.builders import Acme, a_key
from tests.fakes.redis import LoopbackRedis

PATH = "/api/v1/organisation"
LIMITED = ApiSettings(base_url="https://hiatus.test", rate_limit="3/minute")


@pytest.fixture
def client(database: Database) -> Iterator[Client]:
    client = Client(application(database, LIMITED))
    yield client
    client.close()


def standing(response: httpx.Response) -> tuple[int, int]:
    """The remaining requests and seconds in the header."""
    name, remaining, seconds = response.headers["RateLimit"].split(";")
    assert name == '"default"'
    return int(remaining.removeprefix("r=")), int(seconds.removeprefix("t="))


def test_responses_show_the_rate_limit_and_the_fourth_is_refused(client: Client, key: str) -> None:
    responses = [client.get(PATH, key) for _ in range(4)]

    assert [response.status_code for response in responses] == [200, 200, 200, 429]
    assert [standing(response)[0] for response in responses] == [2, 1, 0, 0]
    assert {response.headers["RateLimit-Policy"] for response in responses} == {
        '"default";q=3;w=60'
    }
    assert all(0 < standing(response)[1] <= 60 for response in responses)
    refused = responses[3]
    assert refused.json()["code"] == "rate_limited"
    assert int(refused.headers["Retry-After"]) >= standing(refused)[1]


def test_refused_requests_of_a_valid_key_count_and_have_the_headers(
    client: Client, key: str
) -> None:
    unknown = client.get("/api/v1/users/0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11", key)
    invalid = client.get(f"{PATH}?x=1", key)
    unreadable = client.post(
        "/api/v1/departments", key, content=b"{", headers={"Content-Type": "application/json"}
    )

    assert [response.status_code for response in (unknown, invalid, unreadable)] == [404, 422, 400]
    assert [standing(response)[0] for response in (unknown, invalid, unreadable)] == [2, 1, 0]


def test_each_key_has_a_limit_of_its_own(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    for _ in range(4):
        client.get(PATH, key)

    assert client.get(PATH, a_key(database, acme)).status_code == 200


def fail(client: Client, times: int) -> list[int]:
    """The statuses of requests with wrong keys, from the one address that all tests have."""
    return [client.get(PATH, authentication.new_key()).status_code for _ in range(times)]


def test_the_failure_limit_refuses_only_wrong_credentials(client: Client) -> None:
    answered = fail(client, FAILURE_LIMIT.amount)

    refused = client.get(PATH, authentication.new_key())

    assert set(answered) == {401}
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0
    assert "RateLimit" not in refused.headers
    assert client.get(PATH, "not a key").status_code == 429
    assert client.get(PATH).status_code == 429
    assert client.get("/cal/a-guess").status_code == 429
    assert client.get(f"/cal/{new_token()}").status_code == 429


def test_failures_of_an_address_do_not_refuse_a_valid_key(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    assert client.get(PATH, key).status_code == 200
    assert 429 in fail(client, FAILURE_LIMIT.amount + 1)

    used_before = client.get(PATH, key)
    used_first = client.get(PATH, a_key(database, acme))

    assert [used_before.status_code, used_first.status_code] == [200, 200]
    assert standing(used_before)[0] == 1
    assert fail(client, 1) == [429]


def test_failures_of_an_address_do_not_refuse_a_valid_feed(
    client: Client, database: Database, key: str
) -> None:
    token = client.get("/api/v1/calendar-feeds/token", key).json()["token"]
    wrong = [client.get(f"/cal/{new_token()}") for _ in range(FAILURE_LIMIT.amount + 1)]
    assert wrong[-1].status_code == 429

    responses = [client.get(f"/cal/{token}{suffix}") for suffix in ("", ".ics", "?scope=team")]

    assert [response.status_code for response in responses] == [200, 200, 200]


def test_a_malformed_key_or_token_costs_no_query(
    client: Client, database_url: str, key: str
) -> None:
    misspelt = key[:-1] + ("a" if key[-1] != "a" else "b")
    for table in ("api_keys", "calendar_feeds"):
        outside.run(database_url, f"ALTER TABLE {table} RENAME TO {table}_away")

    assert client.get(PATH, misspelt).status_code == 401
    assert client.get(PATH, "hiatus_sk_live_").status_code == 401
    assert client.get("/cal/a-guess").status_code == 404
    # A well-formed key is looked up, and the table is missing.
    assert client.get(PATH, authentication.new_key()).status_code >= 500
    assert client.get(f"/cal/{new_token()}").status_code >= 500


def test_a_revoked_key_fails_like_a_wrong_one(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    client.get(PATH, key)
    api_key = acme.read(api_keys.page, PageOf()).items[0]
    acme.write(api_keys.revoke, api_key.id)

    responses = [client.get(PATH, key) for _ in range(FAILURE_LIMIT.amount + 1)]

    assert responses[0].status_code == 401
    assert "RateLimit" not in responses[0].headers
    assert responses[-1].status_code == 429


def test_a_feed_may_be_read_120_times_an_hour(client: Client, key: str) -> None:
    token = client.get("/api/v1/calendar-feeds/token", key).json()["token"]

    responses = [client.get(f"/cal/{token}{suffix}") for suffix in ("", ".ics") for _ in range(60)]
    refused = client.get(f"/cal/{token}?scope=team")

    assert {response.status_code for response in responses} == {200}
    assert responses[0].headers["RateLimit-Policy"] == '"default";q=120;w=3600'
    assert standing(responses[-1])[0] == 0
    assert refused.status_code == 429
    assert 0 < int(refused.headers["Retry-After"]) <= 3600


class Name(str):
    """A name to which there can be weak references."""


def test_expired_windows_are_dropped_with_their_names() -> None:
    now = 0.0
    name = Name("d")
    reference = weakref.ref(name)
    counter = MemoryCounter(limits.parse("2/minute"), lambda: now)

    assert [counter.hit_now("a").number for _ in range(3)] == [1, 2, 3]
    now = 59.9
    assert counter.hit_now("b").number == 1
    assert counter.hit_now("a").number == 4
    now = 60
    assert counter.hit_now("a") == Hit(number=1, ends_in_seconds=60)
    assert counter.hit_now("b").number == 2
    assert counter.hit_now(name).number == 1
    del name
    assert reference() is not None
    now = 500
    assert counter.hit_now("c").number == 1
    assert reference() is None


async def remaining_after(*requests_of: RateLimits) -> list[int | None]:
    """The remaining requests of one key after a hit on each limiter; None without a count."""
    remaining = []
    for rate_limits in requests_of:
        scope: dict[str, Any] = {"client": ("192.0.2.1", 1)}
        await rate_limits.keys.hit(scope, "0" * 64)
        standing = scope.get("rate_limit")
        remaining.append(None if standing is None else int(standing[1][1].split(b";")[1][2:]))
    for rate_limits in set(requests_of):
        await rate_limits.close()
    return remaining


def test_two_processes_share_the_counts_in_redis() -> None:
    with LoopbackRedis() as redis:
        first, second = (RateLimits("3/minute", redis.url) for _ in range(2))

        assert asyncio.run(remaining_after(first, second, first)) == [2, 1, 0]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("redis://127.0.0.1:1", "no connection"),
        ("redis+unix:///nowhere/redis.sock", "no connection"),
        ("redis+cluster://127.0.0.1:1", "no node of the cluster answers"),
    ],
)
def test_without_redis_all_requests_pass_and_the_failure_is_logged(url: str, reason: str) -> None:
    rate_limits = RateLimits("1/minute", url)

    with capture_logs() as lines:
        remaining = asyncio.run(remaining_after(*[rate_limits] * 20))

    assert set(remaining) == {None}
    # Logged once: Redis is not asked again for a while.
    said = [(line["event"], line["reason"]) for line in lines]
    assert said == [("nothing is limited: Redis is unavailable", reason)]


def test_while_redis_hangs_one_request_waits_for_it_after_each_pause() -> None:
    now = 0.0
    with LoopbackRedis(answers=False) as redis:
        rate_limits = RateLimits("1/minute", redis.url, lambda: now)

        async def limited_of_eight() -> int:
            scopes: list[dict[str, Any]] = [{"client": ("192.0.2.1", 1)} for _ in range(8)]
            await asyncio.gather(*(rate_limits.keys.hit(scope, "0" * 64) for scope in scopes))
            await rate_limits.close()
            return sum("rate_limit" in scope for scope in scopes)

        with capture_logs() as lines:
            assert (asyncio.run(limited_of_eight()), redis.counted) == (0, 8)
            assert (asyncio.run(limited_of_eight()), redis.counted) == (0, 8)
            now = REDIS_PAUSE_SECONDS
            assert (asyncio.run(limited_of_eight()), redis.counted) == (0, 9)

    assert [line["reason"] for line in lines] == ["no answer within 0.25 s"] * 2


@pytest.mark.parametrize(
    "text", ["600/minute;10/second", "600/minute, 10/second", "0/minute", "many", "-1/minute"]
)
def test_a_limit_that_is_not_one_window_stops_the_start(text: str) -> None:
    with pytest.raises(SettingsError, match="must be one window such as 600/minute"):
        ApiSettings.from_env({"HIATUS_RATE_LIMIT": text})


def test_failures_from_one_ipv6_network_count_together() -> None:
    rate_limits = RateLimits("600/minute")
    for number in range(FAILURE_LIMIT.amount):
        rate_limits.record_failure({"client": (f"2001:db8::{number:x}", 1)})

    with pytest.raises(RateLimited, match="At most 60 requests"):
        rate_limits.record_failure({"client": ("2001:db8::ffff", 1)})
    rate_limits.record_failure({"client": ("2001:db8:0:1::1", 1)})
