"""Whatever an operation can refuse, its documentation says: held against the code that refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest

from api.documentation import openapi
from api.http.operations import Operation
from api.service import app
from tests.reachable import Said, said_by

HOW = "Name it in the operation's `refusals` or `rules`; or say in UNMET why nobody can meet it."


@dataclass(frozen=True, kw_only=True, slots=True)
class Unmet:
    """A refusal that stands in code which the operations reach, and that none of them can meet.

    ``place`` may be a whole module. No ``operations`` means all of them.
    """

    code: str
    place: str
    operations: tuple[str, ...] = ()


UNMET: Final[dict[str, tuple[Unmet, ...]]] = {
    "A key belongs to an active person of an organisation that there is.": (
        Unmet(code="forbidden", place="storage.access.feeds._lock_owner"),
        Unmet(code="forbidden", place="storage.access.api_keys.create_key"),
        Unmet(
            code="changed_meanwhile",
            place="storage.directory.people_rows.save",
            operations=("api_keys.create",),
        ),
        Unmet(code="insufficient_role", place="storage.leave.leave_requests.submit"),
        Unmet(code="insufficient_role", place="storage.leave.leave_reading._page_as"),
        Unmet(code="not_found", place="storage.leave.leave_requests._subject"),
        Unmet(code="not_found", place="storage.admin.organisations._settings"),
        Unmet(
            code="not_found",
            place="storage.directory.people_rows.get",
            operations=("api_keys.create",),
        ),
        Unmet(
            code="not_found",
            place="storage.directory.people_rows.get",
            operations=(
                "calendar_feeds.create",
                "calendar_feeds.regenerate",
                "calendar_feeds.token",
            ),
        ),
        Unmet(code="not_found", place="storage.events.organisation_config._load"),
        Unmet(code="not_found", place="storage.events.organisation_config.of_organisation"),
        Unmet(code="user_not_active", place="storage.access.api_keys._make_active"),
    ),
    "Countries are checked when they are chosen; these are read back.": (
        Unmet(code="unknown_country", place="storage.rules.holiday_calendar.check_country"),
    ),
    "The body has the same bounds, types or words, and is read first.": (
        Unmet(code="invalid_length", place="storage.base.fields.free_text"),
        Unmet(code="not_a_boolean", place="storage.base.fields.boolean"),
        Unmet(code="required", place="storage.leave.leave_requests.edit"),
        Unmet(code="unknown_half", place="storage.admin.holiday_overrides._checked"),
        Unmet(code="unknown_leave_year_type", place="storage.admin.organisations._CHECKS"),
        Unmet(code="unknown_role", place="storage.admin.people._UPDATE_CHECKS"),
        Unmet(
            code="unknown_timezone",
            place="storage.base.fields.timezone",
            operations=("users.create", "users.update"),
        ),
    ),
    "It is read back right after it was made.": (
        Unmet(
            code="not_found", place="storage.access.api_keys._get", operations=("api_keys.create",)
        ),
        Unmet(
            code="not_found", place="storage.events.webhooks._get", operations=("webhooks.create",)
        ),
        Unmet(
            code="invalid_transition",
            place="storage.leave.leave_requests._step",
            operations=("leave.create",),
        ),
        Unmet(
            code="invalid_transition",
            place="storage.leave.leave_requests._step",
            operations=("leave_requests.create",),
        ),
    ),
    "A request keeps its type.": (
        Unmet(
            code="unknown_leave_type",
            place="storage.leave.drafts._basis",
            operations=("leave_requests.edit",),
        ),
    ),
    "This shape has no halves to choose.": (
        Unmet(
            code="impossible_half_days",
            place="storage.rules.days.asked_span",
            operations=("leave.create",),
        ),
    ),
    "There is no filter here that could name anything.": (
        Unmet(
            code="not_found", place="storage.leave.leave_reading", operations=("approvals.pending",)
        ),
    ),
    "Only the names of the fields are read here, for the audit trail.": (
        Unmet(
            code="code_taken",
            place="storage.leave.leave_types._save",
            operations=("leave_types.delete",),
        ),
        *(
            Unmet(code=code, place=place, operations=("departments.delete", "leave_types.delete"))
            for code, place in (
                ("control_character", "storage.base.fields._refuse_invisible"),
                ("invalid_length", "storage.base.fields.name"),
                ("invalid_code", "storage.leave.leave_types._code"),
                ("invalid_colour", "storage.leave.leave_types._colour"),
                ("invalid_emoji", "storage.leave.leave_types._emoji"),
                ("unknown_emoji", "storage.leave.leave_types._emoji"),
                ("not_half_days", "storage.base.amounts.half_days_of"),
                ("out_of_range", "storage.base.fields.whole_number"),
            )
        ),
    ),
    "A preview answers with what would refuse the leave, and is not refused itself.": tuple(
        Unmet(code=code, place=place, operations=("leave_requests.preview",))
        for code, place in (
            ("control_character", "storage.base.fields._refuse_invisible"),
            ("end_before_start", "storage.rules.days"),
            ("impossible_half_days", "storage.rules.days"),
            ("insufficient_allowance", "storage.rules.request_rules"),
            ("invalid_transition", "storage.rules.request_rules"),
            ("leave_type_archived", "storage.rules.request_rules"),
            ("no_working_time", "storage.rules.request_rules"),
            ("note_required", "storage.rules.request_rules"),
            ("out_of_reach", "storage.rules.request_rules"),
            ("overlapping_leave", "storage.leave.drafts"),
            ("too_little_notice", "storage.rules.request_rules"),
            ("too_many_days", "storage.rules.request_rules"),
            ("unknown_leave_type", "storage.leave.drafts"),
        )
    ),
}


def undocumented() -> Iterator[tuple[Operation, Said]]:
    """Each refusal that an operation's code holds and its documentation does not."""
    document: Any = json.loads(openapi.document(app.OPERATIONS, app.OTHER_PATHS, "https://a.test"))
    for operation in app.OPERATIONS:
        described = document["paths"][f"/api/v1{operation.path}"][operation.method.lower()]
        answers = described["responses"]
        for said in said_by(operation):
            shown = answers.get(str(said.status), {}).get("description", "")
            if said.code not in re.findall(r"`(\w+)`", shown):
                yield operation, said


def is_meant(unmet: Unmet, operation: Operation, said: Said) -> bool:
    return (
        unmet.code == said.code
        and f"{said.place}.".startswith(f"{unmet.place}.")
        and (not unmet.operations or operation.operation_id in unmet.operations)
    )


def test_every_refusal_of_an_operation_is_documented() -> None:
    known = [unmet for reason in UNMET.values() for unmet in reason]

    found = [
        f"{operation.operation_id}: {said.status} {said.code} of {said.place}"
        for operation, said in undocumented()
        if not any(is_meant(unmet, operation, said) for unmet in known)
    ]

    assert sorted(found) == [], HOW


def test_nothing_is_excused_in_vain() -> None:
    left = [unmet for reason in UNMET.values() for unmet in reason]
    for operation, said in undocumented():
        left = [unmet for unmet in left if not is_meant(unmet, operation, said)]

    assert left == []


@pytest.mark.parametrize(
    ("operation_id", "status", "code"),
    [
        ("users.update", 422, "manager_cycle"),
        ("users.update", 409, "last_owner"),
        ("webhooks.create", 422, "url_private_address"),
        ("leave_requests.create", 409, "overlapping_leave"),
        ("balances.get", 422, "out_of_range"),
        ("departments.page", 400, "invalid_cursor"),
    ],
)
def test_what_is_known_to_be_refused_is_found(operation_id: str, status: int, code: str) -> None:
    operations = {one.operation_id: one for one in app.OPERATIONS}

    found = {(said.status, said.code) for said in said_by(operations[operation_id])}

    assert (status, code) in found
