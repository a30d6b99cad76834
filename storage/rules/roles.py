"""The permissions of each role over people, and who may override rules of leave."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from storage.base import texts
from storage.base.errors import InsufficientRole, InvalidInput, NotYourField, OverrideNotAllowed
from storage.base.leave_values import LeaveType
from storage.base.values import ROLES, Caller, Role

# The fields that people may change themselves; only admins change the others.
EDITABLE_BY_SELF: Final = frozenset({"first_name", "last_name", "job_title"})

MAX_REASON_LENGTH: Final = 1_000

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
    """Whether the caller may record this type for people whose leave they decide on."""
    return by.is_admin or leave_type.approvers_may_record


def check_own_fields(fields: Iterable[str]) -> None:
    """Raises NotYourField for fields that people without admin rights cannot change."""
    forbidden = sorted(set(fields) - EDITABLE_BY_SELF)
    if forbidden:
        raise NotYourField(forbidden)


def checked_override(reason: str | None, *, user_id: str | None, by: Caller) -> str | None:
    """The reason, stripped; None if there is none. ``user_id`` is whose leave it is.

    Raises OverrideNotAllowed, or InvalidInput ``override_of_own_leave``,
    ``override_without_reason``, ``invalid_length`` or ``control_character``.
    """
    if reason is None:
        return None
    if not by.is_admin:
        raise OverrideNotAllowed
    if user_id is None or user_id == by.user_id:
        raise InvalidInput.of(
            "override_reason",
            "override_of_own_leave",
            "Rules can only be overridden for another person's leave. To record leave for them, "
            "send their user_id as well.",
        )
    checked = texts.optional_text(reason, "override_reason", MAX_REASON_LENGTH)
    if checked is None:
        raise InvalidInput.of(
            "override_reason",
            "override_without_reason",
            "Say why the rules are overridden, or omit override_reason.",
        )
    return checked
