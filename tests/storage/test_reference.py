"""Reference data: remembered by the process, and never what was not committed."""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest

from storage.admin import organisation_settings
from storage.base.secrets import Secrets
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.events import organisation_config
from tests.builders import NOW, Acme, an_organisation


class Refused(Exception):
    pass


def rename(tx: Transaction, acme: Acme, name: str) -> None:
    organisation_settings.update(tx, {"name": name}, by=acme.caller, now=NOW)


def name_of(tx: Transaction, acme: Acme) -> str:
    return organisation_config.of_organisation(tx, acme.id).organisation.name


def rename_look_and_refuse(tx: Transaction, acme: Acme, name: str) -> None:
    rename(tx, acme, name)
    assert name_of(tx, acme) == name
    raise Refused


def test_what_an_undone_write_has_seen_is_not_remembered(
    database: Database, database_url: str
) -> None:
    acme = an_organisation(database, name="Acme")
    with pytest.raises(Refused):
        database.write_now(rename_look_and_refuse, acme, "Undone")

    # Another process makes the very version that the undone write had made.
    with closing(open_database(database_url, Secrets.generate())) as other:
        other.write_now(rename, acme, "Renamed")

    assert database.read_now(name_of, acme) == "Renamed"


def test_what_a_neighbour_of_an_undone_write_has_seen_is_not_remembered(
    database: Database, database_url: str
) -> None:
    acme = an_organisation(database, name="Acme")

    async def write_together() -> list[BaseException | str | None]:
        writes = (
            database.write(rename_look_and_refuse, acme, "Undone"),
            database.write(name_of, acme),
            database.write(rename_look_and_refuse, acme, "Undone too"),
            database.write(name_of, acme),
        )
        return list(await asyncio.gather(*writes, return_exceptions=True))

    outcomes = asyncio.run(write_together())
    assert [outcomes[1], outcomes[3]] == ["Acme", "Acme"]
    assert [type(outcomes[0]), type(outcomes[2])] == [Refused, Refused]
    with closing(open_database(database_url, Secrets.generate())) as other:
        other.write_now(rename, acme, "Renamed")

    assert database.read_now(name_of, acme) == "Renamed"
