from __future__ import annotations

import zoneinfo

import pytest

from storage.workspaces.join_policy import country_of_timezone, employer_domain


@pytest.mark.parametrize(
    ("email", "domain"),
    [
        ("Ada@Example.COM", "example.com"),
        ("ada@mail.example.com", "mail.example.com"),
        ("ada@GMAIL.com", None),
        ("ada@web.de", None),
        ("example.com", "example.com"),
        ("ada@", None),
        ("", None),
    ],
)
def test_a_company_address_gives_the_employers_domain(email: str, domain: str | None) -> None:
    assert employer_domain(email) == domain


@pytest.mark.parametrize(
    ("timezone", "country"),
    [
        ("Europe/London", "GB"),
        ("Europe/Berlin", "DE"),
        ("America/New_York", "US"),
        ("Asia/Kolkata", "IN"),
        ("UTC", None),
        ("Etc/GMT+3", None),
        ("", None),
    ],
)
def test_a_time_zone_gives_its_country(timezone: str, country: str | None) -> None:
    assert country_of_timezone(timezone) == country


def test_every_time_zone_gives_a_known_country_or_none() -> None:
    countries = {country_of_timezone(zone) for zone in zoneinfo.available_timezones()}

    assert len(countries) > 150
