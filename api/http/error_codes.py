"""What every `code` of a problem means and what to do about it, for OpenAPI and the errors page.

`EXPLAINED` has one row for each refusal, `OF_FIELDS` one for each code that a single field may be
refused with. A code that is in neither fails the tests.
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
        InvalidInput(
            [
                FieldError("/end_date", "end_before_start", "It ends before it begins."),
                FieldError("/note", "note_required", "Annual leave needs a note."),
            ]
        ),
        "Several fields break a rule. `errors` has one entry for each, with a `pointer` to it. "
        "When only one field is wrong, the problem's own `code` is that field's code.",
        "Go through `errors`, correct every field and send the request again.",
    ),
    Explained(
        errors.NotFound("leave request"),
        "There is no such thing, or it belongs to another organisation, or you may not see it. "
        "The answer is the same in all three cases, so that ids cannot be guessed.",
        "Check the id, and that the key belongs to the right organisation and person.",
    ),
    Explained(
        errors.Unauthenticated(),
        "The header `Authorization` is missing or malformed, or the API key is unknown, expired "
        "or revoked, or the person behind it has been deactivated or archived.",
        "Send `Authorization: Bearer hiatus_sk_live_…`. If the key no longer works, make another.",
    ),
    Explained(
        errors.Forbidden("You may not do this."),
        "You are known, and this is not for you to do.",
        "Ask an admin or owner of your organisation.",
    ),
    Explained(
        errors.InsufficientRole("admin"),
        "The person behind the key needs a higher role; `needed_role` names the lowest that does.",
        "Use the key of somebody with that role, or ask an owner to change yours.",
    ),
    Explained(
        errors.InsufficientScope("leave:write"),
        "The key was made without a scope that this operation needs; `missing_scope` names it.",
        "Make a key that has the scope. A key's scopes cannot be changed afterwards.",
    ),
    Explained(
        errors.OwnRequest(),
        "Nobody approves or declines their own leave, whatever their role.",
        "Let another approver decide. Cancelling your own request is always possible.",
    ),
    Explained(
        errors.NotYourField(["role"]),
        "Apart from first name, last name and job title, only admins and owners change a person's "
        "record; `fields` lists what was too much.",
        "Leave those fields out, or ask an admin or owner.",
    ),
    Explained(
        leave_requests.NotYourApproval(),
        "You can see the request, and somebody else is asked to decide on it.",
        "`GET /api/v1/approvals/pending` lists what awaits you.",
    ),
    Explained(
        provisioning.NotAMember("You are not a member of this organisation."),
        "In Slack: the person is a guest, a bot or of another workspace, is no longer active here, "
        "has an e-mail address that Slack has not confirmed, or one that belongs to a person with "
        "another Slack account.",
        "Confirm the address in Slack, or ask an admin to add, reactivate or unlink the person.",
    ),
    Explained(
        slack_installations.NotLinked("An administrator can link it with `hiatus slack link`."),
        "While installing the Slack app: an organisation may be meant, and nothing proves that the "
        "installer speaks for it.",
        "Have an operator run `hiatus slack link`, then install again.",
    ),
    Explained(
        errors.Conflict("This clashes with how things stand."),
        "The request is sound, and does not fit the present state.",
        "Read the thing again and decide anew.",
    ),
    Explained(
        errors.InvalidTransition("approved", "cancelled"),
        "The leave request has moved on, and this step is no longer possible from its status, "
        "which `leave_status` names. Declined and cancelled leave stays as it is.",
        "Read the request again. For leave at other dates, make a new request.",
    ),
    Explained(
        errors.OverlappingLeave(
            _LEAVE_ID, date(2026, 8, 3), date(2026, 8, 7), begins_at_midday=True
        ),
        "The person already has pending or approved leave in one of these half-days; "
        "`leave_request_id` is that request.",
        "Choose other dates or halves, or edit or cancel the other request first.",
    ),
    Explained(
        errors.EmailTaken("ada@example.com"),
        "Another person of the organisation has this e-mail address. Upper and lower case make no "
        "difference. The address of an archived person is free.",
        "Look the person up with `GET /api/v1/users`, or use another address.",
    ),
    Explained(
        errors.CodeTaken("annual"),
        "Another leave type of the organisation has this code.",
        "Choose another code, or change the type that has it.",
    ),
    Explained(
        errors.NameTaken("Research", _LEAVE_ID),
        "Another department, or another leave type that is not archived, has this name. Small and "
        "capital letters make no difference.",
        "Use the one that exists, `other_id` is its id, or choose another name.",
    ),
    Explained(
        errors.AlreadyExists("There is a set for GB-SCT already."),
        "The same thing was set up before.",
        "Use the one that exists; the list shows it.",
    ),
    Explained(
        errors.LastOwner(),
        "An organisation keeps at least one active owner, so this one can be neither demoted nor "
        "deactivated nor archived.",
        "Make somebody else an owner first.",
    ),
    Explained(
        errors.InUse("People belong to this department."),
        "Something still refers to it, so it cannot be deleted.",
        "Move what refers to it, then delete it.",
    ),
    Explained(
        holiday_set_removal.HolidaySetInUse("People go by these public holidays."),
        "The organisation, or somebody who is not archived, goes by these public holidays.",
        "Give them another country code, then delete the set.",
    ),
    Explained(
        holiday_overrides.TooManyOverrides(),
        "The holiday set has as many overrides as it may have.",
        "Delete one that lies in the past.",
    ),
    Explained(
        adjustments.TooManyAdjustments(),
        "The person's leave year has as many adjustments as it may have.",
        "Put several corrections into one.",
    ),
    Explained(
        people_file.BadLines([FieldError("/3/email", "invalid_email", "This is no address.")]),
        "Only for `hiatus import`: lines of the file break rules, and nothing was imported.",
        "Correct the lines that are listed and run the command again.",
    ),
    Explained(
        people_import.FileOvertaken(),
        "Only for `hiatus import`: somebody added a person of the file while it was read, and "
        "nothing was imported.",
        "Run the command again.",
    ),
    Explained(
        errors.CannotArchiveSelf(),
        "Nobody archives or deactivates themselves.",
        "Ask another admin or owner.",
    ),
    Explained(
        people.UserPending(),
        "A pending user has never used the service, and is not reactivated.",
        "Wait for their first use of Slack, or make them an API key: both activate them.",
    ),
    Explained(
        people.UserArchived(),
        "An archived person is kept for the record and cannot be changed.",
        "Restore the person first (`POST /users/{id}/restore`), or create a new one.",
    ),
    Explained(
        people_rows.ChangedMeanwhile(),
        "Somebody else changed the same thing between your request's reading and writing it.",
        "Read it again and repeat the change if it is still wanted.",
    ),
    Explained(
        feeds.FeedTokenUnreadable(),
        "The server lost the secret key that the token was encrypted with, and the operator "
        "accepted the loss. Calendars that know the token go on working.",
        "Make a new token with `POST /calendar-feeds/regenerate`, which ends the old one.",
    ),
    Explained(
        feeds.TooManyFeeds(),
        "The person has as many calendar feeds as one may have.",
        "Delete one that is no longer used.",
    ),
    Explained(
        webhooks.TooManyWebhooks(),
        "The organisation has as many webhooks as it may have.",
        "Delete one, or let one receiver take several events.",
    ),
    Explained(
        deliveries.WebhookDisabled(),
        "The webhook is switched off, so nothing is sent to it.",
        "PATCH it with `is_active` true, then try again.",
    ),
    Explained(
        errors.InsufficientAllowance(5, 9, "2026"),
        "One of the leave years that the request touches has too few days left; `leave_year`, "
        "`remaining_days` and `needed_days` say which and by how much.",
        "Ask for fewer days, or for a leave type that may be overdrawn, or have an admin adjust "
        "the allowance.",
    ),
    Explained(
        IdempotencyAnswerUnreadable(201),
        "The request was sent before with this `Idempotency-Key`, and answered with the status "
        "that `detail` names. The server has lost the secret key that the answer was encrypted "
        "with, and the operator accepted the loss. The request was not carried out a second time.",
        "Look at the current state. Make a new key for a new request.",
    ),
    Explained(
        IdempotencyInProgress(),
        "The first request with this `Idempotency-Key` is still being carried out.",
        "Wait as many seconds as `Retry-After` says and send the same request again: you get the "
        "first one's answer.",
    ),
    Explained(
        IdempotencyKeyReused(),
        "The `Idempotency-Key` was used in the last 24 hours for a request with another path, "
        "query or body.",
        "Make a new key for every new request, and keep it only to repeat that request.",
    ),
    Explained(
        errors.UnusableCursor(),
        "The cursor was altered, or comes from another list, filter, sort or organisation.",
        "Send `next_cursor` as it was given, with the same parameters, or start without a cursor.",
    ),
)

# Refusals for the form of a request, and what the server itself answers.
OF_FORM: Final[Mapping[str, tuple[str, str]]] = {
    "bad_request": (
        "The request does not follow HTTP, so its meaning is unknown.",
        "Compare it with the examples in the documentation.",
    ),
    "invalid_json": (
        "The body is empty, is not JSON, or is not valid UTF-8.",
        "Send a JSON object, and check quotation marks, commas and encoding.",
    ),
    "body_too_large": (
        "A body may have 256 KiB.",
        "Send less at once.",
    ),
    "unsupported_media_type": (
        "Bodies are JSON, and the request says that this one is something else.",
        "Send the header `Content-Type: application/json`.",
    ),
    "method_not_allowed": (
        "The path exists, and does not know this method; the header `Allow` lists those it knows.",
        "Use one of those.",
    ),
    "precondition_failed": (
        "The thing is no longer as `If-Match` says: somebody changed it since you read it. "
        "Nothing was changed now.",
        "Read it again, decide anew, and send the `ETag` that it then has.",
    ),
    "rate_limited": (
        "The API key, feed or address has sent more requests than it may. The headers `RateLimit` "
        "and `RateLimit-Policy` show what is left, on every answer.",
        "Wait as many seconds as `Retry-After` says. Spread requests out, and ask for more items "
        "in each (`limit`).",
    ),
    "internal_error": (
        "Something broke on our side. It was logged under the request's id.",
        "Try again. If it happens again, tell whoever runs the service the `request_id`.",
    ),
    "unavailable": (
        "The database cannot be reached at the moment. Nothing was changed.",
        "Wait as many seconds as `Retry-After` says and send the same request again.",
    ),
    "outcome_unknown": (
        "The connection to the database was lost while the change was being saved. It may or may "
        "not have been saved.",
        "Send a `POST` again with the same `Idempotency-Key`: it is carried out once. Without one, "
        "and for other methods, read what there is before you repeat the request.",
    ),
}

OF_FIELDS: Final[Mapping[str, tuple[str, str]]] = {
    "contains_nul": ("The text contains the character NUL.", "Remove it."),
    "control_character": (
        "The text contains control characters, characters that change the direction of the text "
        "(U+202A to U+202E, U+2066 to U+2069), or line breaks where one line is meant.",
        "Remove the character that `detail` names.",
    ),
    "duplicate_working_day": ("A working day is listed twice.", "List each half-day once."),
    "end_before_start": (
        "The last day lies before the first.",
        "Swap the dates; both are included in the leave.",
    ),
    "expiry_in_past": ("The key would expire before it is made.", "Give a time in the future."),
    "impossible_date": (
        "A leave year cannot begin on this day, such as 31 February.",
        "Give a month from 1 to 12 and a day that it has every year.",
    ),
    "impossible_half_days": (
        "Leave on a single day cannot begin in the afternoon and end in the morning.",
        "Use `am` and `pm`, in this order, or leave both out for the whole day.",
    ),
    "invalid_channel": (
        "This is no Slack channel's id.",
        "Copy the id from the channel's details in Slack; it looks like C0123ABCD.",
    ),
    "invalid_code": (
        "A code has small letters, digits and single hyphens, such as study-leave.",
        "Leave out spaces, capitals and other characters.",
    ),
    "invalid_colour": (
        "This is no colour.",
        "Write #rrggbb, such as #2e86de.",
    ),
    "invalid_date": ("This is no date that exists.", "Write YYYY-MM-DD, such as 2026-08-03."),
    "invalid_date_time": (
        "This is no point in time.",
        "Write date, time and UTC offset, such as 2026-01-31T09:00:00Z.",
    ),
    "invalid_email": ("This is no e-mail address.", "Write it as ada@example.com."),
    "invalid_emoji": (
        "This is no emoji's short name.",
        "Use Slack's name for it, such as palm_tree; colons may stand around it.",
    ),
    "invalid_idempotency_key": (
        "An `Idempotency-Key` has 1 to 255 printable ASCII characters, and is sent once.",
        "Use a random UUID.",
    ),
    "invalid_length": ("The text is empty or too long.", "`detail` says how long it may be."),
    "invalid_slug": (
        "A slug has small letters, digits and single hyphens.",
        "Leave out spaces, capitals and other characters.",
    ),
    "invalid_time": ("This is no time of day.", "Write HH:MM, such as 09:00."),
    "invalid_value": ("The value cannot be used here.", "`detail` says what is expected."),
    "leave_type_archived": (
        "Nobody can ask for leave of an archived type.",
        "Choose a type whose `is_archived` is false.",
    ),
    "manager_archived": (
        "An archived person cannot manage anybody.",
        "Choose an active person.",
    ),
    "manager_cycle": (
        "The manager would report, in the end, to the very person.",
        "Choose somebody outside the person's own reports.",
    ),
    "no_events": ("The list of events is empty.", "Name one or more events, or `*` for all."),
    "no_scopes": ("The list of scopes is empty.", "Name at least one scope."),
    "no_working_days": ("The list of working days is empty.", "Name at least one working day."),
    "no_working_time": (
        "Nothing would be counted: these days are days off or public holidays already.",
        "Choose days on which the person works; no leave is needed for the others.",
    ),
    "not_a_boolean": ("The field is either true or false.", "Send true or false, unquoted."),
    "not_a_number": ("The parameter is not a whole number.", "Send digits only, such as 50."),
    "not_a_uuid": ("An id is a UUID.", "Copy the `id` from an answer of this interface."),
    "not_found": (
        "An id in the body or query leads to nothing in this organisation.",
        "Copy the id from an answer of this interface.",
    ),
    "not_half_days": (
        "Days are counted from 0 to 366 in steps of a half.",
        "Send a number such as 25 or 12.5.",
    ),
    "not_one_of": ("Only certain words are possible.", "`detail` lists them."),
    "note_required": ("This leave type asks for a note.", "Send `note` with the request."),
    "out_of_range": ("The number is too small or too large.", "`detail` names the bounds."),
    "out_of_reach": (
        "The leave lies more than two years ahead or back.",
        "Choose dates that are closer to today.",
    ),
    "read_only": (
        "The member cannot be changed, and its value differs from the stored one.",
        "Leave it out, or send the value that GET answers with.",
    ),
    "repeated_field": ("A name stands in one JSON object twice.", "Send each field once."),
    "repeated_parameter": ("A query parameter was sent twice.", "Send it once."),
    "required": ("The field is missing, or null where it must not be.", "Send it."),
    "scope_not_held": (
        "A new key can have only scopes that the key in use has itself.",
        "Leave the others out, or use a key that has them.",
    ),
    "too_little_notice": (
        "This leave type has to be asked for earlier (`min_notice_days`).",
        "Choose a later first day, or have an admin change the type.",
    ),
    "too_long": ("There are too many characters, entries or days.", "`detail` names the limit."),
    "too_many_days": (
        "This leave type allows fewer days in a row (`max_consecutive_days`).",
        "Ask for fewer days, or have an admin change the type.",
    ),
    "too_short": ("There are too few characters or entries.", "`detail` names the limit."),
    "unknown_country": (
        "No public holidays are known for this country or region.",
        "Use an ISO 3166-1 code of two letters, with a region where there is one: `GB-SCT`.",
    ),
    "unknown_emoji": (
        "Slack has no standard emoji of this name.",
        "Use one that every workspace has, such as palm_tree; custom emoji cannot be used.",
    ),
    "unknown_event": ("There is no such event.", "`detail` lists the events that there are."),
    "unknown_field": (
        "The body has a field that this operation does not know; it might be misspelt.",
        "Remove it, or compare its name with the documentation.",
    ),
    "unknown_half": ("There is no such half of a day.", "Use am or pm, or null for all of it."),
    "unknown_leave_type": (
        "There is no such leave type.",
        "List them with `GET /api/v1/leave-types`.",
    ),
    "unknown_leave_year_type": (
        "There is no such kind of leave year.",
        "Use calendar, fiscal or anniversary.",
    ),
    "unknown_parameter": (
        "The query has a parameter that this operation does not know. It is refused because a "
        "mistyped filter would return too much.",
        "Remove it, or compare its name with the documentation.",
    ),
    "unknown_role": (
        "There is no such role.",
        "Use member, approver, admin or owner.",
    ),
    "unknown_scope": ("There is no such scope.", "`detail` lists the scopes that there are."),
    "unknown_timezone": (
        "There is no such time zone.",
        "Use a name of the IANA database, such as Europe/London.",
    ),
    "unknown_variant": ("There are the variants 1 and 2.", "Send one of them."),
    "unknown_working_day": (
        "This is no working day.",
        "Use monday to sunday, or friday:am and friday:pm for half-days.",
    ),
    "url_has_user_info": (
        "The URL contains a user name or password.",
        "Remove it; deliveries are recognised by their signature.",
    ),
    "url_invalid": ("This is no URL that could be called.", "`detail` says what is wrong."),
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
        "The day has to start before midday, and midday has to come before its end.",
        "Change `day_starts_at`, `midday_at` and `day_ends_at` together.",
    ),
    "wrong_format": ("The text does not have the expected form.", "`detail` describes it."),
    "wrong_type": (
        "The value has another type, such as a text where a number is meant.",
        "Numbers, true, false and null are sent without quotation marks.",
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
    return Code(code, status, InvalidInput.title, meaning, cure, meaning, {})


def _of(explained: Explained) -> Code:
    example, kind = explained.example, type(explained.example)
    return Code(
        kind.code,
        http.status_of(kind),
        kind.title,
        explained.meaning,
        explained.cure,
        example.detail,
        http.members(example),
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
