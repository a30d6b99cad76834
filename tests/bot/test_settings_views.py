"""Settings stay within Slack's limits with any user input."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, Literal
from zoneinfo import available_timezones

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.blocks import fields
from bot.screens import (
    allowances,
    api_keys,
    calendar_feeds,
    consequences,
    departments,
    holidays,
    leave_types,
    people,
    person_form,
    searches,
    webhooks,
)
from bot.screens import organisation as organisation_screen
from bot.screens.consequences import NamedEffects
from playground.loopback.limits import is_too_large, problems_of_view
from storage.admin.allowances import MAX_ALLOWANCES, Shown
from storage.admin.effects import Effects
from storage.base.allowance_values import Allowance, AllowanceTerms, TenureStep
from storage.base.calendar_values import CalendarFeed, HolidayOnDate, HolidayOverride, HolidaySet
from storage.base.event_values import (
    EVENT_TYPES,
    LoggedAttempt,
    LoggedDelivery,
    Webhook,
    WebhookHealth,
)
from storage.base.leave_values import (
    Adjustment,
    LeaveEffect,
    LeaveRequest,
    LeaveStatus,
    Reassignment,
)
from storage.base.values import ROLES, SCOPES, ApiKey, Department, Organisation, Role, field_names
from storage.db.pages import Page
from storage.leave.ledgers import Balance, Line
from storage.leave.people_facts import MAX_LISTED, People, PersonFacts
from storage.rules import holiday_calendar
from storage.rules.counted_days import WEEKDAYS
from storage.rules.leave_years import LeaveYear
from tests.bot.test_views import NOW, REQUEST_ID, leave_type, text, user
from tests.builders import an_allowance

CURSOR = "c" * 400
CURSORS = st.sampled_from([None, CURSOR])

KEYS = st.builds(
    ApiKey,
    id=st.just(REQUEST_ID),
    user_id=st.just("u"),
    name=text(200),
    prefix=st.just("hiatus_sk_live_abcdef"),
    scopes=st.sampled_from([SCOPES, ("leave:read",)]),
    variant=st.just(1),
    created_at=st.just(NOW),
    expires_at=st.sampled_from([None, NOW]),
    last_used_at=st.sampled_from([None, NOW]),
    revoked_at=st.none(),
)
FEEDS = st.builds(
    CalendarFeed,
    id=st.just(REQUEST_ID),
    name=text(200),
    token=st.sampled_from(["t" * 43, ""]),
    created_at=st.just(NOW),
    last_fetched_at=st.sampled_from([None, NOW]),
    last_fetched_by=st.none() | text(60),
)


@given(st.lists(KEYS, max_size=20), CURSORS)
def test_lists_of_keys_are_within_limits(keys: list[ApiKey], cursor: str | None) -> None:
    view = api_keys.list_view(Page(items=keys, next_cursor=cursor), "Europe/London", NOW)

    assert problems_of_view(view) == []
    assert not is_too_large(view)


@given(FEEDS, st.lists(FEEDS, max_size=20), CURSORS)
def test_lists_of_feeds_are_within_limits(
    own: CalendarFeed, feeds: list[CalendarFeed], cursor: str | None
) -> None:
    base_url = "https://" + "h" * 200 + ".example.com"
    view = calendar_feeds.list_view(
        base_url, own, Page(items=feeds, next_cursor=cursor), "Europe/London"
    )

    assert problems_of_view(view) == []


def test_the_feeds_lead_to_the_wallchart() -> None:
    own = CalendarFeed(id=REQUEST_ID, name="", token="secret", created_at=NOW)

    view = calendar_feeds.list_view(
        "https://hiatus.example", own, Page(items=[], next_cursor=None), "Europe/London"
    )

    assert "<https://hiatus.example/wallchart/secret|" in str(view)


@given(text(200))
def test_forms_and_new_keys_are_within_limits(name: str) -> None:
    for view in (
        api_keys.form_view(),
        calendar_feeds.form_view(),
        api_keys.new_key(name, "hiatus_sk_live_" + "x" * 49),
    ):
        assert problems_of_view(view) == []


def a_balance(half_days: int, reason: str, allowance: Allowance) -> Balance:
    year = LeaveYear(first_day=date(2026, 4, 1), last_day=date(2027, 3, 31))
    adjustment = Adjustment(
        id=REQUEST_ID,
        user_id=REQUEST_ID,
        leave_year=2026,
        half_days=half_days,
        reason=reason,
        created_by=None,
        created_at=NOW,
    )
    return Balance(
        user_id=REQUEST_ID,
        allowance=allowance,
        on=year.first_day,
        working_days=(),
        year=year,
        lines=[Line(type="adjustment", half_days=half_days, adjustment=adjustment)] * 50,
        entitled_half_days=half_days,
        taken_half_days=0,
        pending_half_days=half_days,
        remaining_half_days=-half_days,
        lapsing_half_days=0,
        lapsing_after=None,
    )


@given(text(200), text(200), st.integers(0, 120), st.sampled_from([None, *ROLES]))
def test_forms_of_people_and_departments_are_within_limits(
    name: str, other: str, count: int, role: Role | None
) -> None:
    blank: dict[str, Any] = dict.fromkeys(field_names(Department))
    many = [
        Department(**blank | {"id": f"{REQUEST_ID[:-4]}{number:04}", "name": other})
        for number in range(count)
    ]
    employee = replace(
        user(name, other),
        id=REQUEST_ID,
        email="e" * 242 + "@example.com",
        role=role or "member",
        status="deactivated" if role else "active",
        department_id=many[-1].id if many else None,
        working_days=("monday", "friday:am"),
        leave_allowance_half_days=25,
        public_holiday_country_code="GB-SCT",
    )
    facts = PersonFacts(
        user=employee,
        department_name=other,
        manager_name=name,
        year_name="2026/27",
        remaining_half_days=-count,
    )
    listed = People(people=(facts,) * MAX_LISTED, has_more=True)
    allowances = [an_allowance(), *[an_allowance(other, is_default=False)] * (MAX_ALLOWANCES - 1)]
    balances = [a_balance(count, name, each) for each in allowances]
    for view in (
        people.list_view(listed),
        people.balance_view(employee, balances, allowances),
        people.adjusted_view(employee, balances),
        person_form.new_view(many),
        person_form.form_view(
            employee,
            employee,
            many,
            "United Kingdom (Scotland)",
            date(2026, 6, 1),
            WEEKDAYS,
        ),
        departments.list_view(Page(items=many[:40], next_cursor=CURSOR), {}, {}),
        departments.form_view(None, None),
        *(departments.form_view(department, employee) for department in many[:1]),
        *(departments.deletion_view(department) for department in many[:1]),
    ):
        assert problems_of_view(view) == []
        assert not is_too_large(view)
    assert len(searches.department_options(many, "")) <= 100
    offered: Any = searches.person_options([employee] * 99, with_no_one=True)
    assert len(offered) <= 100
    assert all(1 <= len(option["text"]["text"]) <= 75 for option in offered)


@given(text(200), text(200), st.integers(0, 12), st.sampled_from(["pending", "cancelled"]))
def test_confirmations_of_effects_are_within_limits(
    name: str, other: str, number: int, status: LeaveStatus
) -> None:
    employee = replace(user(name, other), id=REQUEST_ID, email="ada@example.com")
    before = LeaveRequest(
        **dict.fromkeys(field_names(LeaveRequest))  # type: ignore[arg-type]
        | {
            "user_id": REQUEST_ID[:-1],
            "status": "pending",
            "start_date": date(2025, 12, 31),
            "end_date": date(2026, 12, 30),
            "start_half_day": "pm",
            "end_half_day": "am",
            "total_half_days": 731,
        }
    )
    after = replace(before, status=status, end_date=date(2026, 8, 4), total_half_days=number)
    named_effects = NamedEffects(
        effects=Effects(
            leave=(LeaveEffect(user=employee, before=before, after=after),) * number,
            reassigned=(
                Reassignment(request=before, before=(employee,) * 50, after=(employee,) * number),
            )
            * number,
            api_keys=number,
            calendar_feeds=number,
            reports=(REQUEST_ID,) * number,
            departments=(REQUEST_ID,) * number,
        ),
        names={REQUEST_ID: name, before.user_id: other},
        departments={REQUEST_ID: other},
    )
    changed = HolidayOverride(
        id=REQUEST_ID,
        date=NOW.date(),
        name=name or "Day",
        is_holiday=True,
        half=None,
        every_year=bool(number % 2),
        created_at=NOW,
    )
    holiday_set = HolidaySet(
        id=REQUEST_ID, country_code="GB-SCT", categories=("public",), created_at=NOW
    )
    for view in (
        people.deactivation_view(employee, named_effects),
        people.archiving_view(employee, named_effects),
        holidays.removal_view(holiday_set, changed, named_effects),
        consequences.before_saving(named_effects, "settings.people.form.confirmed", "k" * 2_999),
    ):
        assert problems_of_view(view) == []
        blocks: Any = view["blocks"]
        assert len(blocks) == (1 if number == 0 else 4)


@given(text(200), text(200))
def test_forms_of_the_organisation_and_its_types_are_within_limits(name: str, emoji: str) -> None:
    blank: dict[str, Any] = dict.fromkeys(field_names(Organisation))
    organisation = Organisation(
        **blank
        | {
            "name": name,
            "country_code": "GB-SCT",
            "timezone": "America/Argentina/ComodRivadavia",
            "working_days": ("monday",),
            "leave_year_type": "fiscal",
            "leave_year_start_month": 12,
            "leave_year_start_day": 31,
            "default_leave_allowance_half_days": 732,
            "carry_over_half_days": 1,
            "slack_members_join": True,
            "digest_channel": "C024BE91L",
        }
    )
    study = replace(
        leave_type(name, emoji[:100]),
        code="c" * 64,
        colour="#ffffff",
        min_notice_days=730,
        max_consecutive_days=366,
        allowance_id="allowance",
    )
    many = [replace(an_allowance(name, is_default=False), id=str(each)) for each in range(100)]
    for view in (
        organisation_screen.form_view(organisation, "United Kingdom (Scotland)"),
        *(
            organisation_screen.leave_year_view(organisation, fields.from_when(NOW.date()), step)
            for step in ("", "allowance", "leave_year", "carry_over")
        ),
        organisation_screen.in_slack_view(organisation),
        leave_types.form_view(None),
        leave_types.form_view(study),
        leave_types.archiving_view(study),
        leave_types.form_view(study, many, many[0].id, [study.name] * 40),
        leave_types.list_view(Page(items=[study] * 40, next_cursor=CURSOR), {"allowance": many[0]}),
    ):
        assert problems_of_view(view) == []


@given(text(200), st.integers(1, 100))
def test_allowances_are_within_limits(name: str, number: int) -> None:
    most = AllowanceTerms(
        id=REQUEST_ID,
        valid_from=date(2026, 9, 1),
        half_days_per_year=Fraction(73_199, 100),
        granting="monthly",
        by_tenure=tuple(
            TenureStep(after_years=41 + each, half_days_per_year=Fraction(73_199, 100))
            for each in range(20)
        ),
        available_after_months=120,
        may_borrow=True,
        overdraft_half_days=731,
        carry_over_half_days=Fraction(73_199, 100),
        carry_over_expires_after_months=12,
        credits_expire_after_months=120,
    )
    first = replace(most, valid_from=None)
    allowance = replace(
        an_allowance(name, is_default=False), earnable=True, terms=(first, *[most] * (number - 1))
    )
    shown = Shown(allowance=allowance, terms=most)
    from_when, no_effects = (
        fields.from_when(NOW.date()),
        NamedEffects(effects=Effects(), names={}, departments={}),
    )
    for view in (
        allowances.form_view(None, from_when),
        # All of them past, or but the first future.
        allowances.form_view(shown, from_when, date(2027, 1, 1)),
        allowances.form_view(shown, from_when, date(2026, 1, 1)),
        allowances.archiving_view(allowance),
        allowances.taking_back_view(f"{REQUEST_ID} {REQUEST_ID}", most, no_effects),
        allowances.list_view(Page(items=[shown] * 40, next_cursor=CURSOR), date(2026, 1, 1)),
    ):
        assert problems_of_view(view) == []
        assert not is_too_large(view)


@given(st.sampled_from(["", "united", "a", "GB-", "zzzz", "*"]))
@settings(max_examples=6)
def test_at_most_a_hundred_countries_and_zones_are_offered(typed: str) -> None:
    countries = holiday_calendar.all_countries()
    offered: Any
    for offered in (
        searches.country_options(countries, typed),
        searches.timezone_options(available_timezones(), typed),
    ):
        assert len(offered) <= 100
        assert all(1 <= len(option["text"]["text"]) <= 75 for option in offered)
        assert all(1 <= len(option["value"]) <= 75 for option in offered)


def test_a_menu_groups_more_than_a_hundred_options() -> None:
    labels = [f"Team {number:03} " + "<" * 80 for number in range(250)]
    options = [fields.Option(label=label, value=label[5:8]) for label in labels]

    menu: Any = fields.select(options, chosen="249")

    block = {"type": "input", "label": {"type": "plain_text", "text": "Team"}, "element": menu}
    view = {"type": "modal", "title": {"type": "plain_text", "text": "Edit"}, "blocks": [block]}
    assert problems_of_view(view | {"submit": {"type": "plain_text", "text": "Save"}}) == []
    assert [len(group["options"]) for group in menu["option_groups"]] == [100, 100, 50]


def test_every_category_of_holidays_has_a_name() -> None:
    codes = holiday_calendar.countries()
    known = {name for code in codes for name in holiday_calendar.categories(code)}

    assert known - {"public"} <= holidays.CATEGORIES.keys()


# The most categories that a country has.
MACEDONIAN = holiday_calendar.categories("MK")[1:]


@given(text(200), text(200), st.booleans(), st.sampled_from([None, "am", "pm"]))
def test_forms_of_public_holidays_are_within_limits(
    name: str, country: str, is_holiday: bool, half: Literal["am", "pm"] | None
) -> None:
    holiday_set = HolidaySet(
        id=REQUEST_ID, country_code="GB-SCT", categories=("public",), created_at=NOW
    )
    changed = HolidayOverride(
        id=REQUEST_ID,
        date=NOW.date(),
        name=name,
        is_holiday=is_holiday,
        half=half,
        every_year=is_holiday,
        created_at=NOW,
    )
    ahead = HolidayOnDate(
        date=NOW.date(),
        name=name,
        source="country",
        half=half,
        is_holiday=is_holiday,
        override_id=REQUEST_ID if is_holiday else None,
    )
    for view in (
        holidays.list_view(
            Page(items=[holiday_set] * 40, next_cursor=CURSOR),
            {"GB-SCT": country},
            {"GB-SCT": ahead},
        ),
        holidays.form_view(),
        holidays.overrides_view(
            replace(holiday_set, categories=("public", *MACEDONIAN)),
            country,
            [ahead] * 99,
            Page(items=[changed] * 30, next_cursor=CURSOR),
            has_categories=True,
        ),
        holidays.categories_view(
            holiday_set,
            dict.fromkeys(MACEDONIAN, [NOW.date() + timedelta(each) for each in range(99)]),
        ),
        holidays.override_form_view(REQUEST_ID),
        holidays.override_form_view(REQUEST_ID, NOW.date()),
    ):
        assert problems_of_view(view) == []
        assert not is_too_large(view)


HEALTHY, FAILING = (
    WebhookHealth(failing_since=None, next_attempt_at=None),
    WebhookHealth(failing_since=NOW, next_attempt_at=NOW),
)


@given(text(2_000), st.none() | text(1_000), st.integers(0, 2), text(64))
def test_forms_of_webhooks_are_within_limits(
    url: str, reason: str | None, attempts: int, response_body: str
) -> None:
    webhook = Webhook(
        id=REQUEST_ID,
        url=url,
        events=EVENT_TYPES,
        is_active=reason is None,
        disabled_reason=reason,
        created_at=NOW,
        updated_at=NOW,
        version=1,
    )
    tried = LoggedAttempt(
        attempted_at=NOW,
        status_code=None,
        error=response_body,
        duration_milliseconds=12,
        answer=response_body,
    )
    last = LoggedDelivery(
        id=REQUEST_ID,
        event_id=REQUEST_ID,
        event_type="ping",
        leave_request_id=None,
        sequence=0,
        status="pending",
        next_attempt_at=NOW,
        created_at=NOW,
        settled_at=None,
        attempts=[tried] * attempts,
    )
    for view in (
        webhooks.list_view(Page(items=[webhook] * 40, next_cursor=CURSOR)),
        webhooks.list_view(Page(items=[], next_cursor=None)),
        webhooks.form_view(),
        webhooks.form_view(webhook),
        webhooks.secret_view("whsec_" + "x" * 44),
        webhooks.webhook_view(webhook, HEALTHY, None, "Europe/London", "Told."),
        webhooks.webhook_view(webhook, FAILING, last, "Europe/London"),
    ):
        assert problems_of_view(view) == []
        assert not is_too_large(view)
