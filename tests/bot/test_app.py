"""The app ignores Bolt's environment variables and has a sentence for every refusal."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.base import ids
from bot.interaction import errors
from storage.base.errors import DomainError, FieldError, InvalidInput, InvalidTransition
from storage.db.database import Database
from tests.bot.world import World
from tests.fakes.slack import LoopbackSlack


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
