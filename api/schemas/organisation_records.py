"""The organisation and its settings."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from storage.base.records import About, Days, Id
from storage.base.values import (
    ChannelDigest,
    ChannelLocale,
    DigestFrequency,
    LeaveYearType,
    Organisation,
    days_of,
)


class OrganisationRecord(TypedDict):
    """The organisation that owns the API key."""

    id: Id
    name: Annotated[str, About(example="Acme")]
    slug: Annotated[str, About(example="acme")]
    domain: str | None
    logo_url: str | None
    country_code: Annotated[str, About(example="GB")]
    timezone: Annotated[str, About(example="Europe/London")]
    working_days: Annotated[
        list[str], About(example=["monday", "tuesday", "wednesday", "thursday", "friday"])
    ]
    leave_year_type: LeaveYearType
    leave_year_start_month: int
    leave_year_start_day: int
    default_leave_allowance: Annotated[Days, About(example=25)]
    carry_over: Annotated[
        float,
        Field(
            description="The most days carried over into the next leave year; 0 for none.",
            examples=[5],
        ),
    ]
    carry_over_expiry_month: Annotated[
        int | None,
        Field(
            description=(
                "Days carried over expire at the end of this month, 1 to 12; null if they never "
                "expire within the leave year."
            )
        ),
    ]
    day_starts_at: Annotated[str, About(example="09:00")]
    midday_at: Annotated[str, About(example="13:00")]
    day_ends_at: Annotated[str, About(example="17:00")]
    slack_members_join: Annotated[
        bool,
        Field(
            description="Whether new full members of the Slack workspace are added "
            "automatically, with the "
            "role `member`."
        ),
    ]
    digest_channel: Annotated[
        str | None,
        Field(description="Id of the Slack channel for the who's-out message; null for none."),
    ]
    created_at: datetime


class DigestRecord(TypedDict):
    """A who's-out message of a Slack channel."""

    id: Id
    channel: Annotated[str, About(example="C024BE91L")]
    department_id: Annotated[
        Id | None, Field(description="Only people of this department; null for everyone.")
    ]
    frequency: DigestFrequency
    locale: ChannelLocale
    refused_because: Annotated[
        str | None,
        Field(
            description="Slack's error code if it refuses messages for the channel, or "
            "`externally_shared` if the channel is shared with another organisation; null "
            "otherwise."
        ),
    ]
    created_at: datetime


def organisation(value: Organisation) -> OrganisationRecord:
    return {
        "id": value.id,
        "name": value.name,
        "slug": value.slug,
        "domain": value.domain,
        "logo_url": value.logo_url,
        "country_code": value.country_code,
        "timezone": value.timezone,
        "working_days": list(value.working_days),
        "leave_year_type": value.leave_year_type,
        "leave_year_start_month": value.leave_year_start_month,
        "leave_year_start_day": value.leave_year_start_day,
        "default_leave_allowance": days_of(value.default_leave_allowance_half_days),
        "carry_over": days_of(value.carry_over_half_days),
        "carry_over_expiry_month": value.carry_over_expiry_month,
        "day_starts_at": value.day_starts_at,
        "midday_at": value.midday_at,
        "day_ends_at": value.day_ends_at,
        "slack_members_join": value.slack_members_join,
        "digest_channel": value.digest_channel,
        "created_at": value.created_at,
    }


def digest(value: ChannelDigest) -> DigestRecord:
    return {
        "id": value.id,
        "channel": value.channel,
        "department_id": value.department_id,
        "frequency": value.frequency,
        "locale": value.locale,
        "refused_because": value.refused_because,
        "created_at": value.created_at,
    }
