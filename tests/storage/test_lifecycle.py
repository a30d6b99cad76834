from __future__ import annotations

from itertools import product

import pytest

from storage.base.errors import InvalidTransition
from storage.base.values import LEAVE_STATUSES, LeaveStatus
from storage.rules import lifecycle
from storage.rules.lifecycle import Action

POSSIBLE: dict[tuple[Action, LeaveStatus], LeaveStatus] = {
    ("edit", "pending"): "pending",
    ("approve", "pending"): "approved",
    ("decline", "pending"): "declined",
    ("cancel", "pending"): "cancelled",
    ("cancel", "approved"): "cancelled",
    ("change", "approved"): "approved",
    ("amend", "approved"): "approved",
    ("interrupt", "approved"): "approved",
    ("reverse_to_approved", "declined"): "approved",
    ("reverse_to_declined", "approved"): "declined",
}


@pytest.mark.parametrize(("action", "status"), list(POSSIBLE))
def test_a_step_of_the_lifecycle_is_possible(action: Action, status: LeaveStatus) -> None:
    lifecycle.check_transition(action, status)

    assert lifecycle.is_possible(action, status)
    assert lifecycle.LIFECYCLE[action].to_status == POSSIBLE[action, status]


@pytest.mark.parametrize(
    ("action", "status"),
    sorted(set(product(lifecycle.LIFECYCLE, LEAVE_STATUSES)) - set(POSSIBLE)),
)
def test_every_other_step_is_refused_with_the_status(action: Action, status: LeaveStatus) -> None:
    with pytest.raises(InvalidTransition) as refusal:
        lifecycle.check_transition(action, status, "Ada Lovelace")

    assert not lifecycle.is_possible(action, status)
    assert (refusal.value.leave_status, refusal.value.decided_by_name) == (status, "Ada Lovelace")


def test_a_refused_step_has_an_english_sentence() -> None:
    with pytest.raises(InvalidTransition, match="is declined, so it cannot be approved"):
        lifecycle.check_transition("approve", "declined")
