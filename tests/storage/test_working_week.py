"""Working days: what settings accept, and the mask of each weekday."""

from __future__ import annotations

import pytest

from storage.base.errors import InvalidInput
from storage.rules import counted_days


@pytest.mark.parametrize(
    ("given_days", "normal"),
    [
        pytest.param(["friday", "monday"], ("monday", "friday"), id="week order"),
        pytest.param(["friday:pm"], ("friday:pm",), id="one half"),
        pytest.param(["friday:pm", "friday:am"], ("friday",), id="two halves are the day"),
        pytest.param(list(reversed(counted_days.WEEKDAYS)), counted_days.WEEKDAYS, id="all seven"),
    ],
)
def test_working_days_are_normalised(given_days: list[str], normal: tuple[str, ...]) -> None:
    assert counted_days.check_working_days(given_days) == normal
    assert counted_days.working_week(given_days) == counted_days.working_week(normal)


@pytest.mark.parametrize(
    ("given_days", "errors"),
    [
        pytest.param([], [("/working_days", "no_working_days")], id="empty"),
        pytest.param(
            ["monday", "funday"], [("/working_days/1", "unknown_working_day")], id="unknown"
        ),
        pytest.param(["Monday"], [("/working_days/0", "unknown_working_day")], id="capital"),
        pytest.param(["monday:noon"], [("/working_days/0", "unknown_working_day")], id="suffix"),
        pytest.param(
            ["monday", "tuesday", "monday"],
            [("/working_days/2", "duplicate_working_day")],
            id="twice",
        ),
        pytest.param(
            ["friday", "friday:am"],
            [("/working_days/1", "duplicate_working_day")],
            id="day and its half",
        ),
        pytest.param(
            ["friday:am", "friday"],
            [("/working_days/1", "duplicate_working_day")],
            id="half and its day",
        ),
        pytest.param(
            ["x", "monday", "monday"],
            [
                ("/working_days/0", "unknown_working_day"),
                ("/working_days/2", "duplicate_working_day"),
            ],
            id="every error at once",
        ),
    ],
)
def test_wrong_working_days_are_refused_at_their_index(
    given_days: list[str], errors: list[tuple[str, str]]
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        counted_days.check_working_days(given_days)

    assert [(error.pointer, error.code) for error in refusal.value.errors] == errors


def test_wrong_working_days_are_refused_at_the_given_field() -> None:
    with pytest.raises(InvalidInput) as refusal:
        counted_days.check_working_days(["never"], field="settings/days")

    assert refusal.value.errors[0].pointer == "/settings/days/0"


def test_a_working_week_has_a_mask_for_each_weekday() -> None:
    assert counted_days.working_week(("monday", "friday:am", "sunday:pm")) == (3, 0, 0, 0, 1, 0, 2)
