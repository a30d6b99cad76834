"""Answers that are given again while nothing was committed, and never any longer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.routing import Mount

from api.http.key_use import KeyUse
from api.http.operations import Call, Edge, Operation
from api.service import app
from api.service.app import FirstSegment
from storage.access import api_keys
from storage.admin import departments
from storage.base.secrets import Secrets
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.db.pages import PageOf
from tests.api.conftest import SETTINGS, Client, a_key
from tests.builders import NOW, Acme, a_department, a_person, an_organisation


class Counter:
    """Serves the names of the departments, and counts how often it is asked."""

    def __init__(self) -> None:
        self.times = 0

    def names(self, tx: Transaction, call: Call) -> Any:
        self.times += 1
        found = departments.page(tx, PageOf(), by=call.caller)
        return sorted(department.name for department in found.items)


@pytest.fixture
def counter() -> Counter:
    return Counter()


@pytest.fixture
def client(database: Database, counter: Counter) -> Iterator[Client]:
    operation = Operation(
        method="GET",
        path="/names",
        summary="Names",
        handler=counter.names,
        tag="Test",
        scope="departments:read",
        is_timeless=True,
        header_parameters=({"name": "API-Variant", "in": "header", "schema": {}},),
    )
    edge = Edge(database, lambda: NOW, SETTINGS.base_url, False, KeyUse(database))
    routes = [Mount("/api/v1", app=FirstSegment(app.endpoints((operation,), edge)))]
    client = Client(app.application(routes, SETTINGS))
    yield client
    client.close()


@pytest.fixture
def acme(database: Database) -> Acme:
    return an_organisation(database)


def names(client: Client, key: str, **headers: str) -> list[str]:
    answer = client.get("/api/v1/names", key, headers=headers)
    assert answer.status_code == 200
    found: list[str] = answer.json()
    return found


def is_alone(database: Database) -> bool:
    """Whether nobody else commits: PostgreSQL's state is the whole server's, other tests' too."""
    return database.engine == "sqlite"


def settled_key(database: Database, client: Client, acme: Acme) -> str:
    """An owner's key whose use in this minute is written already: that is a commit, too."""
    key = a_key(database, acme)
    names(client, key)
    client.settle()
    return key


def test_an_unchanged_answer_is_not_worked_out_again(
    database: Database, client: Client, counter: Counter, acme: Acme
) -> None:
    key = settled_key(database, client, acme)
    first = names(client, key)
    worked_out = counter.times

    assert [names(client, key) for _ in range(100)] == [first] * 100
    anew = counter.times - worked_out
    assert anew == 0 if is_alone(database) else anew < 100


def test_what_anybody_commits_is_in_the_next_answer(
    database: Database, database_url: str, client: Client, acme: Acme
) -> None:
    key = settled_key(database, client, acme)
    other = open_database(database_url, Secrets.generate())
    try:
        for number in range(10):
            writer = other if number % 2 else database
            a_department(writer, acme, name=f"Team {number}")
            assert f"Team {number}" in names(client, key)
            assert len(names(client, key)) == number + 1
    finally:
        other.close()


def test_a_revoked_key_has_no_remembered_answers(
    database: Database, client: Client, acme: Acme
) -> None:
    key = settled_key(database, client, acme)
    names(client, key)
    [found] = database.read_now(api_keys.page, PageOf(), by=acme.caller).items
    database.write_now(api_keys.revoke, found.id, by=acme.caller, now=NOW)

    assert client.get("/api/v1/names", key).status_code == 401


def test_answers_are_remembered_for_one_key_one_query_and_one_variant(
    database: Database, client: Client, counter: Counter, acme: Acme
) -> None:
    key = settled_key(database, client, acme)
    ada = a_person(database, acme)
    other = a_key(database, acme, ada, scopes=["leave:read"])
    names(client, key)
    worked_out = counter.times

    assert client.get("/api/v1/names", other).json()["code"] == "insufficient_scope"
    assert client.get("/api/v1/names?mistyped=1", key).status_code == 422
    names(client, key, **{"API-Variant": "2"})
    anew = counter.times - worked_out
    assert anew == 1 if is_alone(database) else anew >= 1
