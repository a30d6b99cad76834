"""The calendar stays within Slack's limits with any names, types and weeks."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.base.language import using_locale
from bot.views import calendar
from bot.views.calendar import DAY_COUNT, MAX_PEOPLE, CalendarPage, CalendarScope
from playground.loopback.limits import is_too_large, problems_of_message, problems_of_view
from storage.base.values import Organisation, field_names
from storage.calendars.wallchart import AWAY, Day, Off, PersonDays, ShownType, Wallchart
from storage.outbox.organisation_config import OrganisationConfig
from storage.rules.counted_days import AFTERNOON, MORNING, NOTHING, WEEKDAYS, WHOLE_DAY
from tests.bot.test_views import text

FIRST_DAY = date(2026, 6, 1)
LONGEST_EMOJI = "x" * 54


def config_of(working_days: tuple[str, ...]) -> OrganisationConfig:
    blank: dict[str, Any] = dict.fromkeys(field_names(Organisation))
    organisation = Organisation(**blank | {"name": "Acme", "working_days": working_days})
    return OrganisationConfig(
        organisation=organisation,
        departments={},
        leave_types={},
        allowances={},
        holiday_sets={},
        holiday_categories={},
        overrides={},
        webhooks=[],
        is_in_slack=True,
    )


leave_types = st.just(AWAY) | st.builds(
    ShownType,
    id=st.just("type"),
    name=text(100),
    letter=st.sampled_from("A&<"),
    colour=st.none(),
    emoji=st.sampled_from([None, "palm_tree", "x" * 30, LONGEST_EMOJI]),
)
offs = st.none() | st.builds(Off, leave_type=leave_types, is_pending=st.booleans())
masks = st.sampled_from([NOTHING, MORNING, AFTERNOON, WHOLE_DAY])
plain_days = st.builds(
    Day,
    date=st.just(FIRST_DAY),
    worked=masks,
    holiday=masks,
    holiday_name=st.none() | text(100),
    morning=offs,
    afternoon=offs,
)


@st.composite
def charts(draw: st.DrawFn) -> Wallchart:
    weeks = draw(st.lists(plain_days, min_size=1, max_size=3))
    people = [
        PersonDays(
            user_id=f"u{number}",
            name=draw(text(201)),
            is_viewer=number == 0,
            days=tuple(
                replace(weeks[(day + number) % len(weeks)], date=FIRST_DAY + timedelta(days=day))
                for day in range(DAY_COUNT)
            ),
        )
        for number in range(draw(st.sampled_from([0, 1, MAX_PEOPLE])))
    ]
    return Wallchart(
        config=config_of(draw(st.sampled_from([WEEKDAYS, WEEKDAYS[:5], ("friday:am",)]))),
        first_day=FIRST_DAY,
        last_day=FIRST_DAY + timedelta(days=DAY_COUNT - 1),
        people=people,
        leave_types=draw(st.lists(leave_types, max_size=60)),
        people_count=len(people),
        page=draw(st.integers(1, 3)),
        pages=3,
    )


pages = st.builds(
    CalendarPage,
    scope=st.sampled_from(get_args(CalendarScope)),
    first_day=st.just(FIRST_DAY),
    people=st.integers(1, 1_000),
)


@given(charts(), pages)
@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_the_calendar_keeps_to_slacks_limits(
    locale: str, chart: Wallchart, page: CalendarPage
) -> None:
    with using_locale(locale):
        message, modal = calendar.message(page, chart), calendar.view(page, chart, "https://x")

    assert problems_of_message(message["text"], message["blocks"]) == []
    assert len(message["text"]) <= 4_000
    assert problems_of_view(modal) == []
    assert not is_too_large(modal)


def test_a_day_on_which_everyone_is_off_fits_a_section() -> None:
    leave_type = ShownType(id="type", name="&" * 100, letter="&", colour=None, emoji=LONGEST_EMOJI)
    day = Day(
        date=FIRST_DAY,
        worked=WHOLE_DAY,
        holiday=NOTHING,
        holiday_name=None,
        morning=Off(leave_type=leave_type, is_pending=True),
        afternoon=Off(leave_type=leave_type, is_pending=False),
    )
    people = [
        PersonDays(
            user_id=f"u{number}",
            name="&" * 201,
            is_viewer=False,
            days=(replace(day, holiday_name=f"{number}{'&' * 100}"),),
        )
        for number in range(MAX_PEOPLE)
    ]
    chart = Wallchart(
        config=config_of(WEEKDAYS),
        first_day=FIRST_DAY,
        last_day=FIRST_DAY,
        people=people,
        leave_types=[leave_type],
        people_count=len(people),
        page=1,
        pages=1,
    )

    modal = calendar.view(CalendarPage(scope="team", first_day=FIRST_DAY), chart, None)

    assert problems_of_view(modal) == []
    assert str(modal).count("…") == 2 * MAX_PEOPLE
