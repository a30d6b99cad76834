"""The demo organisation: people, pending approvals, and leave around today."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from storage.access import api_keys, authentication
from storage.admin import departments, organisations, people
from storage.admin.organisations import NewOrganisation
from storage.base.errors import InvalidInput, NotFound, Unauthenticated
from storage.base.values import SCOPES, Caller, LeaveRequest, User
from storage.cli import demo_data
from storage.cli.demo_data import DemoLeave
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.directory import people_changes
from storage.leave import decisions, leave_requests, leave_types
from storage.leave.drafts import Draft

SLUG: Final = "acme-demo"
OWNER_EMAIL: Final = "olivia@acme.example"
MEMBER_EMAIL: Final = "amir@acme.example"


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoOrganisation:
    """``api_key`` is the owner's and has every scope; ``member_api_key`` is a member's."""

    organisation_id: str
    organisation_name: str
    owner_email: str
    api_key: str
    member_email: str
    member_api_key: str


def ensure(tx: Transaction, *, now: datetime) -> DemoOrganisation | None:
    """The demo organisation, created if the database has no organisation.

    None if it has only others: their data is not touched.
    """
    if organisations.count(tx) == 0:
        return fill(tx, now=now)
    return _find(tx, now)


def fill(tx: Transaction, *, now: datetime) -> DemoOrganisation:
    """Create the organisation, its people, keys and leave, with the regular use cases."""
    new = NewOrganisation(
        name="Acme",
        country_code="GB-ENG",
        timezone="Europe/London",
        owner_email=OWNER_EMAIL,
        owner_first_name="Olivia",
        owner_last_name="Bennett",
        slug=SLUG,
    )
    organisation, owner = organisations.create(tx, new, source="cli", now=now)
    by = _caller(organisation.id, owner)
    owner = people_changes.activate(tx, owner, by=by, now=now)
    staff = _hire(tx, owner, by=by, now=now)
    for person in (owner, staff["Amir"]):
        _make_key(tx, person, _caller(organisation.id, person), now)
    for planned in demo_data.LEAVE:
        # Rejected if every day is a public holiday; the demo works without it.
        with suppress(InvalidInput):
            _request(tx, planned, staff, by=by, now=now)
    demo = _find(tx, now)
    if demo is None:
        raise NotFound("organisation")
    return demo


def _find(tx: Transaction, now: datetime) -> DemoOrganisation | None:
    """The demo organisation, with its keys, which derive from the deployment's secret."""
    try:
        organisation = organisations.by_slug(tx, SLUG)
        owner = authentication.authenticate(tx, _key_for(tx, OWNER_EMAIL), now=now).caller
    except (NotFound, Unauthenticated):
        return None
    if owner.organisation_id != organisation.id:
        return None
    return DemoOrganisation(
        organisation_id=organisation.id,
        organisation_name=organisation.name,
        owner_email=OWNER_EMAIL,
        api_key=_key_for(tx, OWNER_EMAIL),
        member_email=MEMBER_EMAIL,
        member_api_key=_key_for(tx, MEMBER_EMAIL),
    )


def _hire(tx: Transaction, owner: User, *, by: Caller, now: datetime) -> dict[str, User]:
    """All people by first name. Each department's manager is its approver."""
    staff = {owner.first_name: owner}
    department_ids = {
        name: departments.create(tx, {"name": name}, by=by, now=now).id
        for name in ("Engineering", "Design")
    }
    for first_name, last_name, job_title, role, department, manager in demo_data.PEOPLE:
        fields: dict[str, object] = {
            "email": f"{first_name.lower()}@acme.example",
            "first_name": first_name,
            "last_name": last_name,
            "job_title": job_title,
            "role": role,
            "department_id": department and department_ids[department],
            "manager_id": manager and staff[manager].id,
        }
        user = people.create(tx, fields, by=by, now=now)
        staff[first_name] = people_changes.activate(tx, user, by=by, now=now)
        if role == "approver" and department is not None:
            changes = {"manager_id": user.id}
            departments.update(tx, department_ids[department], changes, by=by, now=now)
    return staff


def _make_key(tx: Transaction, person: User, by: Caller, now: datetime) -> None:
    api_keys.create_key(
        tx,
        for_user=person.id,
        name="Demo",
        scopes=None,
        variant=1,
        expires_at=None,
        by=by,
        now=now,
        secret=_key_for(tx, person.email),
    )


def _key_for(tx: Transaction, email: str) -> str:
    halves = [tx.secrets.sign(f"demo key {half} {email}".encode()) for half in (1, 2)]
    return authentication.key_of_bytes(b"".join(halves))


def _request(
    tx: Transaction, planned: DemoLeave, staff: dict[str, User], *, by: Caller, now: datetime
) -> LeaveRequest:
    requester = _caller(by.organisation_id, staff[planned.first_name])
    types = leave_types.page(tx, PageOf(limit=100), by=by).items
    leave_type = next(leave_type for leave_type in types if leave_type.code == planned.code)
    first_day = _weekday(now.date(), planned.starts_in)
    draft = Draft(
        leave_type_id=leave_type.id,
        start_date=first_day,
        end_date=_weekday(first_day, planned.weekdays - 1),
        start_half_day=planned.half_day,
        end_half_day=None,
        note=planned.note,
        cover_user_id=planned.cover and staff[planned.cover].id,
    )
    request = leave_requests.submit(tx, by=requester, draft=draft, now=now)
    if planned.step == "approve":
        return decisions.approve(tx, request.id, by=by, now=now)
    if planned.step == "decline":
        reason = "We launch that week; can you go a month later?"
        return decisions.decline(tx, request.id, reason=reason, by=by, now=now)
    if planned.step == "cancel":
        return leave_requests.cancel(tx, request.id, by=requester, now=now)
    return request


def _weekday(day: date, number: int) -> date:
    """The day that many weekdays later, or earlier. A weekend counts as the next Monday."""
    while day.weekday() > 4:
        day += timedelta(days=1)
    step = timedelta(days=1 if number > 0 else -1)
    for _ in range(abs(number)):
        day += step
        while day.weekday() > 4:
            day += step
    return day


def _caller(organisation_id: str, user: User) -> Caller:
    return Caller(
        organisation_id=organisation_id,
        user_id=user.id,
        role=user.role,
        scopes=frozenset(SCOPES),
        source="cli",
    )
