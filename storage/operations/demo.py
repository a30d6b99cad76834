"""The demo organisation: its people and leave, and how it enters the playground's workspace."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, Literal

from peewee import Update

from storage.admin import absence_limits, allowances, closures, departments, organisations, people
from storage.admin.organisations import NewOrganisation
from storage.base.errors import InvalidInput, NotFound, Unauthenticated
from storage.base.leave_values import HalfDay, LeaveRequest
from storage.base.values import SCOPES, Caller, User, local_day
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.db.tables import OrganisationRow, SlackMessageRow, TimeCreditCardRow, UserRow
from storage.keys import api_keys, authentication
from storage.leave import (
    decisions,
    lapsing_days,
    leave_lists,
    leave_requests,
    leave_types,
    time_credit_lists,
    time_credits,
)
from storage.leave.drafts import Draft
from storage.notifications import expiry_notices
from storage.outbox import notification_outbox, organisation_config
from storage.people import approvers, people_changes, people_lists, people_rows, slack_syncs
from storage.rules.expiring_days import Due
from storage.workspaces import setup_checklist, slack_profiles, slack_workspaces
from storage.workspaces.setup_checklist import Checkable

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
    _add_allowances(tx, by=by, now=now)
    leave_types.create(tx, HOME_OFFICE, by=by, now=now)
    _need_second_approval(tx, staff["Henrik"], by=by, now=now)
    for person in (owner, staff["Amir"]):
        _make_key(tx, person, _caller(organisation.id, person), now)
    _add_extra_work(tx, staff["Amir"], staff["Noor"], by=by, now=now)
    for planned in LEAVE:
        # Rejected if every day is a public holiday; the demo works without it.
        with suppress(InvalidInput):
            _request(tx, planned, staff, by=by, now=now)
    _close(tx, by=by, now=now)
    _limit_absences(tx, by=by, now=now)
    # So that the checklist is short: what is left shows the most.
    checked: tuple[Checkable, ...] = ("allowance", "leave_year", "carry_over")
    for step in checked:
        setup_checklist.check_off(tx, step, by=by, now=now)
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
    for number, person in enumerate(PEOPLE, 1001):
        first_name, last_name, job_title, role, department, manager = person
        fields: dict[str, object] = {
            "email": f"{first_name.lower()}@acme.example",
            "first_name": first_name,
            "last_name": last_name,
            "job_title": job_title,
            "employee_number": str(number),
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


def _add_allowances(tx: Transaction, *, by: Caller, now: datetime) -> None:
    """Allowances beside annual leave, each with the leave type that draws on it."""
    types = {each.code: each for each in leave_types.page(tx, PageOf(limit=100), by=by).items}
    for terms, of_type in ALLOWANCES:
        allowance = allowances.create(tx, terms, by=by, now=now).allowance
        fields = {"allowance_id": allowance.id, **of_type}
        code = str(of_type["code"])
        if code in types:
            leave_types.update(tx, types[code].id, fields, by=by, now=now)
        else:
            leave_types.create(tx, {"name": allowance.name, **fields}, by=by, now=now)


def _need_second_approval(tx: Transaction, by_person: User, *, by: Caller, now: datetime) -> None:
    """More than two weeks of unpaid leave need this person's approval, too."""
    types = {each.code: each for each in leave_types.page(tx, PageOf(limit=100), by=by).items}
    second = {"second_approval": {"over_days": 10, "by": by_person.id}}
    leave_types.update(tx, types["unpaid"].id, second, by=by, now=now)


def _add_extra_work(
    tx: Transaction, paid_back: User, claimer: User, *, by: Caller, now: datetime
) -> None:
    """Time in lieu for the Saturday of the week before last: recorded, and claimed."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    [earned] = time_credit_lists.earnable(config)
    today = local_day(now, config.organisation.timezone)
    saturday = today - timedelta(days=today.weekday() + 9)
    time_credits.create(
        tx,
        user_id=paid_back.id,
        allowance_id=earned.id,
        worked_on=saturday,
        days=1,
        reason="Release on Saturday",
        by=by,
        now=now,
    )
    time_credits.create(
        tx,
        allowance_id=earned.id,
        worked_on=saturday + timedelta(days=1),
        days=0.5,
        reason="Set up our stand at the fair",
        by=_caller(by.organisation_id, claimer),
        now=now,
    )


def _close(tx: Transaction, *, by: Caller, now: datetime) -> None:
    """A closure between Christmas and New Year, around the leave that people have then."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    [annual] = [each for each in config.leave_types.values() if each.code == "annual"]
    year = local_day(now, config.organisation.timezone).year
    closure = {
        "name": "Christmas closure",
        "leave_type_id": annual.id,
        "start_date": date(year, 12, 27),
        "end_date": date(year, 12, 31),
    }
    closures.create(tx, closure, by=by, now=now)


def _limit_absences(tx: Transaction, *, by: Caller, now: datetime) -> None:
    """A warning where more than two of Engineering would be away."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    [engineering] = [each for each in config.departments.values() if each.name == "Engineering"]
    limit = {
        "name": "Engineering",
        "department_id": engineering.id,
        "max_away": 2,
        "enforcement": "warn",
    }
    absence_limits.create(tx, limit, by=by, now=now)


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
    if planned.step == "approve_first":
        today = local_day(now, "UTC")
        approver = approvers.of_person(tx, by.organisation_id, request.user_id, today=today)[0]
        by_approver = _caller(by.organisation_id, approver)
        return decisions.approve(tx, request.id, by=by_approver, now=now)
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


# First name, last name, job title, role, department, first name of the manager. Managers first.
PEOPLE: Final = (
    ("Grace", "Okafor", "Head of Engineering", "approver", "Engineering", "Olivia"),
    ("Marta", "Silva", "Head of Design", "approver", "Design", "Olivia"),
    ("Henrik", "Lund", "People Operations", "admin", None, "Olivia"),
    ("Amir", "Rahimi", "Backend Engineer", "member", "Engineering", "Grace"),
    ("Chloe", "Dubois", "Frontend Engineer", "member", "Engineering", "Grace"),
    ("Kenji", "Mori", "Site Reliability Engineer", "member", "Engineering", "Grace"),
    ("Noor", "Haddad", "Product Designer", "member", "Design", "Marta"),
    ("Tom", "Becker", "Researcher", "member", "Design", None),
)


# An allowance with its terms, and what differs in the leave type that draws on it.
ALLOWANCES: Final[tuple[tuple[dict[str, object], dict[str, object]], ...]] = (
    (
        {"name": "Volunteering", "half_days_per_year": 2 * 2},
        {"code": "volunteering", "colour": "#c77d2f", "emoji": "seedling"},
    ),
    (
        {"name": "Sick days", "half_days_per_year": 2 * 12, "granting": "monthly"},
        # Sickness is never refused, also when no days are left.
        {"code": "sick", "deducts_allowance": True, "allow_overdraft": True},
    ),
    (
        {"name": "Time in lieu", "earnable": True, "credits_expire_after_months": 3},
        {"code": "time-in-lieu", "colour": "#4f6bd0", "emoji": "hourglass_flowing_sand"},
    ),
)


# No absence: people ask for it in the same way, and are at work.
HOME_OFFICE: Final[dict[str, object]] = {
    "name": "Home office",
    "code": "home-office",
    "colour": "#2f7f9e",
    "emoji": "house",
    "requires_approval": False,
    "deducts_allowance": False,
    "is_away": False,
}


@dataclass(frozen=True, slots=True)
class DemoLeave:
    """Leave to add. ``starts_in`` is in weekdays from today; 0 is today or the next weekday."""

    first_name: str
    code: str
    starts_in: int
    weekdays: int
    # None leaves it pending.
    step: Literal["approve", "approve_first", "decline", "cancel"] | None = None
    note: str | None = None
    half_day: HalfDay | None = None
    # First name.
    cover: str | None = None


LEAVE: Final = (
    DemoLeave("Amir", "annual", -25, 5, "approve"),
    DemoLeave("Chloe", "annual", -1, 4, "approve", note="Lisbon with friends", cover="Amir"),
    DemoLeave("Kenji", "sick", 0, 1),
    DemoLeave("Grace", "home-office", 0, 1),
    DemoLeave("Kenji", "home-office", 1, 1),
    DemoLeave("Noor", "home-office", 3, 2),
    DemoLeave("Noor", "annual", -12, 3, "approve"),
    DemoLeave("Noor", "annual", 8, 5, note="My brother gets married"),
    DemoLeave("Noor", "volunteering", 18, 1, "approve", note="Food bank"),
    DemoLeave("Tom", "annual", 2, 1, "approve", half_day="pm"),
    DemoLeave("Marta", "annual", 4, 3, "approve"),
    DemoLeave("Grace", "annual", 15, 5, "approve"),
    DemoLeave("Amir", "annual", 6, 4, note="Moving house", cover="Kenji"),
    DemoLeave("Chloe", "unpaid", 30, 10, "decline", note="A long trip"),
    DemoLeave("Kenji", "annual", 12, 2, "cancel"),
    DemoLeave("Kenji", "unpaid", 45, 15, "approve_first", note="Cycling to Istanbul"),
    DemoLeave("Henrik", "parental", 20, 20, "approve"),
)


# Not the id of a real workspace: those are random letters and digits.
TEAM_ID: Final = "T0PLAYGROUND"
_MAX_PEOPLE: Final = 200
_MAX_PENDING: Final = 100


def enter(tx: Transaction, organisation_id: str, *, now: datetime) -> list[User] | None:
    """Link the organisation to the playground. Returns its people with their Slack ids there.

    Queues the approval cards of pending requests again, because a playground keeps nothing. None
    if the organisation belongs to another workspace: then nothing has changed.
    """
    organisation = organisation_config.of_organisation(tx, organisation_id).organisation
    if organisation.slack_team_id is None:
        slack_workspaces.link(tx, organisation, TEAM_ID, source="cli", now=now)
    elif organisation.slack_team_id != TEAM_ID:
        return None
    # The playground's members are the organisation's people, so there is nothing to compare.
    slack_syncs.end(tx, organisation_id)
    for user in _staff(tx, organisation_id):
        if user.slack_user_id is None:
            slack_profiles.link_unchecked(tx, organisation_id, user.id, _slack_id(user), now=now)
    queue_pending_cards(tx, organisation_id, now=now)
    _tell_of_lapsing_days(tx, organisation_id, now=now)
    return [user for user in _staff(tx, organisation_id) if user.slack_user_id is not None]


def _tell_of_lapsing_days(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Remind the member, once, of every day that they would lose."""
    member = people_rows.find_by_email(tx, organisation_id, MEMBER_EMAIL)
    if member is None or member.status != "active":
        return
    config = organisation_config.of_organisation(tx, organisation_id)
    today = local_day(now, config.organisation.timezone)
    pots = lapsing_days.pots_of_people(tx, config, [member], today).get(member.id, {})
    named = {allowance_id: pot.lapses for allowance_id, pot in pots.items() if pot.lapses}
    if not named or lapsing_days.of_people(tx, organisation_id, [member.id], date.min):
        return
    notice = expiry_notices.notice(Due(kind="reminder", named=named), pots)
    expiry_notices.tell(tx, organisation_id, {member.id: notice}, now=now)


def queue_pending_cards(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Queue the card of every pending request for its approvers."""
    by = Caller.system(organisation_id, "cli")
    config = organisation_config.of_organisation(tx, organisation_id)
    pending = leave_lists.filtered(tx, PageOf(limit=_MAX_PENDING), by=by, statuses=["pending"])
    today = local_day(now, config.organisation.timezone)
    for request in pending.items:
        approvers_now = approvers.of_request(tx, organisation_id, request, today=today)
        notification_outbox.notify(
            tx,
            "leave_request.created",
            request,
            by=by,
            approvers=approvers_now,
            config=config,
            now=now,
        )
    tx.update(TimeCreditCardRow, {"channel": None, "ts": None}, organisation_id=organisation_id)
    time_credit_lists.reassign(tx, config, today=today, now=now)


def leave(tx: Transaction, *, now: datetime) -> bool:
    """Undo ``enter``, so that a real workspace can be linked. Returns whether it was linked."""
    organisation = slack_workspaces.find(tx, TEAM_ID)
    if organisation is None:
        return False
    unlinked = {"slack_team_id": None, "updated_at": now}
    if not tx.update(OrganisationRow, unlinked, id=organisation.id, slack_team_id=TEAM_ID):
        return False
    tx.change(_unlink_people, organisation_id=organisation.id, now=now)
    tx.delete(SlackMessageRow, organisation_id=organisation.id)
    tx.delete(TimeCreditCardRow, organisation_id=organisation.id)
    organisation_config.changed(tx, organisation.id)
    return True


def _staff(tx: Transaction, organisation_id: str) -> list[User]:
    users = people_lists.page(
        tx, PageOf(limit=_MAX_PEOPLE), by=Caller.system(organisation_id, "cli")
    ).items
    return [user for user in users if user.status in ("pending", "active")]


def _slack_id(user: User) -> str:
    letters = "".join(letter for letter in user.email.partition("@")[0].upper() if letter.isalnum())
    return f"U0{letters}"[:32]


@compiled
def _unlink_people(organisation_id: Param[str], now: Param[datetime]) -> Update:
    return UserRow.update(slack_user_id=None, updated_at=now).where(
        UserRow.organisation_id == organisation_id, UserRow.slack_user_id.is_null(False)
    )
