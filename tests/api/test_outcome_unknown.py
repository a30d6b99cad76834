"""A connection that breaks during COMMIT: whether the change was saved is unknown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import get_args

import pytest

from storage.base.secrets import Secrets
from storage.db.database import Database
from storage.db.engines import open_database
from tests.api.conftest import Client, application
from tests.builders import a_key, an_organisation
from tests.fakes.breaking_proxy import BreakingProxy, Moment

PATH = "/api/v1/departments"


@pytest.fixture
def proxy(postgres_url: str) -> Iterator[BreakingProxy]:
    with BreakingProxy(postgres_url) as proxy:
        yield proxy


@pytest.fixture
def database(proxy: BreakingProxy) -> Iterator[Database]:
    """The service's database through the proxy."""
    with closing(open_database(proxy.url, Secrets.generate())) as database:
        yield database


@pytest.mark.parametrize("moment", get_args(Moment))
def test_an_unknown_outcome_is_503_with_its_own_code(
    client: Client, database: Database, proxy: BreakingProxy, moment: Moment
) -> None:
    key = a_key(database, an_organisation(database))
    proxy.breaks = moment

    response = client.post(PATH, key, json={"name": "Design"})

    problem = response.json()
    assert (response.status_code, problem["code"]) == (503, "outcome_unknown")
    assert int(response.headers["Retry-After"]) > 0
    assert "may or may not have been saved" in problem["detail"]
    assert "Idempotency-Key" in problem["detail"]
    # A read shows whether it was saved, as the detail says.
    names = [department["name"] for department in client.get(PATH, key).json()["data"]]
    assert names == (["Design"] if moment == "after" else [])


@pytest.mark.parametrize("moment", get_args(Moment))
def test_a_retry_with_the_same_idempotency_key_creates_one_department(
    client: Client, database: Database, proxy: BreakingProxy, moment: Moment
) -> None:
    key = a_key(database, an_organisation(database))
    headers = {"Idempotency-Key": "design-1"}
    proxy.breaks = moment
    first = client.post(PATH, key, json={"name": "Design"}, headers=headers)

    repeat = client.post(PATH, key, json={"name": "Design"}, headers=headers)

    assert (first.status_code, repeat.status_code) == (503, 201)
    is_replay = repeat.headers.get("Idempotent-Replayed") == "true"
    assert is_replay == (moment == "after")
    names = [department["name"] for department in client.get(PATH, key).json()["data"]]
    assert names == ["Design"]


def test_a_connection_lost_before_commit_changes_nothing(
    client: Client, database: Database, postgres_url: str
) -> None:
    key = a_key(database, an_organisation(database))
    database.close()
    away = open_database("postgresql://ada@/hiatus?host=/nowhere", Secrets.generate())
    with closing(away):
        gone = Client(application(away))
        responses = [gone.post(PATH, key, json={"name": "Design"}), gone.get(PATH, key)]
        gone.close()

    assert [response.json()["code"] for response in responses] == ["unavailable"] * 2
    assert "Nothing was changed" in responses[0].json()["detail"]
