"""Which leave needs a second approval, and who gives it: rules without a database."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.base.leave_values import Approval, SecondApproval
from storage.base.values import Role, User
from storage.rules import second_approvals
from storage.rules.second_approvals import Candidate
from tests.builders import NOW
from tests.storage.test_employment_rules import ADA
from tests.values import ANNUAL

IDS = ("ada", "ben", "cleo", "dora")
OVER_TEN_DAYS = replace(
    ANNUAL, second_approval=SecondApproval(always=False, over_half_days=20, by="admins")
)
ALWAYS = replace(
    ANNUAL, second_approval=SecondApproval(always=True, over_half_days=None, by="admins")
)


@pytest.mark.parametrize(("half_days", "is_needed"), [(20, False), (21, True)])
def test_leave_over_the_limit_needs_it(half_days: int, is_needed: bool) -> None:
    assert second_approvals.is_needed(OVER_TEN_DAYS, half_days) == is_needed


def test_all_leave_or_none_needs_it() -> None:
    assert second_approvals.is_needed(ALWAYS, 0)
    assert not second_approvals.is_needed(ANNUAL, 99)


def test_leave_without_approval_needs_no_second_one() -> None:
    assert not second_approvals.is_needed(replace(ALWAYS, requires_approval=False), 10)


approvals = st.lists(st.sampled_from(IDS), max_size=3).map(
    lambda user_ids: tuple(Approval(user_id=user_id, approved_at=NOW) for user_id in user_ids)
)


@given(approvals, st.sampled_from(IDS))
def test_an_approval_is_the_last_if_another_person_gave_one(
    given_approvals: tuple[Approval, ...], by_id: str
) -> None:
    others = {approval.user_id for approval in given_approvals} - {by_id}

    needs_another = second_approvals.needs_another(ALWAYS, 2, given_approvals, by_id)

    assert needs_another == (not others)


@given(approvals, st.sampled_from(IDS))
def test_each_person_approves_once(given_approvals: tuple[Approval, ...], by_id: str) -> None:
    later = NOW + timedelta(minutes=1)

    after = second_approvals.with_approval(given_approvals, by_id, later)

    assert [each for each in after if each.user_id == by_id] == [
        Approval(user_id=by_id, approved_at=later)
    ]
    assert second_approvals.without_approval(after, by_id) == tuple(
        approval for approval in given_approvals if approval.user_id != by_id
    )


def a_candidate(user_id: str, role: Role, is_away: bool) -> Candidate:
    user: User = replace(ADA, id=user_id, role=role)
    return Candidate(user=user, is_away=is_away)


candidates = st.tuples(
    *(
        st.builds(
            a_candidate, st.just(user_id), st.sampled_from(["member", "admin"]), st.booleans()
        )
        for user_id in IDS
    )
)


@given(
    candidates,
    st.sampled_from(IDS),
    st.sampled_from(IDS),
    st.sampled_from([None, "unknown", *IDS]),
)
def test_the_named_person_approves_and_admins_stand_in(
    found: tuple[Candidate, ...], requester_id: str, first_id: str, named_id: str | None
) -> None:
    approvers = second_approvals.approvers(
        found, requester_id=requester_id, first_approver_id=first_id, named_id=named_id
    )

    ids = {user.id for user in approvers}
    others = set(IDS) - {requester_id, first_id}
    roles = {candidate.user.id: candidate.user.role for candidate in found}
    away = {candidate.user.id for candidate in found if candidate.is_away}
    admins = {user_id for user_id in others if roles[user_id] == "admin"}
    if named_id not in others:
        assert ids == admins
    elif named_id in away:
        assert ids == admins | {named_id}
    else:
        assert ids == {named_id}
