"""A small organisation whose members use the API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from storage.base.values import User
from storage.db.database import Database
from tests.builders import Acme, a_key, a_person, an_organisation, type_id


@dataclass(frozen=True, kw_only=True, slots=True)
class Team:
    """Ada reports to Grace; each, and the owner, with a key of every scope."""

    acme: Acme
    ada: User
    grace: User
    adas_key: str
    graces_key: str
    owners_key: str
    annual: str
    sick: str


def a_team(database: Database, **settings: Any) -> Team:
    acme = an_organisation(database, **settings)
    grace = a_person(database, acme, first_name="Grace", last_name="Hopper")
    ada = a_person(database, acme, manager_id=grace.id)
    return Team(
        acme=acme,
        ada=ada,
        grace=grace,
        adas_key=a_key(database, acme, ada),
        graces_key=a_key(database, acme, grace),
        owners_key=a_key(database, acme),
        annual=type_id(database, acme),
        sick=type_id(database, acme, "sick"),
    )
