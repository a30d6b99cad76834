"""The cached configuration: only committed values are cached; caches are bounded."""

from __future__ import annotations

from contextlib import closing

import pytest

from storage.admin import organisation_settings
from storage.base.caches import LRUCache
from storage.base.secrets import Secrets
from storage.db.database import Database, Transaction, keep_configs
from storage.db.engines import open_database
from storage.db.tables import OrganisationRow
from storage.outbox import organisation_config
from tests.builders import NOW, Acme, an_organisation

pytestmark = pytest.mark.shared_database


class Failed(Exception):
    pass


def rename(tx: Transaction, acme: Acme, name: str) -> None:
    organisation_settings.update(tx, {"name": name}, by=acme.caller, now=NOW)


def name_of(tx: Transaction, acme: Acme) -> str:
    return organisation_config.of_organisation(tx, acme.id).organisation.name


def change_read_and_fail(tx: Transaction, acme: Acme) -> None:
    """Before the use case says that the configuration changed, so its version is the old one."""
    tx.update(OrganisationRow, {"name": "Rolled back"}, id=acme.id)
    assert name_of(tx, acme) == "Rolled back"
    raise Failed


def test_the_reads_of_a_write_that_was_rolled_back_are_not_cached(
    database: Database, database_url: str
) -> None:
    acme = an_organisation(database, name="Acme")

    # A process that has cached nothing yet.
    with closing(open_database(database_url, Secrets.generate())) as process:
        with pytest.raises(Failed):
            process.write_now(change_read_and_fail, acme)
        assert process.read_now(name_of, acme) == "Acme"

        database.write_now(rename, acme, "Renamed")
        assert process.read_now(name_of, acme) == "Renamed"


def test_the_cache_stays_within_its_bound() -> None:
    cache: dict[str, object] = {}
    for number in range(1_000):
        keep_configs(cache, {str(number): number})

        assert cache[str(number)] == number
        assert len(cache) <= 512


def test_the_least_recently_used_value_is_evicted_first() -> None:
    cache: LRUCache[str, str] = LRUCache(10)
    cache.put("a", "A", 4)
    cache.put("b", "B", 4)
    cache.get("a")

    cache.put("c", "C", 4)

    assert [cache.get(key) for key in "abc"] == ["A", None, "C"]


def test_a_key_has_its_last_value_and_counts_once() -> None:
    cache: LRUCache[str, str] = LRUCache(10)
    cache.put("a", "A", 9)

    cache.put("a", "B", 5)
    cache.put("b", "C", 5)

    assert (cache.get("a"), cache.get("b")) == ("B", "C")


def test_a_value_larger_than_the_cache_is_not_stored_and_evicts_nothing() -> None:
    cache: LRUCache[str, str] = LRUCache(10)
    cache.put("a", "A", 4)
    cache.put("b", "B", 4)

    cache.put("b", "long", 11)

    assert (cache.get("a"), cache.get("b"), len(cache)) == ("A", None, 1)
