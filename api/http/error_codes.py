"""What each `code` means and what to do about it, for OpenAPI and the errors page.

`EXPLAINED` has one row for each error, `OF_FIELDS` one for each code that a single field may have.
A code that is in neither fails the tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, Final, NamedTuple

from api.http import errors as http
from storage.access import feeds
from storage.access.idempotency import (
    IdempotencyAnswerUnreadable,
    IdempotencyInProgress,
    IdempotencyKeyReused,
)
from storage.admin import holiday_overrides, holiday_set_removal, people, people_import
from storage.base import errors
from storage.base.errors import FieldError, InvalidInput, Refusal
from storage.directory import people_rows
from storage.events import deliveries, webhooks
from storage.leave import adjustments, leave_requests
from storage.rules import people_file
from storage.slack import provisioning, slack_installations

_LEAVE_ID: Final = "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"


class Code(NamedTuple):
    """One code as the documentation shows it. ``detail`` and ``members`` are an example's.

    A few codes are also a field's, and then answered with 422: ``of_field`` is its row there.
    """

    code: str
    status: int
    title: str
    meaning: str
    cure: str
    detail: str
    members: Mapping[str, Any]


class Explained(NamedTuple):
    """A refusal, by an example of it."""

    example: Refusal
    meaning: str
    cure: str


EXPLAINED: Final = (
    Explained(
        example=InvalidInput(
            [
                FieldError(
                    pointer="/end_date",
                    code="end_before_start",
                    detail="The last day (2026-08-03) is before the first day (2026-08-07).",
                ),
                FieldError(
                    pointer="/note", code="note_required", detail="Annual leave needs a note."
                ),
            ]
        ),
        meaning="Several fields are wrong. `errors` has one entry for each, with a `pointer` to "
        "it. If only one field is wrong, the problem's own `code` is that field's code.",
        cure="Correct every field in `errors` and send the request again.",
    ),
    Explained(
        example=errors.NotFound("leave request"),
        meaning="It does not exist, belongs to another organisation, or you may not see it. The "
        "response is the same in all three cases, so that ids cannot be guessed.",
        cure="Check the id, and that the key belongs to the right organisation and person.",
    ),
    Explained(
        example=errors.Unauthenticated(),
        meaning="The header `Authorization` is missing or malformed, or the API key is unknown, "
        "expired or revoked, or the person behind it has been deactivated or archived.",
        cure="Send `Authorization: Bearer hiatus_sk_live_…`. If the key no longer works, create "
        "another one.",
    ),
    Explained(
        example=errors.Forbidden("You are not allowed to do this."),
        meaning="The key is valid, but its person may not do this.",
        cure="Ask an admin or owner of your organisation.",
    ),
    Explained(
        example=errors.InsufficientRole("admin"),
        meaning="The person behind the key needs a higher role; `needed_role` names the lowest "
        "that does.",
        cure="Use the key of a person with that role, or ask an owner to change yours.",
    ),
    Explained(
        example=errors.InsufficientScope("leave:write"),
        meaning="The key lacks a scope that this operation needs; `missing_scope` names it.",
        cure="Create a key with the scope. The scopes of an existing key cannot be changed.",
    ),
    Explained(
        example=errors.OwnRequest(),
        meaning="No one approves or declines their own leave, whatever their role.",
        cure="Let another approver decide. Cancelling your own request is always possible.",
    ),
    Explained(
        example=errors.NotYourField(["role"]),
        meaning="Apart from first name, last name and job title, only admins and owners change a "
        "person's record; `fields` lists the fields that you may not change.",
        cure="Leave those fields out, or ask an admin or owner.",
    ),
    Explained(
        example=leave_requests.NotYourApproval(),
        meaning="You can see the request, but other people are its approvers.",
        cure="`GET /api/v1/approvals/pending` lists the requests that you may decide.",
    ),
    Explained(
        example=provisioning.NotAMember("You are not a member of this organisation."),
        meaning="In Slack: the person is a guest, a bot or a member of another workspace, is no "
        "longer active here, or has an e-mail address that Slack has not confirmed or that "
        "belongs to a person with another Slack account.",
        cure="Confirm the address in Slack, or ask an admin to add, reactivate or unlink the "
        "person.",
    ),
    Explained(
        example=slack_installations.NotLinked(
            "An administrator can link it with `hiatus slack link`."
        ),
        meaning="While installing the Slack app: an existing organisation may be meant, but "
        "nothing proves that the installer may act for it.",
        cure="Ask an operator to run `hiatus slack link`, then install the app again.",
    ),
    Explained(
        example=errors.Conflict("This conflicts with the current state."),
        meaning="The request is valid, but conflicts with the current state.",
        cure="Read the resource again, then decide whether to repeat the request.",
    ),
    Explained(
        example=errors.InvalidTransition("approved", "cancelled"),
        meaning="This action is not possible in the leave request's current status, which "
        "`leave_status` names. Declined and cancelled leave cannot be changed.",
        cure="Read the request again. For leave on other dates, create a new request.",
    ),
    Explained(
        example=errors.OverlappingLeave(
            _LEAVE_ID, date(2026, 8, 3), date(2026, 8, 7), begins_at_midday=True
        ),
        meaning="The person already has pending or approved leave in one of these half-days; "
        "`leave_request_id` is that request.",
        cure="Choose other dates or halves, or edit or cancel the other request first.",
    ),
    Explained(
        example=errors.EmailTaken("ada@example.com"),
        meaning="Another person of the organisation has this e-mail address. Case does not "
        "matter. The address of an archived person is free.",
        cure="Look the person up with `GET /api/v1/users`, or use another address.",
    ),
    Explained(
        example=errors.CodeTaken("annual"),
        meaning="Another leave type of the organisation has this code.",
        cure="Choose another code, or change the type that has it.",
    ),
    Explained(
        example=errors.NameTaken("Research", _LEAVE_ID),
        meaning="Another department, or another leave type that is not archived, has this name. "
        "Case does not matter.",
        cure="Use the existing one (`other_id` is its id), or choose another name.",
    ),
    Explained(
        example=errors.AlreadyExists("There is already a holiday set for GB-SCT."),
        meaning="It already exists.",
        cure="Use the existing one; the list shows it.",
    ),
    Explained(
        example=errors.LastOwner(),
        meaning="An organisation needs at least one active owner, so the last one cannot be "
        "demoted, deactivated or archived.",
        cure="Make another person an owner first.",
    ),
    Explained(
        example=errors.InUse("People belong to this department."),
        meaning="It is still in use, so it cannot be deleted.",
        cure="Move what uses it, then delete it.",
    ),
    Explained(
        example=holiday_set_removal.HolidaySetInUse(
            "The public holidays of GB still apply to people (3)."
        ),
        meaning="The organisation, or a person who is not archived, has these public holidays.",
        cure="Give them another country code first, then delete the set.",
    ),
    Explained(
        example=holiday_overrides.TooManyOverrides(),
        meaning="The holiday set has reached the limit for overrides.",
        cure="Delete a past one.",
    ),
    Explained(
        example=adjustments.TooManyAdjustments(),
        meaning="The person's leave year has reached the limit for adjustments.",
        cure="Combine several corrections into one.",
    ),
    Explained(
        example=people_file.BadLines(
            [FieldError(pointer="/3/email", code="invalid_email", detail="This is no address.")]
        ),
        meaning="Only for `hiatus import`: lines of the file are wrong. Nothing was imported.",
        cure="Correct the lines that are listed and run the command again.",
    ),
    Explained(
        example=people_import.FileOvertaken(),
        meaning="Only for `hiatus import`: a person of the file was added elsewhere during the "
        "import. Nothing was imported.",
        cure="Run the command again.",
    ),
    Explained(
        example=errors.CannotArchiveSelf(),
        meaning="People cannot archive or deactivate themselves.",
        cure="Ask another admin or owner.",
    ),
    Explained(
        example=people.UserPending(),
        meaning="A pending user has never used Hiatus, so there is nothing to reactivate.",
        cure="Wait until they use Hiatus in Slack, or create an API key for them: both activate "
        "them.",
    ),
    Explained(
        example=people.UserArchived(),
        meaning="An archived person is kept for the record and cannot be changed.",
        cure="Restore the person first (`POST /users/{id}/restore`), or create a new one.",
    ),
    Explained(
        example=people_rows.ChangedMeanwhile(),
        meaning="Another request changed the same resource between your request's read and its "
        "write.",
        cure="Read it again, and repeat the change if you still want it.",
    ),
    Explained(
        example=feeds.FeedTokenUnreadable(),
        meaning="The server lost the secret key that the token was encrypted with, and the "
        "operator accepted the loss. Calendars that have the token still work.",
        cure="Create a new token with `POST /calendar-feeds/regenerate`, which revokes the old "
        "one.",
    ),
    Explained(
        example=feeds.TooManyFeeds(),
        meaning="The person has reached the limit for calendar feeds.",
        cure="Delete one that is no longer used.",
    ),
    Explained(
        example=webhooks.TooManyWebhooks(),
        meaning="The organisation has reached the limit for webhooks.",
        cure="Delete one, or let one endpoint receive several events.",
    ),
    Explained(
        example=deliveries.WebhookDisabled(),
        meaning="The webhook is disabled, so nothing is sent to it.",
        cure="Send a PATCH with `is_active` true, then try again.",
    ),
    Explained(
        example=errors.InsufficientAllowance(5, 9, "2026"),
        meaning="One of the leave years that the request touches has too few days left; "
        "`leave_year`, `remaining_days` and `needed_days` say which and by how much.",
        cure="Request fewer days, use a leave type that may be overdrawn, or ask an admin to "
        "adjust the allowance.",
    ),
    Explained(
        example=IdempotencyAnswerUnreadable(201),
        meaning="The request was sent before with this `Idempotency-Key`, and answered with the "
        "status that `detail` names. The server has lost the secret key that the response was "
        "encrypted with, and the operator accepted the loss. The request was not carried out a "
        "second time.",
        cure="Check the current state. Use a new key for a new request.",
    ),
    Explained(
        example=IdempotencyInProgress(),
        meaning="The first request with this `Idempotency-Key` is still being carried out.",
        cure="Wait for the seconds in `Retry-After` and send the same request again: you get the "
        "first response.",
    ),
    Explained(
        example=IdempotencyKeyReused(),
        meaning="The `Idempotency-Key` was used in the last 24 hours for a request with another "
        "path, query or body.",
        cure="Use a new key for every new request, and the same key only to retry it.",
    ),
    Explained(
        example=errors.UnusableCursor(),
        meaning="The cursor was altered, or comes from another list, filter, sort or organisation.",
        cure="Send `next_cursor` unchanged, with the same parameters, or start without a cursor.",
    ),
)

# Refusals for the form of a request, and what the server itself answers.
OF_FORM: Final[Mapping[str, tuple[str, str]]] = {
    "bad_request": (
        "The request is not valid HTTP.",
        "Compare it with the examples in the documentation.",
    ),
    "invalid_json": (
        "The body is empty, is not JSON, or is not valid UTF-8.",
        "Send a JSON object; check quotation marks, commas and encoding.",
    ),
    "body_too_large": (
        "A body can have at most 256 KiB.",
        "Send less in one request.",
    ),
    "unsupported_media_type": (
        "The body must be JSON, but the request declares another type.",
        "Send the header `Content-Type: application/json`.",
    ),
    "method_not_allowed": (
        "The path does not support this method; the header `Allow` lists the methods that it "
        "supports.",
        "Use one of them.",
    ),
    "precondition_failed": (
        "The resource no longer matches `If-Match`: it has changed since you read it. Nothing "
        "was changed now.",
        "Read it again, and send its new `ETag` if you still want the change.",
    ),
    "rate_limited": (
        "The API key, feed or address has exceeded its rate limit. The headers `RateLimit` and "
        "`RateLimit-Policy` of every response show what is left.",
        "Wait for the seconds in `Retry-After`. Spread requests out, and request more items in "
        "each (`limit`).",
    ),
    "internal_error": (
        "Hiatus failed. The error was logged with the request's id.",
        "Try again. If it happens again, send the `request_id` to the operator.",
    ),
    "unavailable": (
        "The database cannot be reached right now. Nothing was changed.",
        "Wait for the seconds in `Retry-After` and send the same request again.",
    ),
    "outcome_unknown": (
        "The connection to the database was lost while the change was being saved. It may or may "
        "not have been saved.",
        "Send a `POST` again with the same `Idempotency-Key`: it is carried out once. Without "
        "one, and for other methods, check the current state before you repeat the request.",
    ),
}

OF_FIELDS: Final[Mapping[str, tuple[str, str]]] = {
    "contains_nul": ("The text contains the character NUL.", "Remove it."),
    "control_character": (
        "The text contains control characters, characters that change the direction of the text "
        "(U+202A to U+202E, U+2066 to U+2069), or line breaks in a single-line field.",
        "Remove the character that `detail` names.",
    ),
    "duplicate_working_day": ("A working day is listed twice.", "List each half-day once."),
    "end_before_start": (
        "The last day is before the first.",
        "Swap the dates; leave includes both.",
    ),
    "expiry_in_past": ("The key would expire before it is created.", "Use a time in the future."),
    "impossible_date": (
        "A leave year cannot begin on this day, such as 31 February.",
        "Use a month from 1 to 12 and a day that it has every year.",
    ),
    "impossible_half_days": (
        "Leave on a single day cannot start in the afternoon and end in the morning.",
        "Use `am` and `pm`, in this order, or omit both for the whole day.",
    ),
    "invalid_channel": (
        "This is not the id of a Slack channel.",
        "Copy the id from the channel's details in Slack; it looks like C0123ABCD.",
    ),
    "invalid_code": (
        "A code has lower-case letters, digits and single hyphens, such as study-leave.",
        "Remove spaces, capitals and other characters.",
    ),
    "invalid_colour": (
        "This is not a colour.",
        "Use #rrggbb, such as #2e86de.",
    ),
    "invalid_date": ("This date does not exist.", "Use YYYY-MM-DD, such as 2026-08-03."),
    "invalid_date_time": (
        "This is not a point in time.",
        "Use date, time and UTC offset, such as 2026-01-31T09:00:00Z.",
    ),
    "invalid_email": ("This is not an e-mail address.", "Use the form ada@example.com."),
    "invalid_emoji": (
        "This is not the short name of an emoji.",
        "Use Slack's name for it, such as palm_tree, with or without colons.",
    ),
    "invalid_idempotency_key": (
        "An `Idempotency-Key` has 1 to 255 printable ASCII characters, and the header is sent "
        "once.",
        "Use a random UUID.",
    ),
    "invalid_length": ("The text is empty or too long.", "`detail` says how long it may be."),
    "invalid_slug": (
        "A slug has lower-case letters, digits and single hyphens.",
        "Remove spaces, capitals and other characters.",
    ),
    "invalid_time": ("This is not a time of day.", "Use HH:MM, such as 09:00."),
    "invalid_value": ("The value cannot be used here.", "`detail` says what is expected."),
    "leave_type_archived": (
        "Leave of an archived type cannot be requested.",
        "Choose a type whose `is_archived` is false.",
    ),
    "manager_archived": (
        "An archived person cannot be a manager.",
        "Choose an active person.",
    ),
    "manager_cycle": (
        "The manager reports, directly or indirectly, to this person.",
        "Choose a manager outside the person's own reports.",
    ),
    "no_events": ("The list of events is empty.", "Send one or more events, or `*` for all."),
    "no_scopes": ("The list of scopes is empty.", "Send at least one scope."),
    "no_working_days": ("The list of working days is empty.", "Choose at least one working day."),
    "no_working_time": (
        "No day would count: these are non-working days or public holidays.",
        "Choose days on which the person works; no leave is needed for the others.",
    ),
    "not_a_boolean": ("The field must be true or false.", "Send true or false, unquoted."),
    "not_a_number": ("The parameter is not a whole number.", "Send digits only, such as 50."),
    "not_a_uuid": ("An id is a UUID.", "Copy the `id` from a response of this API."),
    "not_found": (
        "An id in the body or query does not exist in this organisation.",
        "Copy the id from a response of this API.",
    ),
    "not_half_days": (
        "Days must be from 0 to 366, in steps of a half.",
        "Send a number such as 25 or 12.5.",
    ),
    "not_one_of": ("Only certain values are possible.", "`detail` lists them."),
    "note_required": ("This leave type requires a note.", "Send `note` with the request."),
    "out_of_range": ("The number is too small or too large.", "`detail` names the bounds."),
    "out_of_reach": (
        "The leave is more than two years in the future or in the past.",
        "Choose dates that are closer to today.",
    ),
    "read_only": (
        "The member cannot be changed, and its value differs from the stored one.",
        "Omit it, or send the value that GET returns.",
    ),
    "repeated_field": ("A JSON object contains the same name twice.", "Send each field once."),
    "repeated_parameter": ("A query parameter was sent twice.", "Send it once."),
    "required": ("The field is missing, or null where it must not be.", "Send it."),
    "scope_not_held": (
        "A new key can only have scopes that the key in use has itself.",
        "Omit the others, or use a key that has them.",
    ),
    "too_little_notice": (
        "This leave type must be requested earlier (`min_notice_days`).",
        "Choose a later first day, or ask an admin to change the type.",
    ),
    "too_long": ("There are too many characters, entries or days.", "`detail` names the limit."),
    "too_many_days": (
        "This leave type allows fewer days in a row (`max_consecutive_days`).",
        "Request fewer days, or ask an admin to change the type.",
    ),
    "too_short": ("There are too few characters or entries.", "`detail` names the limit."),
    "unknown_country": (
        "No public holidays are known for this country or region.",
        "Use an ISO 3166-1 code of two letters, with a region where there is one: `GB-SCT`.",
    ),
    "unknown_emoji": (
        "Slack has no standard emoji with this name.",
        "Use one that every workspace has, such as palm_tree; custom emoji cannot be used.",
    ),
    "unknown_event": ("This event does not exist.", "`detail` lists the events."),
    "unknown_field": (
        "The body has a field that this operation does not know; it might be misspelt.",
        "Remove it, or compare its name with the documentation.",
    ),
    "unknown_half": (
        "This half of a day does not exist.",
        "Use am or pm, or null for the whole day.",
    ),
    "unknown_leave_type": (
        "This leave type does not exist.",
        "List them with `GET /api/v1/leave-types`.",
    ),
    "unknown_leave_year_type": (
        "This kind of leave year does not exist.",
        "Use calendar, fiscal or anniversary.",
    ),
    "unknown_parameter": (
        "The query has a parameter that this operation does not know. It is refused because a "
        "mistyped filter would return too much.",
        "Remove it, or compare its name with the documentation.",
    ),
    "unknown_role": (
        "This role does not exist.",
        "Use member, approver, admin or owner.",
    ),
    "unknown_scope": ("This scope does not exist.", "`detail` lists the scopes."),
    "unknown_timezone": (
        "This time zone does not exist.",
        "Use a name from the IANA database, such as Europe/London.",
    ),
    "unknown_variant": ("The variants are 1 and 2.", "Send one of them."),
    "unknown_working_day": (
        "This is not a working day.",
        "Use monday to sunday, or friday:am and friday:pm for half-days.",
    ),
    "url_has_user_info": (
        "The URL contains a user name or password.",
        "Remove it; receivers verify deliveries by their signature.",
    ),
    "url_invalid": ("This URL cannot be called.", "`detail` says what is wrong."),
    "url_not_https": ("Webhooks are sent over https only.", "Use an https:// URL."),
    "url_private_address": (
        "The URL leads to a private, loopback or otherwise internal address.",
        "Use a host that the internet can reach.",
    ),
    "user_not_active": (
        "The person is deactivated or archived and cannot have a key.",
        "Reactivate the person first, or choose another.",
    ),
    "working_hours_out_of_order": (
        "The day must start before midday, and midday must be before its end.",
        "Change `day_starts_at`, `midday_at` and `day_ends_at` together.",
    ),
    "wrong_format": ("The text does not have the expected form.", "`detail` describes it."),
    "wrong_type": (
        "The value has the wrong type, for example text instead of a number.",
        "Send numbers, true, false and null without quotation marks.",
    ),
}


def every_code() -> list[Code]:
    """Every code in alphabetical order."""
    return sorted([*_of_refusals(), *_of_form(), *_of_fields()])


def named(code: str) -> Code:
    """The code's row; of one that a field may have as well, the whole problem's."""
    return next(one for one in every_code() if one.code == code)


def of_refusal(kind: type[Refusal]) -> Code:
    """The code of one kind of refusal. Raises LookupError for one that nobody explained."""
    explained = next((one for one in EXPLAINED if type(one.example) is kind), None)
    if explained is None:
        raise LookupError(f"{kind.__name__} needs a row in api.http.error_codes.EXPLAINED.")
    return _of(explained)


def of_form(code: str) -> Code:
    """One of the codes that only HTTP knows. Raises LookupError."""
    found = next((one for one in _of_form() if one.code == code), None)
    if found is None:
        raise LookupError(f"{code} needs a row in api.http.error_codes.OF_FORM.")
    return found


def of_field(code: str) -> Code:
    """A field's code as the whole problem's. Raises LookupError."""
    if code not in OF_FIELDS:
        raise LookupError(f"{code} needs a row in api.http.error_codes.OF_FIELDS.")
    meaning, cure = OF_FIELDS[code]
    status = http.status_of(InvalidInput)
    return Code(
        code=code,
        status=status,
        title=InvalidInput.title,
        meaning=meaning,
        cure=cure,
        detail=meaning,
        members={},
    )


def _of(explained: Explained) -> Code:
    example, kind = explained.example, type(explained.example)
    return Code(
        code=kind.code,
        status=http.status_of(kind),
        title=kind.title,
        meaning=explained.meaning,
        cure=explained.cure,
        detail=example.detail,
        members=http.members(example),
    )


def _of_refusals() -> Iterator[Code]:
    return map(_of, (one for one in EXPLAINED))


def _of_form() -> Iterator[Code]:
    rows = {one.code: (one.status, one.title, one.title) for one in http.HTTP_REFUSALS}
    rows[http.HttpRefusal.code] = (http.HttpRefusal.status, http.HttpRefusal.title, "")
    for status, (code, title, detail) in http.HTTP_PROBLEMS.items():
        rows[code] = (status, title, detail)
    code, title, detail = http.OUTCOME_UNKNOWN
    rows[code] = (503, title, detail)
    for code, (status, title, detail) in rows.items():
        if code in OF_FORM:
            yield Code(code, status, title, *OF_FORM[code], detail or title, {})


def _of_fields() -> Iterator[Code]:
    return map(of_field, OF_FIELDS)
