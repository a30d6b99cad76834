from __future__ import annotations

import pytest

from storage.base.errors import InsufficientRole, NotYourField
from storage.base.values import ROLES, Role
from storage.rules import roles


@pytest.mark.parametrize(("rank", "role"), list(enumerate(ROLES)))
@pytest.mark.parametrize(("needed_rank", "needed"), list(enumerate(ROLES)))
def test_a_role_includes_those_below_it(
    rank: int, role: Role, needed_rank: int, needed: Role
) -> None:
    assert roles.has_role(role, needed) == (rank >= needed_rank)


def test_too_low_a_role_is_refused_with_the_needed_role() -> None:
    with pytest.raises(InsufficientRole) as refusal:
        roles.check_role("approver", "admin")

    assert refusal.value.needed_role == "admin"


@pytest.mark.parametrize(
    ("actor", "target", "new_role", "allowed"),
    [
        pytest.param("owner", "owner", "member", True, id="owner demotes an owner"),
        pytest.param("owner", "member", "owner", True, id="owner makes an owner"),
        pytest.param("owner", None, "owner", True, id="owner creates an owner"),
        pytest.param("admin", "member", "admin", True, id="admin makes an admin"),
        pytest.param("admin", "admin", None, True, id="admin changes an admin"),
        pytest.param("admin", None, "member", True, id="admin creates a member"),
        pytest.param("admin", "owner", None, False, id="admin changes an owner"),
        pytest.param("admin", "owner", "member", False, id="admin demotes an owner"),
        pytest.param("admin", "member", "owner", False, id="admin makes an owner"),
        pytest.param("admin", None, "owner", False, id="admin creates an owner"),
        pytest.param("approver", "member", None, False, id="approver changes a member"),
        pytest.param("member", None, "member", False, id="member creates a member"),
    ],
)
def test_only_owners_manage_owners(
    actor: Role, target: Role | None, new_role: Role | None, allowed: bool
) -> None:
    assert roles.may_manage(actor, target, new_role) is allowed


def test_people_may_change_their_own_names_and_job_title() -> None:
    roles.check_own_fields(["first_name", "last_name", "job_title"])


def test_fields_that_need_admin_rights_are_named() -> None:
    with pytest.raises(NotYourField) as refusal:
        roles.check_own_fields(["role", "first_name", "email"])

    assert refusal.value.fields == ("email", "role")
