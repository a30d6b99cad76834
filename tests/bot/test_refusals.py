"""Every error has a sentence in the user's language, with its numbers and dates."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from api.webhooks.webhook_urls import parse_webhook_url
from bot.base import ids, language
from bot.base.language import using_locale
from bot.interaction import errors
from storage.base import amounts, fields, texts
from storage.base.errors import (
    DomainError,
    FieldError,
    InsufficientAllowance,
    InvalidInput,
    InvalidTransition,
    OverlappingLeave,
)
from storage.base.leave_values import LEAVE_STATUSES, LeaveType
from storage.db.database import Database
from storage.rules import counted_days, holiday_calendar, leave_years, request_rules
from storage.rules.counted_days import DayCount, Span
from storage.webhooks import webhooks
from tests import catalogues
from tests.bot.world import World
from tests.fakes.slack import LoopbackSlack
from tests.raised_codes import documented_errors
from tests.values import ANNUAL

NAMES = sorted(language.available())
MONDAY = date(2026, 8, 3)
# English fractions and thousands, ISO dates, and placeholders without a value.
NOT_GERMAN = re.compile(r"(?<![\d.])\d+\.\d{1,2}(?![\d.])|\d,\d{3}|\d{4}-\d\d-\d\d|[{}]")
# Three days and a half.
WORK = [
    DayCount(date=MONDAY, requested=3, worked=3, holiday=0, holiday_name=None, counted=3)
] * 3 + [DayCount(date=MONDAY, requested=3, worked=3, holiday=0, holiday_name=None, counted=1)]


def test_slack_never_shows_the_api_name_of_a_field() -> None:
    with_field_name = {message for message in catalogues.of_errors() if "{field}" in message}

    assert len(with_field_name) > 5
    assert with_field_name - errors.IN_SLACK.keys() == set()


def test_every_message_that_slack_rewords_exists_in_the_domain() -> None:
    assert errors.IN_SLACK.keys() - catalogues.of_errors().keys() == set()


def of_fields(*calls: Callable[[], object]) -> list[InvalidInput]:
    refusals = []
    for call in calls:
        with pytest.raises(InvalidInput) as refusal:
            call()
        refusals.append(refusal.value)
    return refusals


def a_leave_type(**rules: Any) -> LeaveType:
    return replace(ANNUAL, **rules)


def with_figures() -> list[DomainError]:
    """Refusals with an amount, a number, a date or a list, then the documentation's examples."""
    start, end = date(2026, 8, 3), date(2026, 8, 7)
    span = Span(start_date=start, end_date=end)
    strict = a_leave_type(min_notice_days=14, max_consecutive_days=2, requires_note=True)
    return [
        *of_fields(
            lambda: request_rules.check_type_rules(strict, span, WORK, None, start),
            lambda: request_rules.check_type_rules(
                a_leave_type(is_archived=True), span, [], None, start
            ),
            lambda: request_rules.check_dates_in_reach(
                Span(start_date=date(2029, 1, 1), end_date=date(2029, 1, 2)), start
            ),
            lambda: request_rules.check_working_time(""),
            lambda: counted_days.requested_span(end, start),
            lambda: counted_days.requested_span(start, date(2028, 8, 7)),
            lambda: counted_days.requested_span(start, start, "pm", "am"),
            lambda: counted_days.check_working_days([]),
            lambda: counted_days.check_working_days(["sunday", "funday", "sunday"]),
            lambda: amounts.half_days_of(0.3, "days"),
            lambda: amounts.adjustment_half_days_of(0, "days"),
            lambda: texts.name("x" * 1_001, "name"),
            lambda: texts.name("\a", "name"),
            lambda: texts.free_text("x" * 1_001, "note", 1_000),
            lambda: texts.free_text("\a", "note", 1_000),
            lambda: texts.name("-", "name"),
            lambda: texts.email("", "email"),
            lambda: texts.new_email("\u0430da@example.com", "email"),
            lambda: fields.timezone("Mars", "timezone"),
            lambda: fields.clock_time("9", "midday_at"),
            lambda: fields.boolean(None, "is_paid"),
            lambda: fields.whole_number(1, 1_200)(0, "number"),
            lambda: fields.one_of("a", "b", code="unknown_word")("c", "word"),
            lambda: fields.require({}, "first_name", "last_name"),
            lambda: fields.checked({"odd": 1}, {}),
            lambda: leave_years.check_leave_year_start(13, 1),
            lambda: leave_years.check_leave_year_start(2, 31),
            lambda: holiday_calendar.check_country("XX", "country_code"),
            lambda: webhooks.check_events([]),
            lambda: webhooks.check_events(["gone"]),
            lambda: webhooks.check_url("x" * 3_000),
            lambda: parse_webhook_url("https://e.com/" + "x" * 3_000, allow_private=False),
            lambda: parse_webhook_url("https://127.1/", allow_private=True),
        ),
        InsufficientAllowance(7, 11, "2026/27"),
        InsufficientAllowance(-1, 3, "2026"),
        OverlappingLeave("id", start, end, begins_at_midday=True),
        *(InvalidTransition("approved", status) for status in LEAVE_STATUSES),
        *(example for example in documented_errors() if is_of_the_domain(example)),
    ]


def is_of_the_domain(example: DomainError) -> bool:
    """Whether storage has this message: some of the documentation's examples are invented."""
    if isinstance(example, InvalidInput):
        return False
    return type(example) in errors.REWORDED or example.detail.template in catalogues.of_errors()


@pytest.mark.parametrize("name", NAMES)
def test_every_error_is_translated_with_the_numbers_and_dates_of_the_language(name: str) -> None:
    wrong = []
    for refusal in with_figures():
        english = errors.sentence(refusal)
        with using_locale(name):
            sentence = errors.sentence(refusal)
        if sentence == english or NOT_GERMAN.search(sentence):
            wrong.append((type(refusal).__name__, sentence))

    assert wrong == []


def test_german_amounts_have_a_decimal_comma() -> None:
    strict = a_leave_type(max_consecutive_days=2)
    start = date(2026, 8, 3)
    (refusal,) = of_fields(
        lambda: request_rules.check_type_rules(
            strict, Span(start_date=start, end_date=start), WORK, None, start
        )
    )

    with using_locale("de-DE"):
        assert errors.sentence(refusal) == (
            "Jahresurlaub geht höchstens 2 Tage am Stück. Das hier sind 3,5 Tage."
        )
        assert errors.sentence(InsufficientAllowance(7, 11, "2026")) == (
            "Du hast 2026 noch 3,5 Tage übrig. Dieser Antrag braucht 5,5 Tage."
        )
    assert errors.sentence(refusal) == (
        "Annual leave can be at most 2 days in a row. This is 3.5 days."
    )


def test_bolts_own_environment_variables_change_nothing(
    database: Database, slack: LoopbackSlack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in {
        "SLACK_BOT_TOKEN": "xoxb-of-the-environment",
        "SLACK_SIGNING_SECRET": "secret-of-the-environment",
        "SLACK_CLIENT_ID": "client",
        "SLACK_CLIENT_SECRET": "client-secret",
        "SLACK_APP_TOKEN": "xapp-of-the-environment",
        "SLACK_VERIFICATION_TOKEN": "verification",
        "HOME": str(tmp_path),
    }.items():
        monkeypatch.setenv(name, value)

    with World(database, slack) as world:
        world.a_request()

    assert {call.token for call in slack.calls()} == {slack.token}
    assert not (tmp_path / ".bolt-app-installation").exists()


def test_a_refused_field_that_the_form_lacks_is_shown_with_the_first_day() -> None:
    refusal = InvalidInput(
        [
            FieldError(pointer="/note", code="a", detail="One."),
            FieldError(pointer="/note", code="b", detail="Two."),
            FieldError(pointer="/working_days/0", code="c", detail="Three."),
        ]
    )

    assert errors.inline(refusal) == {ids.NOTE: "One. Two.", ids.FIRST_DAY: "Three."}


def test_refusals_find_the_fields_of_a_single_day_whose_last_day_the_form_moved() -> None:
    refusal = InvalidInput(
        [
            FieldError(pointer="/end_date", code="a", detail="One."),
            FieldError(pointer="/end_half_day", code="b", detail="Two."),
        ]
    )
    inputs = [ids.FIRST_DAY, f"{ids.LAST_DAY}.2", ids.PART_OF_DAY]

    assert errors.inline(refusal, inputs) == {
        f"{ids.LAST_DAY}.2": "One.",
        ids.PART_OF_DAY: "Two.",
    }
    assert errors.inline(refusal, inputs, shown={"One."}) == {ids.PART_OF_DAY: "Two."}


@pytest.mark.parametrize(
    ("refusal", "sentence"),
    [
        (InvalidTransition("approved", "declined", "Dana"), "Already declined by Dana."),
        (InvalidTransition("approved", "approved"), "Already approved."),
        (
            InvalidTransition("approved", "pending"),
            "This request has just changed. Please check it and try again.",
        ),
    ],
)
def test_a_stale_transition_shows_the_current_status(refusal: DomainError, sentence: str) -> None:
    assert errors.sentence(refusal) == sentence
