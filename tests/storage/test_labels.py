"""Labels for people: who sees and who changes them, names, colours, how many, and the trail."""

from __future__ import annotations

import pytest

from storage.admin import labels
from storage.admin.labels import MAX_LABELS, Label, TooManyLabels
from storage.base.errors import InsufficientRole, InvalidInput, NameTaken, NotFound
from storage.base.values import Caller
from storage.db.database import Database
from storage.db.pages import PageOf
from tests.builders import NOW, Acme, a_person, an_organisation, audit_entries, caller_for


def a_label(database: Database, acme: Acme, **settings: object) -> Label:
    values = {"name": "First aider", "colour": "#2e86de", **settings}
    return database.write_now(labels.create, values, by=acme.caller, now=NOW)


def update(database: Database, label: Label, by: Caller, **changes: object) -> Label:
    return database.write_now(labels.update, label.id, changes, by=by, now=NOW)


def all_labels(database: Database, by: Caller) -> list[Label]:
    return database.read_now(labels.page, PageOf(limit=100), by=by).items


def test_a_label_is_added_changed_and_deleted_with_an_audit_trail(database: Database) -> None:
    acme = an_organisation(database)

    label = a_label(database, acme, colour="#2E86DE")
    again = update(database, label, acme.caller, colour="#2e86de")
    changed = update(database, label, acme.caller, name="first aider", colour="#10ac84")

    assert (label.colour, again) == ("#2e86de", label)
    assert (changed.name, changed.colour, changed.version) == ("first aider", "#10ac84", 2)
    assert all_labels(database, acme.caller) == [changed]
    database.write_now(labels.delete, label.id, by=acme.caller, now=NOW)
    assert all_labels(database, acme.caller) == []
    entries = [
        (entry.action, entry.changes)
        for entry in audit_entries(database, acme.caller, subject_id=label.id)
    ]
    assert entries == [
        (
            "label.deleted",
            {
                "name": {"before": "first aider", "after": None},
                "colour": {"before": "#10ac84", "after": None},
            },
        ),
        (
            "label.updated",
            {
                "name": {"before": "First aider", "after": "first aider"},
                "colour": {"before": "#2e86de", "after": "#10ac84"},
            },
        ),
        (
            "label.created",
            {
                "name": {"before": None, "after": "First aider"},
                "colour": {"before": None, "after": "#2e86de"},
            },
        ),
    ]


def test_everyone_sees_labels_and_admins_change_them(database: Database) -> None:
    acme = an_organisation(database)
    label = a_label(database, acme)
    by = caller_for(acme, a_person(database, acme, role="approver"))

    assert all_labels(database, by) == [label]
    assert database.read_now(labels.get, label.id, by=by) == label
    new = {"name": "Warden", "colour": "#ee5253"}
    for use in (
        lambda: database.write_now(labels.create, new, by=by, now=NOW),
        lambda: update(database, label, by, name="Warden"),
        lambda: database.write_now(labels.delete, label.id, by=by, now=NOW),
    ):
        with pytest.raises(InsufficientRole):
            use()
    assert all_labels(database, acme.caller) == [label]


def test_another_organisations_labels_are_unknown_and_their_names_free(database: Database) -> None:
    acme, rival = an_organisation(database), an_organisation(database)
    theirs, ours = a_label(database, rival), a_label(database, acme)

    assert all_labels(database, acme.caller) == [ours]
    for use in (
        lambda: database.read_now(labels.get, theirs.id, by=acme.caller),
        lambda: update(database, theirs, acme.caller, name="Warden"),
        lambda: database.write_now(labels.delete, theirs.id, by=acme.caller, now=NOW),
    ):
        with pytest.raises(NotFound):
            use()


def test_a_name_is_taken_in_any_case(database: Database) -> None:
    acme = an_organisation(database)
    first = a_label(database, acme)
    other = a_label(database, acme, name="Warden")

    with pytest.raises(NameTaken) as refused:
        a_label(database, acme, name=" FIRST  aider ")
    assert refused.value.other_id == first.id
    with pytest.raises(NameTaken):
        update(database, other, acme.caller, name="first AIDER")
    assert all_labels(database, acme.caller) == [first, other]


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"colour": "blue"}, "invalid_colour"),
        ({"colour": "#12345g"}, "invalid_colour"),
        ({"colour": None}, "required"),
        ({"name": "\u2060"}, "no_visible_letter"),
    ],
)
def test_a_wrong_field_is_refused(database: Database, wrong: dict[str, object], code: str) -> None:
    acme = an_organisation(database)

    with pytest.raises(InvalidInput) as refused:
        a_label(database, acme, **wrong)

    assert [error.code for error in refused.value.errors] == [code]
    assert all_labels(database, acme.caller) == []


def test_an_organisation_has_a_bounded_number_of_labels(database: Database) -> None:
    acme = an_organisation(database)
    for number in range(MAX_LABELS):
        label = a_label(database, acme, name=f"Label {number}")

    with pytest.raises(TooManyLabels):
        a_label(database, acme)
    database.write_now(labels.delete, label.id, by=acme.caller, now=NOW)
    a_label(database, acme)
