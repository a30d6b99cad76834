"""Time in lieu: claimed for work outside of working time, decided by approvers, and taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import orjson
import pytest

from storage.admin import allowances, people_status
from storage.base.errors import (
    DomainError,
    InsufficientRole,
    InvalidInput,
    NotFound,
    OwnRequest,
)
from storage.base.leave_values import TimeCredit
from storage.base.values import User
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.leave import time_credit_lists, time_credits
from storage.leave.time_credits import CreditUsed, TimeCreditDecided, TimeCreditExists
from storage.webhooks import delivery_queue
from tests.builders import (
    NOW,
    Acme,
    a_leave_type,
    a_person,
    a_request,
    a_webhook,
    an_organisation,
    approved_leave,
    audit_entries,
    caller_for,
    dry_run,
)
from tests.storage.test_allowances import balance_of, days_left

pytestmark = pytest.mark.both_engines

SATURDAY = date(2026, 5, 30)
# When the credits of the table are claimed.
LATER = datetime(2027, 3, 22, 9, 0, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Office:
    """Grace approves Ada's leave; days of ``lieu`` expire three months after the work."""

    database: Database
    acme: Acme
    lieu: str
    grace: User
    ada: User

    def claim(
        self,
        user: User,
        worked_on: date = SATURDAY,
        days: float = 1,
        reason: str = "Release",
        now: datetime = NOW,
        **more: Any,
    ) -> TimeCredit:
        claim = {"allowance_id": self.lieu, "worked_on": worked_on, "days": days, **more}
        by = caller_for(self.acme, user)
        return self.database.write_now(time_credits.create, **claim, reason=reason, by=by, now=now)

    def do(
        self,
        change: Callable[..., TimeCredit],
        user: User,
        credit: TimeCredit,
        now: datetime = NOW,
        **more: Any,
    ) -> TimeCredit:
        by = caller_for(self.acme, user)
        return self.database.write_now(change, credit.id, by=by, now=now, **more)

    def earned(self, worked_on: date, days: float = 1, now: datetime = LATER) -> TimeCredit:
        """Time in lieu that Ada claimed and Grace approved."""
        return self.do(
            time_credits.approve, self.grace, self.claim(self.ada, worked_on, days, now=now), now
        )

    def left(self, on: date) -> float:
        return days_left(self.database, self.acme, self.ada, on, self.lieu)


@pytest.fixture
def office(database: Database) -> Office:
    acme = an_organisation(database)
    terms = {"earnable": True, "credits_expire_after_months": 3}
    lieu = acme.write(allowances.create, {"name": "Lieu", **terms}).allowance.id
    a_leave_type(database, acme, name="Lieu", allowance_id=lieu)
    grace = a_person(database, acme, first_name="Grace", role="approver")
    ada = a_person(database, acme, manager_id=grace.id)
    return Office(database=database, acme=acme, lieu=lieu, grace=grace, ada=ada)


def test_an_approved_credit_can_be_taken_until_it_expires(office: Office) -> None:
    office.earned(date(2027, 2, 6))
    approved_leave(
        office.database,
        office.acme,
        office.ada,
        date(2027, 3, 2),
        code="lieu",
        start_half_day="am",
        end_half_day="am",
    )

    assert (office.left(date(2027, 5, 6)), office.left(date(2027, 5, 7))) == (0.5, 0)
    balance = balance_of(office.database, office.acme, office.ada, date(2027, 5, 6), office.lieu)
    assert [(line.type, line.half_days) for line in balance.lines if line.half_days] == [
        ("credit", 2),
        ("leave", -1),
    ]


def test_the_credit_that_expires_first_is_taken_first(office: Office) -> None:
    office.earned(date(2027, 2, 6))
    office.earned(date(2027, 3, 20))
    approved_leave(office.database, office.acme, office.ada, date(2027, 4, 12), code="lieu")

    assert office.left(date(2027, 5, 7)) == 1


def test_a_claim_counts_once_an_approver_approves_it(office: Office) -> None:
    credit = office.claim(office.ada)
    assert (credit.status, credit.decided_by) == ("pending", None)
    with pytest.raises(StopIteration):  # The allowance holds nothing yet.
        office.left(date(2026, 6, 1))

    approved = office.do(time_credits.approve, office.grace, credit)

    assert (approved.status, approved.decided_by) == ("approved", office.grace.id)
    assert office.left(date(2026, 6, 1)) == 1
    entries = audit_entries(office.database, office.acme.caller, subject_id=credit.id)
    assert [entry.action for entry in entries] == ["time_credit.approved", "time_credit.created"]
    assert entries[0].changes["status"] == {"before": "pending", "after": "approved"}
    assert entries[1].changes["days"] == {"before": None, "after": 1}


def test_a_declined_claim_has_the_reason_and_frees_the_day(office: Office) -> None:
    credit = office.claim(office.ada)

    declined = office.do(time_credits.decline, office.grace, credit, reason=" Was a Friday. ")

    assert (declined.status, declined.decision_reason) == ("declined", "Was a Friday.")
    assert office.claim(office.ada).status == "pending"


def test_nobody_decides_on_their_own_claim(office: Office) -> None:
    own = office.claim(office.grace)
    of_owner = office.claim(office.acme.owner)
    boss = a_person(office.database, office.acme, first_name="Bo", role="admin")

    for change in (
        time_credits.approve,
        lambda *a, **k: time_credits.decline(*a, reason=None, **k),
    ):
        with pytest.raises(OwnRequest):
            office.do(change, office.grace, own)
    assert of_owner.status == "approved"  # No one else could decide.
    assert of_owner.decided_by is None
    assert office.claim(boss).status == "pending"


def test_other_colleagues_neither_see_a_claim_nor_decide(office: Office) -> None:
    hedy = a_person(office.database, office.acme, first_name="Hedy", role="approver")
    credit = office.claim(office.ada)

    with pytest.raises(NotFound):
        office.do(time_credits.approve, hedy, credit)
    with pytest.raises(NotFound):
        office.do(time_credits.cancel, hedy, credit)
    with pytest.raises(NotFound):
        office.database.read_now(
            time_credits.get, credit.id, by=caller_for(office.acme, hedy), now=NOW
        )
    with pytest.raises(InsufficientRole):
        office.claim(hedy, user_id=office.ada.id)


def test_what_an_admin_records_for_someone_is_approved(office: Office) -> None:
    owner = office.acme.owner

    credit = office.claim(owner, user_id=office.ada.id)

    assert (credit.user_id, credit.status) == (office.ada.id, "approved")
    assert credit.decided_by == owner.id


def test_a_day_is_claimed_once(office: Office) -> None:
    first = office.claim(office.ada)

    with pytest.raises(TimeCreditExists):
        office.claim(office.ada, days=0.5)
    office.do(time_credits.cancel, office.ada, first)

    assert office.claim(office.ada, days=0.5).half_days == 1


@pytest.mark.parametrize(
    ("claim", "pointer", "code"),
    [
        ({"worked_on": date(2026, 6, 2)}, "/worked_on", "in_future"),
        ({"worked_on": date(2025, 5, 30)}, "/worked_on", "too_long_ago"),
        ({"worked_on": date(2026, 2, 28)}, "/worked_on", "before_start_date"),
        ({"days": 0}, "/days", "out_of_range"),
        ({"days": 2.5}, "/days", "out_of_range"),
        ({"days": 0.7}, "/days", "not_half_days"),
        ({"reason": "  "}, "/reason", "required"),
        ({"allowance_id": "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"}, "/allowance_id", "unknown_"),
        ({"allowance_id": "the default"}, "/allowance_id", "allowance_not_earnable"),
        ({"user_id": "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"}, "/user_id", "unknown_user"),
    ],
)
def test_a_wrong_claim_is_refused(
    office: Office, claim: dict[str, Any], pointer: str, code: str
) -> None:
    new: dict[str, Any] = {
        "manager_id": office.grace.id,
        "start_date": date(2026, 3, 1),
        "role": "admin",
    }
    ben = a_person(office.database, office.acme, first_name="Ben", **new)
    if claim.get("allowance_id") == "the default":
        claim = {"allowance_id": office.acme.id}

    with pytest.raises(InvalidInput) as refusal:
        office.claim(ben, **claim)

    [error] = refusal.value.errors
    assert (error.pointer, error.code[: len(code)]) == (pointer, code)


def test_today_and_a_year_ago_can_be_claimed(office: Office) -> None:
    for worked_on in (NOW.date(), NOW.date() - timedelta(days=366)):
        assert office.claim(office.ada, worked_on).status == "pending"


def test_an_archived_allowance_cannot_be_claimed(office: Office) -> None:
    office.acme.write(allowances.update, office.lieu, {"is_archived": True})

    with pytest.raises(InvalidInput) as refusal:
        office.claim(office.ada)

    assert refusal.value.errors[0].code == "allowance_not_earnable"


def test_people_cancel_pending_claims_and_admins_approved_ones(office: Office) -> None:
    pending = office.claim(office.ada)
    approved = office.earned(date(2026, 5, 31), now=NOW)

    cancelled = office.do(time_credits.cancel, office.ada, pending)
    with pytest.raises(InsufficientRole):
        office.do(time_credits.cancel, office.ada, approved)
    taken_back = office.do(time_credits.cancel, office.acme.owner, approved)

    assert (cancelled.status, taken_back.status) == ("cancelled", "cancelled")
    changes: list[Callable[..., TimeCredit]] = [time_credits.approve, time_credits.cancel]
    for change in changes:
        with pytest.raises(TimeCreditDecided) as refusal:
            office.do(change, office.acme.owner, taken_back)
        assert refusal.value.time_credit_status == "cancelled"


def test_a_dry_run_of_archiving_counts_the_claims_that_it_cancels(office: Office) -> None:
    claim = office.claim(office.ada)
    office.earned(date(2026, 5, 31), now=NOW)

    effects = dry_run(
        office.database, people_status.archive, office.ada.id, by=office.acme.caller, now=NOW
    )

    assert (effects.time_credits, effects.affects_others) == (1, True)
    assert office.acme.read(time_credits.get, claim.id, now=NOW).status == "pending"
    office.acme.write(people_status.archive, office.ada.id)
    assert office.acme.read(time_credits.get, claim.id, now=NOW).status == "cancelled"


def test_a_credit_whose_days_are_used_stays(office: Office) -> None:
    used = office.earned(date(2027, 2, 6))
    request = a_request(
        office.database, office.acme, office.ada, start_date=date(2027, 4, 12), code="lieu"
    )
    assert request.status == "pending"

    with pytest.raises(CreditUsed):
        office.do(time_credits.cancel, office.acme.owner, used)
    other = office.earned(date(2027, 3, 20))
    # The leave uses the days of either.
    office.do(time_credits.cancel, office.acme.owner, used)
    with pytest.raises(CreditUsed):
        office.do(time_credits.cancel, office.acme.owner, other)


@pytest.mark.parametrize("months", [3, None])
def test_a_later_credit_does_not_stand_in_for_one_that_earlier_leave_uses(
    office: Office, months: int | None
) -> None:
    terms = {"credits_expire_after_months": months}
    office.acme.write(allowances.update, office.lieu, terms)
    used = office.earned(date(2027, 2, 6))
    approved_leave(office.database, office.acme, office.ada, date(2027, 3, 2), code="lieu")
    later = office.earned(date(2027, 3, 20))

    with pytest.raises(CreditUsed):
        office.do(time_credits.cancel, office.acme.owner, used)
    office.do(time_credits.cancel, office.acme.owner, later)


def test_days_that_the_next_leave_year_uses_are_used(office: Office) -> None:
    used = office.earned(date(2026, 12, 12), now=LATER)
    approved_leave(office.database, office.acme, office.ada, date(2027, 1, 12), code="lieu")

    with pytest.raises(CreditUsed):
        office.do(time_credits.cancel, office.acme.owner, used)


def test_lists_have_ones_own_and_those_of_ones_people(office: Office) -> None:
    hedy = a_person(office.database, office.acme, first_name="Hedy")
    of_ada, of_grace = office.claim(office.ada), office.claim(office.grace)
    of_hedy = office.claim(office.acme.owner, user_id=hedy.id)

    def listed(user: User, **filters: Any) -> list[str]:
        by = caller_for(office.acme, user)
        page = office.database.read_now(
            time_credit_lists.page, PageOf(limit=10), by=by, now=NOW, **filters
        )
        return [credit.id for credit in page.items]

    assert listed(office.ada) == [of_ada.id]
    assert listed(office.grace) == [of_grace.id, of_ada.id]
    assert listed(office.acme.owner) == [of_hedy.id, of_grace.id, of_ada.id]
    assert listed(office.acme.owner, status="approved") == [of_hedy.id]
    assert listed(office.acme.owner, allowance_id=office.acme.id) == []
    assert listed(office.grace, user_id=office.ada.id, status="pending") == [of_ada.id]
    with pytest.raises(DomainError):
        listed(office.ada, user_id=hedy.id)
    by, first = office.acme.caller, PageOf(limit=2)
    page = office.database.read_now(time_credit_lists.page, first, by=by, now=NOW)
    following = PageOf(limit=2, cursor=page.next_cursor)
    rest = office.database.read_now(time_credit_lists.page, following, by=by, now=NOW)
    assert [credit.id for credit in rest.items] == [of_ada.id]


def test_each_step_sends_its_event(office: Office) -> None:
    a_webhook(office.database, office.acme, "time_credit.created", "time_credit.approved")
    credit = office.claim(office.ada)
    office.do(time_credits.approve, office.grace, credit)

    def claimed() -> list[Any]:
        queue = office.database.write_now(delivery_queue.claim, limit=9, claim_id="a", now=NOW)
        return [orjson.loads(delivery.body) for delivery in queue]

    [event] = claimed()  # The second follows when the first was tried.

    assert event["type"] == "time_credit.created"
    data = event["data"]
    assert (data["id"], data["days"], data["worked_on"]) == (credit.id, 1, "2026-05-30")
    assert (data["allowance"]["name"], data["user"]["first_name"]) == ("Lieu", "Ada")
    assert (data["sequence"], data["status"]) == (1, "pending")
