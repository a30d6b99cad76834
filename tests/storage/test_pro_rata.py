"""Pro rata settings: dated, filled by country, and what they grant for part of a leave year."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from storage.admin import dated_terms, organisation_settings, organisations
from storage.base.errors import InvalidInput
from storage.base.values import User
from storage.db.database import Database
from storage.leave import ledgers
from tests.builders import (
    NOW,
    Acme,
    a_person,
    an_organisation,
    approved_leave,
    audit_entries,
    dry_run,
)

GERMAN = {
    "pro_rata": "full_months",
    "pro_rata_rounding": "day_nearest",
    "full_claim_after_months": 6,
    "full_claim_for_leavers_after_june": True,
}
EARLIER = date(2000, 1, 1)


def with_settings(
    database: Database, acme: Acme, effective_from: date | None = EARLIER, **changes: Any
) -> None:
    database.write_now(
        organisation_settings.update,
        changes,
        effective_from=effective_from,
        by=acme.caller,
        now=NOW,
    )


def days_left(database: Database, acme: Acme, user: User, on: date) -> float:
    balance = database.read_now(ledgers.balance, user.id, on=on, by=acme.caller, now=NOW)
    assert balance.remaining_half_days == sum(line.half_days for line in balance.lines)
    return float(balance.remaining_half_days / 2)


def set_up(database: Database, acme: Acme, country_code: str) -> None:
    """What the setup from Slack saves for the country."""
    database.write_now(
        organisation_settings.update,
        {"country_code": country_code},
        is_set_up=True,
        by=acme.caller,
        now=NOW,
    )


def test_a_starter_in_britain_gets_a_twelfth_for_each_month_started(database: Database) -> None:
    acme = an_organisation(database, leave_year_type="fiscal", leave_year_start_month=5)
    with_settings(database, acme, default_leave_allowance_half_days=56)
    set_up(database, acme, "GB-ENG")
    ada = a_person(database, acme, start_date=date(2026, 9, 23))

    assert days_left(database, acme, ada, date(2026, 9, 23)) == 19
    assert days_left(database, acme, ada, date(2027, 5, 1)) == 28


def test_a_leaver_in_the_second_half_of_a_year_keeps_all_of_it_in_germany(
    database: Database,
) -> None:
    acme = an_organisation(database)
    with_settings(database, acme, default_leave_allowance_half_days=40)
    set_up(database, acme, "DE-BE")
    june = a_person(database, acme, start_date=date(2020, 1, 1), end_date=date(2027, 6, 30))
    july = a_person(database, acme, start_date=date(2020, 1, 1), end_date=date(2027, 7, 31))

    assert days_left(database, acme, june, date(2027, 6, 30)) == 10
    assert days_left(database, acme, july, date(2027, 7, 31)) == 20


def test_a_starter_in_germany_has_the_full_claim_after_six_months(database: Database) -> None:
    acme = an_organisation(database)
    with_settings(database, acme, default_leave_allowance_half_days=60)
    set_up(database, acme, "DE")
    june = a_person(database, acme, start_date=date(2026, 6, 1))
    july = a_person(database, acme, start_date=date(2026, 7, 2))

    found = [days_left(database, acme, june, date(2026, 11, 30) + timedelta(n)) for n in (0, 1, 31)]
    # 7 twelfths of 30 are 17.5, which is half a day that becomes one.
    assert found == [18, 30, 30]
    # Five full months.
    assert days_left(database, acme, july, date(2026, 12, 31)) == 13


def test_a_changed_rule_leaves_earlier_leave_years_as_they_are(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme, start_date=date(2026, 3, 15))
    ben = a_person(database, acme, start_date=date(2027, 3, 15))
    # 292 of 365 days.
    assert days_left(database, acme, ada, date(2026, 12, 31)) == 20

    with_settings(database, acme, date(2027, 1, 1), **GERMAN)

    assert days_left(database, acme, ada, date(2026, 12, 31)) == 20
    assert days_left(database, acme, ben, date(2027, 3, 15)) == 19
    today = database.read_now(organisations.get, by=acme.caller, now=NOW)
    then = database.read_now(organisations.get, by=acme.caller, now=NOW.replace(year=2027))
    assert (today.pro_rata, today.full_claim_after_months) == ("days", None)
    assert (then.pro_rata, then.full_claim_after_months) == ("full_months", 6)


def test_a_rule_counts_from_each_persons_leave_year_of_today_by_default(
    database: Database,
) -> None:
    acme = an_organisation(database, leave_year_type="anniversary")
    # Leaves after 200 of 365 days, which is after 6 of 12 full months.
    earlier = a_person(database, acme, start_date=date(2024, 3, 1), end_date=date(2025, 9, 16))
    later = a_person(database, acme, start_date=date(2025, 3, 1), end_date=date(2026, 9, 16))

    with_settings(database, acme, None, pro_rata="full_months")

    assert days_left(database, acme, earlier, date(2025, 9, 16)) == 14
    assert days_left(database, acme, later, date(2026, 9, 16)) == 12.5


def test_a_future_rule_is_taken_back_by_setting_that_of_before(database: Database) -> None:
    acme = an_organisation(database)
    with_settings(database, acme, date(2027, 1, 1), pro_rata="full_months")

    with_settings(database, acme, date(2027, 1, 1), pro_rata="days")

    stored = database.read_now(organisations.by_slug, "acme")
    assert [rule.method for rule in stored.pro_rata_rules] == ["days"]


def test_the_audit_trail_has_the_rule_of_each_day(database: Database) -> None:
    acme = an_organisation(database)

    with_settings(database, acme, date(2027, 1, 1), pro_rata="months_started")

    entry = audit_entries(database, acme.caller)[0]
    assert (entry.action, entry.actor_id) == ("organisation.updated", acme.owner.id)
    first = {
        "valid_from": None,
        "by_leave_year": False,
        "pro_rata": "days",
        "pro_rata_rounding": "half_day_up",
        "full_claim_after_months": None,
        "full_claim_for_leavers_after_june": False,
    }
    second = first | {"valid_from": "2027-01-01", "pro_rata": "months_started"}
    assert entry.changes == {"pro_rata_rules": {"before": [], "after": [first, second]}}


def test_a_dry_run_says_whose_balance_a_rule_makes_negative(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme, start_date=date(2026, 12, 14))
    approved_leave(database, acme, ada, date(2026, 12, 14), date(2026, 12, 14))

    found = dry_run(
        database,
        organisation_settings.update,
        {"pro_rata": "full_months"},
        by=acme.caller,
        now=NOW,
    )

    [overdrawn] = found.overdrawn
    assert (overdrawn.user_id, overdrawn.year.name) == (ada.id, "2026")
    assert (overdrawn.before_half_days, overdrawn.after_half_days) == (1, -2)
    assert days_left(database, acme, ada, date(2026, 12, 31)) == 0.5


def test_the_setup_fills_the_rule_of_the_country_until_an_admin_sets_another(
    database: Database,
) -> None:
    acme = an_organisation(database)

    def found() -> list[str]:
        stored = database.read_now(organisations.by_slug, "acme")
        return [rule.method for rule in stored.pro_rata_rules]

    for country_code, methods in (
        ("GB-SCT", ["months_started"]),
        ("DE-BY", ["full_months"]),
        ("FR", []),
        ("DE", ["full_months"]),
    ):
        set_up(database, acme, country_code)
        assert found() == methods

    with_settings(database, acme, pro_rata="days")
    set_up(database, acme, "GB")
    assert found()[-1] == "days"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"pro_rata": "weeks"}, "unknown_pro_rata"),
        ({"pro_rata_rounding": "down"}, "unknown_rounding"),
        ({"full_claim_after_months": 13}, "out_of_range"),
        ({"full_claim_after_months": 0}, "out_of_range"),
        ({"full_claim_for_leavers_after_june": None}, "not_a_boolean"),
    ],
)
def test_a_wrong_rule_is_refused(database: Database, changes: dict[str, Any], code: str) -> None:
    acme = an_organisation(database)

    with pytest.raises(InvalidInput) as refusal:
        with_settings(database, acme, **changes)

    [error] = refusal.value.errors
    assert (error.code, error.pointer) == (code, f"/{next(iter(changes))}")


def test_the_rules_of_an_organisation_have_a_limit(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dated_terms, "MAX_TERMS", 2)
    acme = an_organisation(database)
    with_settings(database, acme, date(2027, 1, 1), pro_rata="full_months")

    with pytest.raises(dated_terms.TooManyTerms):
        with_settings(database, acme, date(2028, 1, 1), pro_rata="days")
