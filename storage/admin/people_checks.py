"""Checks before a person is created, changed, archived or deactivated."""

from __future__ import annotations

from storage.base.errors import Conflict, InsufficientRole, InvalidInput, LastOwner
from storage.base.values import Caller, Role, User
from storage.db import locks
from storage.db.database import Transaction
from storage.directory import department_rows, managers, people_rows
from storage.rules import roles


class UserArchived(Conflict):
    """An archived person stays as they were, readable, until they are restored."""

    code = "user_archived"
    title = "The user is archived."

    def __init__(self) -> None:
        super().__init__(
            "This user is archived and cannot be changed. Restore them first, or create a new user."
        )


def check_may_manage(by: Caller, user: User | None, new_role: Role | None = None) -> None:
    """Raises InsufficientRole unless ``by`` may make, change or archive that person."""
    target_role = None if user is None else user.role
    if not roles.may_manage(by.role, target_role, new_role):
        raise InsufficientRole(roles.role_needed_to_manage(target_role, new_role))


def lock_to_manage(tx: Transaction, user_id: str, *, by: Caller) -> User:
    """The person, after locking them and the organisation. Raises NotFound or InsufficientRole."""
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    user = people_rows.get(tx, user_id, by=by, for_update=True)
    check_may_manage(by, user)
    return user


def check_owner_remains(tx: Transaction, user: User, *, by: Caller) -> None:
    """Raises LastOwner when no other active owner would remain; needs the organisation's lock."""
    if user.role != "owner" or user.status in ("deactivated", "archived"):
        return
    if not people_rows.has_other_active_owner(tx, by.organisation_id, user.id):
        raise LastOwner


def check_department(tx: Transaction, department_id: str | None, *, by: Caller) -> None:
    """Raises InvalidInput ``not_found``; a department that passes is not deleted meanwhile."""
    if department_id is not None and not department_rows.exists(
        tx, by.organisation_id, department_id, for_update=True
    ):
        raise InvalidInput.of("department_id", "not_found", "There is no such department.")


def check_manager(
    tx: Transaction, manager_id: str | None, *, by: Caller, of_user_id: str | None = None
) -> None:
    """Refuse a manager who is unknown, archived or managed by the person.

    Raises InvalidInput ``not_found``, ``manager_archived`` or ``manager_cycle``. The last needs
    the organisation's lock.
    """
    managers.check_can_manage(tx, by.organisation_id, manager_id)
    if manager_id is None or of_user_id is None:
        return
    if manager_id == of_user_id:
        raise InvalidInput.of(
            "manager_id", "manager_cycle", "People cannot be their own manager. Choose another one."
        )
    if managers.is_above(tx, by.organisation_id, of_user_id, manager_id):
        raise InvalidInput.of(
            "manager_id",
            "manager_cycle",
            "This manager already reports to this person, directly or indirectly.",
        )
