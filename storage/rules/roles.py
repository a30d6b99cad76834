"""The permissions of each role over people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from storage.base.errors import InsufficientRole, NotYourField
from storage.base.leave_values import LeaveType
from storage.base.values import ROLES, Caller, Role

# The fields that people may change themselves; only admins change the others.
EDITABLE_BY_SELF: Final = frozenset({"first_name", "last_name", "job_title"})


_RANK: Final[Mapping[str, int]] = {role: rank for rank, role in enumerate(ROLES)}


def has_role(role: Role, at_least: Role) -> bool:
    """Whether ``role`` is ``at_least`` or higher: member, approver, admin, owner."""
    return _RANK[role] >= _RANK[at_least]


def check_role(role: Role, at_least: Role) -> None:
    """Raises InsufficientRole if ``role`` is lower than ``at_least``."""
    if not has_role(role, at_least):
        raise InsufficientRole(at_least)


def role_needed_to_manage(target_role: Role | None, new_role: Role | None = None) -> Role:
    """The lowest role that may create, change or archive a person.

    ``target_role`` is None for a new person, ``new_role`` if the role stays. Only owners manage
    owners.
    """
    return "owner" if "owner" in (target_role, new_role) else "admin"


def may_manage(actor_role: Role, target_role: Role | None, new_role: Role | None = None) -> bool:
    return has_role(actor_role, role_needed_to_manage(target_role, new_role))


def may_record_type(leave_type: LeaveType, *, by: Caller) -> bool:
    """Whether the caller may record this type for people whose leave they decide on.

    Of types whose leave may need a second approval, `second_approvals.is_needed` decides too.
    """
    needs_second = leave_type.second_approval is not None and leave_type.second_approval.always
    return by.is_admin or (
        leave_type.approvers_may_record and not (needs_second and leave_type.requires_approval)
    )


def check_own_fields(fields: Iterable[str]) -> None:
    """Raises NotYourField for fields that people without admin rights cannot change."""
    forbidden = sorted(set(fields) - EDITABLE_BY_SELF)
    if forbidden:
        raise NotYourField(forbidden)
