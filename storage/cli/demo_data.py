"""The people of the demo organisation and their leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from storage.base.values import HalfDay

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


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoLeave:
    """Leave to add. ``starts_in`` is in weekdays from today; 0 is today or the next weekday."""

    first_name: str
    code: str
    starts_in: int
    weekdays: int
    # None leaves it pending.
    step: Literal["approve", "decline", "cancel"] | None = None
    note: str | None = None
    half_day: HalfDay | None = None
    # First name.
    cover: str | None = None


LEAVE: Final = (
    DemoLeave(first_name="Amir", code="annual", starts_in=-25, weekdays=5, step="approve"),
    DemoLeave(
        first_name="Chloe",
        code="annual",
        starts_in=-1,
        weekdays=4,
        step="approve",
        note="Lisbon with friends",
        cover="Amir",
    ),
    DemoLeave(first_name="Kenji", code="sick", starts_in=0, weekdays=1),
    DemoLeave(first_name="Noor", code="annual", starts_in=-12, weekdays=3, step="approve"),
    DemoLeave(
        first_name="Noor",
        code="annual",
        starts_in=8,
        weekdays=5,
        note="My brother gets married",
    ),
    DemoLeave(
        first_name="Tom", code="annual", starts_in=2, weekdays=1, step="approve", half_day="pm"
    ),
    DemoLeave(first_name="Marta", code="annual", starts_in=4, weekdays=3, step="approve"),
    DemoLeave(first_name="Grace", code="annual", starts_in=15, weekdays=5, step="approve"),
    DemoLeave(
        first_name="Amir",
        code="annual",
        starts_in=6,
        weekdays=4,
        note="Moving house",
        cover="Kenji",
    ),
    DemoLeave(
        first_name="Chloe",
        code="unpaid",
        starts_in=30,
        weekdays=10,
        step="decline",
        note="A long trip",
    ),
    DemoLeave(first_name="Kenji", code="annual", starts_in=12, weekdays=2, step="cancel"),
    DemoLeave(first_name="Henrik", code="parental", starts_in=20, weekdays=20, step="approve"),
)
