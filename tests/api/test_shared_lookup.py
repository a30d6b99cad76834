"""Look-ups of keys and tokens: concurrent requests share a query, none gets an older result."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from api.base.shared_lookup import SharedLookup
from storage.access import feed_owners, feeds
from storage.access.feed_owners import FeedOwner
from storage.base.errors import DatabaseUnavailable
from storage.db.database import Database
from tests.builders import NOW, an_organisation

pytestmark = pytest.mark.both_engines


class Queries:
    """Runs queries, and delays each result until ``may_answer`` is set."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.tokens: list[set[str]] = []
        self.has_read = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def find_all(self, tokens: set[str]) -> Mapping[str, FeedOwner]:
        self.tokens.append(tokens)
        owners = await self._database.read(feed_owners.find_by_tokens, tokens)
        self.has_read.set()
        await self.may_answer.wait()
        return owners


def test_concurrent_requests_share_a_query_and_get_their_own_owners(database: Database) -> None:
    acme, globex = an_organisation(database), an_organisation(database, name="Globex")
    token_of_acme, token_of_globex = (
        database.write_now(feeds.create, None, by=organisation.caller, now=NOW).token
        for organisation in (acme, globex)
    )

    async def find() -> tuple[list[FeedOwner | None], list[set[str]]]:
        queries = Queries(database)
        lookup = SharedLookup(queries.find_all)
        tokens = (token_of_acme, token_of_globex, "unknown", token_of_acme)
        return await asyncio.gather(*map(lookup.find, tokens)), queries.tokens

    owners, queried = asyncio.run(find())

    organisation_ids = [owner and owner.organisation_id for owner in owners]
    assert organisation_ids == [acme.id, globex.id, None, acme.id]
    assert queried == [{token_of_acme, token_of_globex, "unknown"}]


def test_requests_that_arrive_during_a_query_share_the_next_one(database: Database) -> None:
    acme = an_organisation(database)
    token = database.write_now(feeds.create, None, by=acme.caller, now=NOW).token

    async def find() -> tuple[list[FeedOwner | None], list[set[str]]]:
        queries = Queries(database)
        queries.may_answer.clear()
        lookup = SharedLookup(queries.find_all)
        first = asyncio.create_task(lookup.find("first"))
        await queries.has_read.wait()
        second = asyncio.create_task(lookup.find("second"))
        await asyncio.sleep(0)
        third = asyncio.create_task(lookup.find(token))
        await asyncio.sleep(0)
        queries.may_answer.set()
        return list(await asyncio.gather(first, second, third)), queries.tokens

    owners, queried = asyncio.run(find())

    assert [owner and owner.organisation_id for owner in owners] == [None, None, acme.id]
    assert queried == [{"first"}, {"second", token}]


def test_a_query_that_hangs_does_not_hold_up_later_requests(database: Database) -> None:
    acme = an_organisation(database)
    token = database.write_now(feeds.create, None, by=acme.caller, now=NOW).token
    hangs = asyncio.Event()

    async def find_all(tokens: set[str]) -> Mapping[str, FeedOwner]:
        if "hanging" in tokens:
            await hangs.wait()
        return await database.read(feed_owners.find_by_tokens, tokens)

    async def find() -> FeedOwner | None:
        lookup = SharedLookup(find_all)
        hanging = asyncio.create_task(lookup.find("hanging"))
        await asyncio.sleep(0.01)
        async with asyncio.timeout(5):
            owner = await lookup.find(token)
        assert not hanging.done()
        hangs.set()
        await hanging
        return owner

    assert asyncio.run(find()) is not None


def test_a_feed_is_gone_for_requests_after_its_revocation_even_during_an_earlier_query(
    database: Database,
) -> None:
    acme = an_organisation(database)
    feed = database.write_now(feeds.create, None, by=acme.caller, now=NOW)

    async def find() -> tuple[FeedOwner | None, FeedOwner | None]:
        queries = Queries(database)
        queries.may_answer.clear()
        lookup = SharedLookup(queries.find_all)
        earlier = asyncio.create_task(lookup.find(feed.token))
        await queries.has_read.wait()
        await database.write(feeds.revoke, feed.id, by=acme.caller, now=NOW)
        later = asyncio.create_task(lookup.find(feed.token))
        # The later request has every chance to join the earlier query.
        await asyncio.sleep(0)
        queries.may_answer.set()
        return await earlier, await later

    earlier, later = asyncio.run(find())

    assert earlier is not None
    assert later is None


def test_a_cancelled_request_does_not_cancel_the_query_of_the_others(database: Database) -> None:
    acme = an_organisation(database)
    feed = database.write_now(feeds.create, None, by=acme.caller, now=NOW)

    async def find() -> FeedOwner | None:
        queries = Queries(database)
        queries.may_answer.clear()
        lookup = SharedLookup(queries.find_all)
        cancelled, other = (asyncio.create_task(lookup.find(feed.token)) for _ in range(2))
        await queries.has_read.wait()
        cancelled.cancel()
        queries.may_answer.set()
        return await other

    assert asyncio.run(find()) is not None


def test_a_failed_query_fails_its_own_requests_alone(database: Database) -> None:
    acme = an_organisation(database)
    feed = database.write_now(feeds.create, None, by=acme.caller, now=NOW)
    failures = [DatabaseUnavailable("away")]

    async def find_all(tokens: set[str]) -> Mapping[str, FeedOwner]:
        if failures:
            raise failures.pop()
        return await database.read(feed_owners.find_by_tokens, tokens)

    async def find() -> FeedOwner | None:
        lookup = SharedLookup(find_all)
        with pytest.raises(DatabaseUnavailable):
            await lookup.find(feed.token)
        return await lookup.find(feed.token)

    assert asyncio.run(find()) is not None
