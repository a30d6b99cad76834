"""People are found by their names and by the local part of their address."""

from __future__ import annotations

import pytest

from storage.db.database import Database
from storage.people import people_lists
from tests.builders import Acme, a_person, an_organisation

pytestmark = pytest.mark.shared_database


@pytest.mark.parametrize(
    ("typed", "first_names"),
    [
        ("gmail", ["Grace"]),
        ("@gmail.com", []),
        ("com", []),
        ("ada l", ["Ada"]),
        ("LOVELACE", ["Ada"]),
        ("a.king", ["Ada"]),
        ("a.king@gm", ["Ada"]),
        ("king@gmail.com", []),
        ("%", []),
    ],
)
def test_a_domain_matches_no_people(database: Database, typed: str, first_names: list[str]) -> None:
    acme = an_organisation(database)
    a_person(database, acme, email="A.King@gmail.com")
    a_person(database, acme, first_name="Grace", last_name="Hopper", email="gmail.fan@gmail.com")
    a_person(database, acme, first_name="Hedy", last_name="Lamarr", email="hedy@gmail.com")

    people = database.read_now(people_lists.find, typed, by=acme.caller)

    assert [user.first_name for user in people] == first_names


@pytest.mark.parametrize(
    ("typed", "first_names"),
    [
        ("ada", ["Ada"]),
        ("mcdonald", ["Mary Ann"]),
        ("with mary ann", ["Mary Ann"]),
        ("mary", []),
        ("émile or ada", ["Ada", "Émile"]),
        ("adam", []),
        ("", []),
        ("%", []),
    ],
)
def test_people_are_named_by_whole_words(
    database: Database, acme: Acme, typed: str, first_names: list[str]
) -> None:
    a_person(database, acme)
    a_person(database, acme, first_name="Mary Ann", last_name="McDonald", email="mary@acme.example")
    a_person(database, acme, first_name="Émile", email="emile@acme.example")

    people = database.read_now(people_lists.named, typed, by=acme.caller)

    assert [user.first_name for user in people] == first_names
