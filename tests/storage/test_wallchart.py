"""The wallchart: which people, days and leave each viewer sees."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from storage.admin import holiday_overrides, people, people_status
from storage.admin.holiday_overrides import NewOverride
from storage.base.values import User
from storage.calendars import wallchart
from storage.calendars.wallchart import AWAY, Off, PersonDays, Wallchart
from storage.db.database import Database
from storage.leave import decisions
from storage.outbox import organisation_config
from storage.people import holiday_sets
from storage.rules.counted_days import AFTERNOON, NOTHING, WHOLE_DAY
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_leave_type,
    a_person,
    a_request,
    an_organisation,
    approved_leave,
)

pytestmark = pytest.mark.shared_database

# A Monday.
AUGUST_3 = date(2026, 8, 3)


def chart_of(database: Database, acme: Acme, viewer: User, **how: Any) -> Wallchart:
    """Everyone's two weeks from 3 August, unless ``how`` says otherwise."""
    how = {**{"scope": "org", "first_day": AUGUST_3, "day_count": 14}, **how}
    return database.read_now(
        wallchart.load,
        organisation_id=acme.id,
        viewer_id=viewer.id,
        viewer_department_id=viewer.department_id,
        **how,
    )


def names(chart: Wallchart) -> list[str]:
    return [person.name.split()[0] for person in chart.people]


def row_of(chart: Wallchart, user: User) -> PersonDays:
    return next(person for person in chart.people if person.user_id == user.id)


def halves(chart: Wallchart, user: User) -> dict[int, tuple[str | None, str | None]]:
    """By day of the month: what the two halves of the days with leave show."""

    def word(off: Off | None) -> str | None:
        if off is None:
            return None
        return (off.leave_type.name or "Away") + (" (pending)" if off.is_pending else "")

    return {
        day.date.day: (word(day.morning), word(day.afternoon))
        for day in row_of(chart, user).days
        if day.morning or day.afternoon
    }


def test_leave_is_shown_on_the_days_that_count(database: Database, acme: Acme, ada: User) -> None:
    # From Thursday to the morning of the Tuesday after the weekend.
    approved_leave(
        database,
        acme,
        ada,
        start_date=date(2026, 8, 6),
        end_date=date(2026, 8, 11),
        end_half_day="am",
    )

    chart = chart_of(database, acme, ada)

    whole = ("Annual leave", "Annual leave")
    assert halves(chart, ada) == {6: whole, 7: whole, 10: whole, 11: ("Annual leave", None)}
    [annual] = chart.leave_types
    assert (annual.name, annual.letter) == ("Annual leave", "A")
    assert [day.worked for day in row_of(chart, ada).days[:7]] == [WHOLE_DAY] * 5 + [NOTHING] * 2


def test_two_types_share_a_day(database: Database, acme: Acme, ada: User) -> None:
    approved_leave(database, acme, ada, start_half_day="am")
    approved_leave(database, acme, ada, start_half_day="pm", code="sick")

    chart = chart_of(database, acme, ada)

    assert halves(chart, ada) == {3: ("Annual leave", "Sick leave")}


def test_a_private_type_of_others_is_away(database: Database, acme: Acme) -> None:
    ada, hedy = a_person(database, acme), a_person(database, acme, first_name="Hedy")
    approved_leave(database, acme, ada, code="sick")

    own, others = chart_of(database, acme, ada), chart_of(database, acme, hedy)

    assert [name and name[:4] for name, _ in halves(own, ada).values()] == ["Sick"]
    assert halves(others, ada) == {3: ("Away", "Away")}
    assert others.leave_types == [AWAY]
    # Not even owners.
    assert halves(chart_of(database, acme, acme.owner), ada) == {3: ("Away", "Away")}


def test_pending_leave_is_the_viewers_own(database: Database, acme: Acme) -> None:
    grace = a_person(database, acme, first_name="Grace")
    ada = a_person(database, acme, manager_id=grace.id)
    hedy = a_person(database, acme, first_name="Hedy", manager_id=acme.owner.id)
    a_request(database, acme, ada)
    a_request(database, acme, hedy)
    pending = {3: ("Annual leave (pending)", "Annual leave (pending)")}

    def seen(viewer: User, **how: Any) -> list[str]:
        chart = chart_of(database, acme, viewer, **how)
        return [person.first_name for person in (ada, hedy) if halves(chart, person) == pending]

    assert seen(ada) == ["Ada"]
    assert seen(grace) == []
    assert seen(grace, pending="awaiting", today=NOW.date()) == ["Ada"]
    assert seen(ada, pending="awaiting", today=NOW.date()) == ["Ada"]
    assert seen(acme.owner, pending="all") == ["Ada", "Hedy"]


def test_declined_and_cancelled_leave_is_not_shown(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    request = a_request(database, acme, ada)
    acme.write(decisions.decline, request.id, reason="No")

    assert halves(chart_of(database, acme, ada), ada) == {}


def test_the_viewer_is_first_and_the_others_follow_by_name(database: Database, acme: Acme) -> None:
    for name in ("Zoe", "Ada", "Mae"):
        a_person(database, acme, first_name=name)
    a_person(database, acme, first_name="Archie", status="archived")
    nia = a_person(database, acme, first_name="Nia")

    chart = chart_of(database, acme, nia)

    assert names(chart) == ["Nia", "Ada", "Mae", "Olive", "Zoe"]
    assert [person.is_viewer for person in chart.people] == [True, False, False, False, False]


def test_the_scopes(database: Database, acme: Acme) -> None:
    head = a_person(database, acme, first_name="Head")
    team = a_department(database, acme, name="Team", manager_id=head.id)
    other = a_department(database, acme, name="Other")
    ada = a_person(database, acme, department_id=team.id)
    a_person(database, acme, first_name="Carl", department_id=team.id)
    a_person(database, acme, first_name="Rae", department_id=other.id, manager_id=ada.id)
    a_person(database, acme, first_name="Hedy", department_id=other.id)

    def shown(**how: Any) -> list[str]:
        return names(chart_of(database, acme, ada, **how))

    assert shown(scope="team") == ["Ada", "Carl", "Head", "Rae"]
    assert shown() == ["Ada", "Carl", "Head", "Hedy", "Olive", "Rae"]
    assert shown(department_id=other.id) == ["Hedy", "Rae"]
    assert shown(department_id=team.id) == ["Ada", "Carl"]


def test_other_organisations_are_not_shown(database: Database) -> None:
    acme, globex = an_organisation(database), an_organisation(database, name="Globex")
    department = a_department(database, globex)
    a_person(database, globex, first_name="Gil", department_id=department.id)

    assert names(chart_of(database, acme, acme.owner)) == ["Olive"]
    assert names(chart_of(database, acme, acme.owner, department_id=department.id)) == []


def test_pages_of_people(database: Database, acme: Acme) -> None:
    for name in ("Ada", "Carl", "Hedy", "Zoe"):
        a_person(database, acme, first_name=name)

    def page(number: int) -> tuple[list[str], int, int]:
        chart = chart_of(database, acme, acme.owner, page=number, page_size=2)
        assert chart.people_count == 5
        return names(chart), chart.page, chart.pages

    assert page(1) == (["Olive", "Ada"], 1, 3)
    assert page(2) == (["Carl", "Hedy"], 2, 3)
    assert page(3) == (["Zoe"], 3, 3)
    assert page(9) == (["Zoe"], 3, 3)


def test_each_person_has_their_own_holidays_and_working_days(database: Database) -> None:
    acme = an_organisation(database, country_code="GB")
    holiday_set = acme.write(holiday_sets.add, "IE")
    ada = a_person(database, acme, working_days=["monday", "friday:pm"])
    jo = a_person(database, acme, first_name="Jo", public_holiday_country_code="IE")
    acme.write(
        holiday_overrides.add,
        holiday_set.id,
        NewOverride(date=date(2026, 8, 12), name="Fest", is_holiday=True, half="pm"),
    )

    chart = chart_of(database, acme, ada)

    worked = [day.worked for day in row_of(chart, ada).days[:7]]
    assert worked == [WHOLE_DAY, NOTHING, NOTHING, NOTHING, AFTERNOON, NOTHING, NOTHING]
    assert all(day.holiday == NOTHING for day in row_of(chart, ada).days)
    [bank_holiday, fest] = [day for day in row_of(chart, jo).days if day.holiday]
    assert (bank_holiday.date.day, bank_holiday.holiday) == (3, WHOLE_DAY)
    assert (fest.date.day, fest.holiday, fest.holiday_name) == (12, AFTERNOON, "Fest")


def test_people_work_on_no_day_before_they_start(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, start_date=date(2026, 8, 5))

    [person] = [each for each in chart_of(database, acme, acme.owner).people if not each.is_viewer]

    assert person.user_id == ada.id
    assert [day.worked for day in person.days[:4]] == [NOTHING, NOTHING, WHOLE_DAY, WHOLE_DAY]


def test_people_who_are_hired_again_work_on_no_day_in_between(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme, start_date=date(2026, 1, 5))
    change = {"end_date": date(2026, 8, 4)}
    acme.write(people.update, ada.id, change)
    gone = datetime(2026, 8, 5, 12, tzinfo=UTC)
    acme.write(people_status.archive, ada.id, now=gone)
    acme.write(people.restore, ada.id, start_date=date(2026, 8, 6), now=gone)

    chart = chart_of(database, acme, acme.owner)

    worked = [day.worked for day in row_of(chart, ada).days[:5]]
    assert worked == [WHOLE_DAY, WHOLE_DAY, NOTHING, WHOLE_DAY, WHOLE_DAY]


def test_only_the_viewers_own_row_shows_the_last_day(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, end_date=date(2026, 8, 4))
    grace = a_person(database, acme, first_name="Grace", end_date=date(2026, 8, 4))

    chart = chart_of(database, acme, ada)

    for person, worked_on_wednesday in ((ada, NOTHING), (grace, WHOLE_DAY)):
        worked = [day.worked for day in row_of(chart, person).days[:3]]
        assert worked == [WHOLE_DAY, WHOLE_DAY, worked_on_wednesday]


def test_letters_are_unique_and_reveal_nothing_of_private_types(database: Database) -> None:
    acme = an_organisation(database)
    before = database.read_now(organisation_config.of_organisation, acme.id).leave_types
    public = {key: value for key, value in before.items() if not value.is_private}
    secret = a_leave_type(database, acme, name="Adoption", is_private=True)
    study = a_leave_type(database, acme, name="Annual study")

    types = database.read_now(organisation_config.of_organisation, acme.id).leave_types
    letters = wallchart.type_letters(types.values())

    assert len({*letters.values()}) == len(letters)
    assert wallchart.HIDDEN_LETTER not in letters.values()
    without_private = wallchart.type_letters([*public.values(), study])
    assert {key: letters[key] for key in without_private} == dict(without_private)
    assert secret.id in letters


def test_more_people_or_days_are_refused(database: Database, acme: Acme) -> None:
    for how in ({"page_size": 201}, {"day_count": 63}, {"day_count": 0}):
        with pytest.raises(ValueError, match="At most"):
            chart_of(database, acme, acme.owner, **how)
