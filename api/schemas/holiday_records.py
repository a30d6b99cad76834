"""Holiday sets, their dates and overrides, and the countries to choose from."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from storage.base.calendar_values import Country, HolidayOnDate, HolidayOverride
from storage.base.records import About, Id
from storage.base.values import (
    HalfDay,
)


class HolidaySetRecord(TypedDict):
    """The public holidays of one country or region."""

    id: Id
    country_code: Annotated[str, About(example="GB-SCT")]
    country_name: Annotated[str, About(example="United Kingdom (Scotland)")]
    has_regions: Annotated[
        bool,
        Field(
            description="True for a country with regions, of which only the national "
            "holidays count "
            "here. `GET /countries` lists the regions."
        ),
    ]
    categories: Annotated[
        list[str],
        Field(
            description="The categories of the country's calendar that are days off, such as "
            "`public` and `de_facto`. Days of `half_day`, and others that begin in the afternoon, "
            "are afternoons off.",
            examples=[["public"]],
        ),
    ]
    available_categories: Annotated[
        list[str],
        Field(description="All categories that this country or region has.", examples=[["public"]]),
    ]
    holiday_count: Annotated[
        int, Field(description="In this calendar year, including overrides.", examples=[9])
    ]
    created_at: datetime


class HolidayRecord(TypedDict):
    """One date in a public holiday set."""

    date: date
    name: Annotated[str, About(example="Saint Andrew's Day")]
    source: Annotated[
        Literal["country", "override"],
        Field(description="The country's own calendar, or an override of this set."),
    ]
    half: Annotated[
        HalfDay | None,
        Field(description="The half that is a public holiday; null for the whole day."),
    ]
    is_holiday: Annotated[
        bool, Field(description="False if an override turned the date into an ordinary day.")
    ]
    override_id: Annotated[
        Id | None, Field(description="Null if the date follows the country's calendar.")
    ]


class HolidayOverrideRecord(TypedDict):
    """A date on which a public holiday set differs from its country's calendar."""

    id: Id
    date: date
    name: Annotated[str, About(example="Christmas Eve")]
    is_holiday: Annotated[
        bool, Field(description="False turns a public holiday into an ordinary day.")
    ]
    half: Annotated[HalfDay | None, Field(description="Null for the whole day.")]
    every_year: Annotated[
        bool,
        Field(
            description="Whether it also holds on this day of every later year; on 29 February in "
            "leap years only."
        ),
    ]
    created_at: datetime


class RegionRecord(TypedDict):
    """A region with its own public holidays."""

    code: Annotated[str, About(example="GB-SCT")]
    name: Annotated[str, About(example="Scotland")]


class CountryRecord(TypedDict):
    """A country whose public holidays are known."""

    code: Annotated[str, Field(description="ISO 3166-1 alpha-2.", examples=["GB"])]
    name: Annotated[str, About(example="United Kingdom")]
    has_regions: Annotated[bool, Field(description="Whether `regions` has more specific choices.")]
    regions: list[RegionRecord]


def holiday(value: HolidayOnDate) -> HolidayRecord:
    return {
        "date": value.date,
        "name": value.name,
        "source": value.source,
        "half": value.half,
        "is_holiday": value.is_holiday,
        "override_id": value.override_id,
    }


def holiday_override(value: HolidayOverride) -> HolidayOverrideRecord:
    return {
        "id": value.id,
        "date": value.date,
        "name": value.name,
        "is_holiday": value.is_holiday,
        "half": value.half,
        "every_year": value.every_year,
        "created_at": value.created_at,
    }


def country(value: Country) -> CountryRecord:
    return {
        "code": value.code,
        "name": value.name,
        "has_regions": bool(value.regions),
        "regions": [{"code": region.code, "name": region.name} for region in value.regions],
    }
