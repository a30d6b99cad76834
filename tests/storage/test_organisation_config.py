"""The cached configuration: only what was committed is cached."""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest

from storage.admin import organisation_settings
from storage.base.secrets import Secrets
from storage.db.database import Database, Transaction, keep_configs
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


def test_the_cache_stays_within_its_bound() -> None:
    cache: dict[str, object] = {}
    for number in range(1_000):
        keep_configs(cache, {str(number): number})

        assert cache[str(number)] == number
        assert len(cache) <= 512
