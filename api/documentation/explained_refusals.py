"""Domain errors: an example of each, its meaning and its cure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final

from storage.access import display_links, feeds
from storage.access.idempotency import (
    IdempotencyAnswerUnreadable,
    IdempotencyInProgress,
    IdempotencyKeyReused,
)
from storage.admin import (
    channel_digests,
    employment_records,
    holiday_overrides,
    holiday_set_changes,
    people_status,
)
from storage.base import errors
from storage.base.errors import DomainError, FieldError, InvalidInput
from storage.cli import people_file, people_import
from storage.directory import people_changes
from storage.leave import adjustments, decisions, leave_types
from storage.slack import join_policy, slack_workspaces
from storage.webhooks import delivery_log, webhooks

_LEAVE_ID: Final = "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"


@dataclass(frozen=True, kw_only=True, slots=True)
class Explained:
    """A domain error."""

    example: DomainError
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
        meaning="No one can approve or decline their own leave, in any role.",
        cure="Let another approver decide. Cancelling your own request is always possible.",
    ),
    Explained(
        example=errors.RecordingNotAllowed(),
        meaning="You do not decide on the leave of the person in `user_id`; only admins and owners "
        "record leave for everyone.",
        cure="Ask one of the person's approvers, an admin or an owner.",
    ),
    Explained(
        example=errors.LeaveTypeNotRecordable("Annual leave"),
        meaning="Approvers record only leave types with `approvers_may_record` for others.",
        cure="Ask an admin or owner to record it, or the person to request it.",
    ),
    Explained(
        example=errors.OverrideNotAllowed(),
        meaning="Only admins and owners can send `override_reason`.",
        cure="Leave it out, or ask an admin or owner to record the leave.",
    ),
    Explained(
        example=errors.NotYourField(["role"]),
        meaning="Apart from first name, last name and job title, only admins and owners change a "
        "person's record; `fields` lists the fields that you may not change.",
        cure="Leave those fields out, or ask an admin or owner.",
    ),
    Explained(
        example=decisions.NotYourApproval(),
        meaning="You can see the request, but other people are its approvers.",
        cure="`GET /api/v1/approvals/pending` lists the requests that you may decide.",
    ),
    Explained(
        example=join_policy.NotAMember("You are not a member of this organisation."),
        meaning="In Slack: the person is a guest, a bot or a member of another workspace, is no "
        "longer active here, or has an e-mail address that Slack has not confirmed or that "
        "belongs to a person with another Slack account.",
        cure="Confirm the address in Slack, or ask an admin to add, reactivate or unlink the "
        "person.",
    ),
    Explained(
        example=slack_workspaces.NotLinked(
            "An administrator can link it with `hiatus slack link`."
        ),
        meaning="While installing the Slack app: an existing organisation may be meant, but "
        "nothing proves that the installer may act for it.",
        cure="Ask an operator to run `hiatus slack link`, then install the app again.",
    ),
    Explained(
        example=errors.InvalidTransition("approved", "cancelled"),
        meaning="This action is not possible in the leave request's current status, which "
        "`leave_status` names. Declined and cancelled leave cannot be changed.",
        cure="Read the request again. For leave on other dates, create a new request.",
    ),
    Explained(
        example=errors.AlreadyObjected(),
        meaning="In Slack: an objection to leave that was recorded for you is sent once.",
        cure="Talk to the person who recorded it, or cancel the leave.",
    ),
    Explained(
        example=errors.AmendmentEnded("replaced"),
        meaning="In Slack: the change of approved leave whose buttons were used was decided, "
        "withdrawn or replaced, or the leave was changed or cancelled.",
        cure="Decide on the change that the newest message shows.",
    ),
    Explained(
        example=errors.DaysNoLongerFit(errors.InsufficientAllowance(2, 4, "2026")),
        meaning="The days of a cancelled interruption would go back to leave that uses the "
        "allowance, but they have been used otherwise since; `leave_year`, `remaining_days` and "
        "`needed_days` say which and by how much.",
        cure="Cancel or shorten other leave of that year first, or ask an admin to adjust the "
        "allowance.",
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
        example=holiday_set_changes.HolidaySetInUse(
            "The public holidays of GB still apply to people (3)."
        ),
        meaning="The organisation, or a person who is not archived, has these public holidays.",
        cure="Give them another country code first, then delete the set.",
    ),
    Explained(
        example=employment_records.EmploymentRecordExists(date(2026, 6, 1)),
        meaning="Each of a person's employment records begins on a day of its own.",
        cure="Change the record of that day, or choose another day.",
    ),
    Explained(
        example=employment_records.FirstEmploymentRecord(),
        meaning="A person always has a first employment record.",
        cure="Change it, or delete a later one.",
    ),
    Explained(
        example=employment_records.TooManyRecords(),
        meaning="A person can have at most 100 employment records.",
        cure="Delete records that no longer matter.",
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
        example=people_status.UserPending(),
        meaning="A pending user has never used Hiatus, so there is nothing to reactivate.",
        cure="Wait until they use Hiatus in Slack, or create an API key for them: both activate "
        "them.",
    ),
    Explained(
        example=people_status.UserArchived(),
        meaning="An archived person is kept for the record and cannot be changed.",
        cure="Restore the person first (`POST /users/{id}/restore`), or create a new one.",
    ),
    Explained(
        example=people_changes.ChangedMeanwhile(),
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
        example=leave_types.TooManyLeaveTypes(),
        meaning="The organisation has reached the limit for leave types in use.",
        cure="Archive one that is no longer requested, then add or restore this one.",
    ),
    Explained(
        example=display_links.TooManyDisplayLinks(),
        meaning="The organisation has reached the limit for display links.",
        cure="Remove one that no screen shows.",
    ),
    Explained(
        example=channel_digests.TooManyDigests(),
        meaning="The organisation has reached the limit for digests.",
        cure="Delete one that no channel needs.",
    ),
    Explained(
        example=webhooks.TooManyWebhooks(),
        meaning="The organisation has reached the limit for webhooks.",
        cure="Delete one, or let one endpoint receive several events.",
    ),
    Explained(
        example=delivery_log.WebhookDisabled(),
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
