"""Opening figures: a table of what people have left becomes adjustments, once."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.admin import people
from storage.base.allowance_values import Amount
from storage.base.errors import InsufficientRole, InvalidInput
from storage.base.values import Caller
from storage.db.database import Database
from storage.leave import adjustments, ledgers, opening_figures
from storage.leave.opening_figures import BadLine, Entry, Table
from tests.builders import NOW, Acme, a_person, a_request, audit_entries, caller_for

TODAY = NOW.date()


def reason_of(half_days: Amount) -> str:
    return f"{float(half_days) / 2:g} days left"


def saved(database: Database, by: Caller, text: str, on: date = TODAY) -> Table:
    entries = opening_figures.entries_of(text)
    return database.write_now(
        opening_figures.save, entries, on, reason_of=reason_of, by=by, now=NOW
    )


def left(database: Database, acme: Acme, user_id: str, on: date = TODAY) -> Amount:
    balance = database.read_now(ledgers.balance, user_id, on=on, by=acme.caller, now=NOW)
    return balance.remaining_half_days


@pytest.mark.parametrize(
    ("line", "who", "half_days"),
    [
        ("Ada Lovelace\t12.5", "Ada Lovelace", 25),
        ("Ada Lovelace;12,5", "Ada Lovelace", 25),
        ("Ada Lovelace,12,5", "Ada Lovelace", 25),
        ("Lovelace, Ada, 12", "Lovelace, Ada", 24),
        ("ada@example.com, 0", "ada@example.com", 0),
        ("Ada Lovelace <ada@example.com>; -1.5", "ada@example.com", -3),
        ('"Ada Lovelace";"12,25"', "Ada Lovelace", Fraction(49, 2)),
    ],
)
def test_a_line_is_a_name_or_an_address_and_days(line: str, who: str, half_days: Amount) -> None:
    (entry,) = opening_figures.entries_of(line)

    assert isinstance(entry, Entry)
    assert (entry.who, entry.half_days) == (who, half_days)


def test_a_heading_and_empty_lines_are_left_out_and_lines_keep_their_numbers() -> None:
    entries = opening_figures.entries_of("Name;Days left\n\nAda;1\nGrace\n;3\nEve;400\n")

    assert [(entry.number, type(entry)) for entry in entries] == [
        (3, Entry),
        (4, BadLine),
        (5, BadLine),
        (6, BadLine),
    ]


@given(
    st.text(st.characters(exclude_characters="\t;,\n\r"), max_size=40),
    st.integers(-732, 732),
    st.sampled_from("\t;,"),
    st.sampled_from(".,"),
)
def test_every_figure_in_half_days_is_read_as_it_is_written(
    name: str, half_days: int, separator: str, point: str
) -> None:
    days = f"{half_days / 2:g}".replace(".", point)
    entries = opening_figures.entries_of(f"Ada {len(name)}{separator}{days}")

    assert [entry.half_days for entry in entries if isinstance(entry, Entry)] == [half_days]
    # Whatever else a line has, it is read or reported.
    opening_figures.entries_of(f"{name}{separator}{days}")


def test_people_have_left_what_the_table_says_and_the_rest_is_reported(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme, first_name="Ada", last_name="Lovelace")
    grace = a_person(database, acme, first_name="Grace", last_name="Hopper")
    a_request(database, acme, ada, start_date=date(2026, 8, 3), end_date=date(2026, 8, 4))
    table = saved(
        database,
        acme.caller,
        f"Ada Lovelace;12,5\n{grace.email.upper()}\t30\nBob;3\nAda Lovelace;9",
    )

    assert (left(database, acme, ada.id), left(database, acme, grace.id)) == (25, 60)
    assert [(bad.number, str(bad.cure)) for bad in table.bad_lines] == [
        (3, "No one has this name. Use the e-mail address, or add the person first."),
        (4, "Line 1 has this person already. Remove one of the lines."),
    ]
    entries = [
        entry
        for entry in audit_entries(database, acme.caller)
        if entry.action == "allowance_adjustment.created"
    ]
    assert len(entries) == 2


def test_the_same_table_saved_twice_changes_nothing_also_after_more_leave(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme, first_name="Ada", last_name="Lovelace")
    first = saved(database, acme.caller, "Ada Lovelace;12.5")
    a_request(database, acme, ada, start_date=date(2026, 8, 3), end_date=date(2026, 8, 4))

    second = saved(database, acme.caller, "Ada Lovelace;12.5")

    assert [len(first.changed), len(second.changed)] == [1, 0]
    assert left(database, acme, ada.id) == 21


def test_a_figure_that_was_corrected_can_be_saved_again(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, first_name="Ada", last_name="Lovelace")
    for figure in ("12.5", "8", "12.5"):
        saved(database, acme.caller, f"Ada Lovelace;{figure}")

    assert left(database, acme, ada.id) == 25


def test_people_of_the_same_name_are_told_apart_by_address(database: Database, acme: Acme) -> None:
    a_person(database, acme, first_name="Ada", last_name="Lovelace", email="a@example.com")
    other = a_person(database, acme, first_name="Ada", last_name="Lovelace", email="b@example.com")

    table = saved(database, acme.caller, "Ada Lovelace;1\nb@example.com;2")

    assert [figure.user.id for figure in table.figures] == [other.id]
    (bad,) = table.bad_lines
    assert bad.cure == "Several people have this name. Use the e-mail address."


def test_a_figure_that_half_days_cannot_reach_names_the_two_beside_it(
    database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme, first_name="Ada", last_name="Lovelace")
    part_time = {"leave_allowance_half_days": Fraction(168, 5)}
    acme.write(people.update, ada.id, part_time)

    refused = saved(database, acme.caller, "Ada Lovelace;12.5")
    accepted = saved(database, acme.caller, "Ada Lovelace;12,3")

    assert str(refused.bad_lines[0].cure) == (
        "Leave is taken in half-days, so they can have 12.3 days or 12.8 days left. "
        "Use one of these."
    )
    assert len(accepted.changed) == 1
    assert left(database, acme, ada.id) == Fraction(123, 5)


def test_people_who_do_not_work_on_that_day_are_reported(database: Database, acme: Acme) -> None:
    later = TODAY + timedelta(days=30)
    a_person(database, acme, first_name="Ada", last_name="Lovelace", start_date=later)

    early = saved(database, acme.caller, "Ada Lovelace;12.5")

    assert [str(bad.cure) for bad in early.bad_lines] in (
        [],
        ["This person isn't employed on that day. Choose a later day."],
    )
    assert saved(database, acme.caller, "Ada Lovelace;12.5", later).bad_lines == ()
    with pytest.raises(InvalidInput):
        saved(database, acme.caller, "Ada Lovelace;1", TODAY + timedelta(days=400))


def test_members_save_no_figures(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, first_name="Ada", last_name="Lovelace")

    with pytest.raises(InsufficientRole):
        saved(database, caller_for(acme, ada), "Ada Lovelace;12.5")

    assert len(reason_of(25)) < adjustments.MAX_REASON_LENGTH
