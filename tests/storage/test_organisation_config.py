"""The cached configuration: only what was committed is cached."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing

import pytest

from storage.admin import organisation_settings
from storage.base import caches
from storage.base.secrets import Secrets
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.events import organisation_config
from tests.builders import NOW, Acme, an_organisation

pytestmark = pytest.mark.shared_database


class Failed(Exception):
    pass


def rename(tx: Transaction, acme: Acme, name: str) -> None:
    organisation_settings.update(tx, {"name": name}, by=acme.caller, now=NOW)


def name_of(tx: Transaction, acme: Acme) -> str:
    return organisation_config.of_organisation(tx, acme.id).organisation.name


def rename_read_and_fail(tx: Transaction, acme: Acme, name: str) -> None:
    rename(tx, acme, name)
    assert name_of(tx, acme) == name
    raise Failed


def test_the_reads_of_a_write_that_was_rolled_back_are_not_cached(
    database: Database, database_url: str
) -> None:
    acme = an_organisation(database, name="Acme")
    with pytest.raises(Failed):
        database.write_now(rename_read_and_fail, acme, "Rolled back")

    # Another process changes the configuration as well.
    with closing(open_database(database_url, Secrets.generate())) as other:
        other.write_now(rename, acme, "Renamed")

    assert database.read_now(name_of, acme) == "Renamed"


def test_the_reads_of_a_write_beside_one_that_was_rolled_back_are_not_cached(
    database: Database, database_url: str
) -> None:
    acme = an_organisation(database, name="Acme")

    async def write_together() -> list[BaseException | str | None]:
        writes = (
            database.write(rename_read_and_fail, acme, "Rolled back"),
            database.write(name_of, acme),
            database.write(rename_read_and_fail, acme, "Rolled back too"),
            database.write(name_of, acme),
        )
        return list(await asyncio.gather(*writes, return_exceptions=True))

    outcomes = asyncio.run(write_together())
    assert [outcomes[1], outcomes[3]] == ["Acme", "Acme"]
    assert [type(outcomes[0]), type(outcomes[2])] == [Failed, Failed]
    with closing(open_database(database_url, Secrets.generate())) as other:
        other.write_now(rename, acme, "Renamed")

    assert database.read_now(name_of, acme) == "Renamed"


@pytest.fixture
def at_most_8_configurations() -> Iterator[None]:
    """The lowest HIATUS_CACHE_MB."""
    caches.limit_caches(1)
    yield
    caches.limit_caches(caches.DEFAULT_MEGABYTES)


@pytest.mark.usefixtures("at_most_8_configurations")
def test_writes_of_many_organisations_keep_the_cache_within_its_bound(database: Database) -> None:
    for number in range(12):
        acme = an_organisation(database, name=f"Acme {number}")
        database.write_now(name_of, acme)

        assert 0 < len(database.config_cache) <= 8


@pytest.mark.usefixtures("at_most_8_configurations")
def test_reads_of_many_organisations_keep_the_cache_within_its_bound(database: Database) -> None:
    for number in range(12):
        acme = an_organisation(database, name=f"Acme {number}")
        database.read_now(name_of, acme)

        assert 0 < len(database.config_cache) <= 8
