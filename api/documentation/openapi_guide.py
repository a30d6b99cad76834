"""The document's prose: what somebody reads before the first call, and what each part is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# `{base_url}` is replaced. Code blocks are ready to be pasted into a shell.
GUIDE: Final = """\
Hiatus keeps the leave of organisations that live in Slack. This interface does whatever the Slack
app does: people and departments, leave requests and approvals, balances and public holidays,
calendar feeds and webhooks. It speaks JSON over HTTPS, and everything that is described here can
be tried from this page.

## The first five minutes

1. **Get a key.** In Slack: the Hiatus app, *Home*, *Settings*, *API keys*, *Create API key*. On
   the server: `hiatus keys create --email you@example.com --name trial`. `make run` prints two for
   its demo organisation. A key is shown once.
2. **Make a first call.** On this page press *Authorize*, paste the key, open an operation, press
   *Try it out* and *Execute*. In a shell:

```sh
BASE={base_url}
KEY='Authorization: Bearer hiatus_sk_live_...'
curl -s -H "$KEY" "$BASE/api/v1/leave-types"
```

3. **Ask for leave.** Take the `id` of a leave type from that answer. The dates are both included;
   `am` and `pm` cut the first or the last day in half.

```sh
curl -s -H "$KEY" -H 'Content-Type: application/json' -H 'Idempotency-Key: my-first-request' \\
  "$BASE/api/v1/leave-requests" \\
  -d '{"leave_type_id": "<leave type id>", "start_date": "2027-03-01", "end_date": "2027-03-03",
       "end_half_day": "am"}'
```

4. **Have it approved**, with the key of an approver, admin or owner; nobody decides on their own
   leave. The id is the leave request's.

```sh
curl -s -H "$KEY" "$BASE/api/v1/approvals/pending"
curl -s -H "$KEY" -X POST "$BASE/api/v1/approvals/<request id>/approve"
```

5. **See it in a calendar.** Subscribe to one of these paths in any calendar program.

```sh
curl -s -H "$KEY" "$BASE/api/v1/calendar-feeds/token"
curl -s "$BASE/cal/<token>"
```

## Keys, scopes and roles

Every request to `/api/v1` carries `Authorization: Bearer <key>`. A key belongs to one person of one
organisation and acts as that person: within the key's *scopes*, and within the person's *role*
(`member`, `approver`, `admin`, `owner`, each able to do what the ones before it can). Each
operation below names the scope that it needs; a `:write` scope includes the `:read` scope of the
same name. Too little of either is 403, and the problem says what is missing. A revoked key is
answered with 401 at once. Change keys by creating a new one, switching to it and revoking the old
one. Keep keys on servers, never in a browser or an app.

## Dates, half-days and ids

Dates are `YYYY-MM-DD`; points in time are in UTC, with a fraction of a second unless it is zero
(`2026-06-15T09:30:00.412000Z`); ids are UUIDs. Leave is counted in half-days and shown in days
(`4.5`): the halves that a person works, without those that are public holidays for that person.
What belongs to another organisation is answered exactly as if it did not exist.

## Lists

Lists hold 25 items unless `limit` says otherwise (up to 100; more gives 100):
`{"data": [...], "pagination": {"next_cursor": "...", "has_more": true}}`. Send `next_cursor` as
`cursor`, with the same filters, for the next page; on the last one it is null. Pages stay stable
while things are added. An unknown parameter is refused rather than ignored, because a mistyped
filter would return everything.

```sh
curl -s -H "$KEY" "$BASE/api/v1/leave-requests?status=approved&from=2027-01-01&limit=100"
```

## Two variants

`GET /users` answers with a bare array of full records, or, in variant 2, with
`{"users": [...]}` of short ones. Which one you get belongs to your key (`variant`, chosen when it
is made), and the header `API-Variant: 1` or `2` overrides it for one request. With `limit` or
`cursor`, both answer page by page. Leave has two shapes as well, at paths of their own:
`/leave-requests` (by leave type id, with half-days) and `/leave` (by leave type code, in whole
days). Both are the same leave.

## Repeating a request safely

Send an `Idempotency-Key` of your own with a POST, such as a random UUID. If the connection breaks,
send the same request with the same key again: it is carried out once, and the first answer comes
back for 24 hours, with the header `Idempotent-Replayed: true`. Without such a key, look before you
repeat a POST; all other methods are safe to repeat.

## Changing only what you have seen

A single thing comes with an `ETag`. Send it back as `If-None-Match` when you read it again, and the
answer is 304 without a body while nothing has changed; send it as `If-Match` with a PATCH or
DELETE, and the answer is 412 if somebody else was faster.

A PATCH changes the members that it sends. It may send the whole object as GET answered with it:
read-only members are accepted while they equal what is stored, else they are 422 `read_only`.

## Looking before a change that reaches far

Another working pattern, country, public holiday, manager or department, and archiving or
deactivating somebody, reach leave that was asked for long ago. `?dry_run=true` on such a change
answers 200 with what would follow and changes nothing: which requests would count what, what
people would have left before and after, which pending requests would await whom.

```sh
curl -s -H "$KEY" -H 'Content-Type: application/json' -X PATCH \\
  "$BASE/api/v1/users/<user id>?dry_run=true" -d '{"working_days": ["monday", "tuesday"]}'
```

## Limits

A key may send 600 requests a minute unless whoever runs the service chose another number; the
headers `RateLimit-Policy` and `RateLimit` say how many there are and how many are left, on every
answer to a request whose key was recognised. Beyond that the answer is 429 with `Retry-After`. A
body may have 256 KiB.

## Errors

Refusals are `application/problem+json` (RFC 9457). `code` is stable and made for programs, `detail`
for people; `errors` points at each wrong field; `type` leads to an explanation with the cure. All
of them are listed on the [errors page]({base_url}/docs/errors). A path that does not exist is 404,
a method that a path does not know is 405 with the header `Allow`. Quote `request_id` when you ask
for help.

```json
{
  "type": "{base_url}/docs/errors#no_working_time",
  "title": "A field breaks a rule.",
  "status": 422,
  "detail": "Nothing is left to take: these are days off or public holidays already.",
  "code": "no_working_time",
  "request_id": "5f0c1a7be2d94c3f8a6d0e4b9c7f2a11",
  "errors": [{"pointer": "/start_date", "code": "no_working_time", "detail": "..."}]
}
```

## Webhooks

Register a URL under *Webhooks* and events are sent to it as they happen, signed with the secret
that the registration answers with. What arrives is described in the part *Events*.

## Generating a client

[`/openapi.json`]({base_url}/openapi.json) is OpenAPI 3.1 and is made of the code that answers the
requests. Tools such as openapi-python-client and openapi-typescript generate clients from it.

## Compatibility

The version is part of the path. Within `v1`, fields, parameters, codes and events may be added, and
none is renamed, removed or given another meaning: ignore what you do not know."""

# In the order in which the documentation shows them.
TAGS: Final[Mapping[str, str]] = {
    "Users": (
        "The people of the organisation: roles, managers, working days, holidays. Archived people "
        "are kept for the record."
    ),
    "Departments": (
        "Groups of people. A department's manager approves for it, and it may have an allowance "
        "of its own."
    ),
    "Leave requests": (
        "Leave and its life: pending, approved, declined or cancelled. Every request is counted "
        "over the person's working days and public holidays and checked against overlap, "
        "allowance and the rules of its leave type."
    ),
    "Leave (second variant)": (
        "The same leave in a simpler shape: leave types by code, whole days, an object with "
        "`requests`."
    ),
    "Approvals": (
        "What awaits the caller. A request is up to the person's manager, else the department's "
        "manager, else the department's approvers, else admins and owners; when everybody on one "
        "step is away, the next step is asked too."
    ),
    "Balances": (
        "What somebody may still take in a leave year, as a ledger whose lines add up: allowance, "
        "what was carried over, adjustments, and leave that is pending or approved."
    ),
    "Leave types": "Kinds of leave, such as annual or sick leave, and the rules of each.",
    "Calendar feeds": (
        "iCalendar subscriptions. A feed's URL is all that is needed to read it, so treat it as a "
        "secret."
    ),
    "Organisation": "The organisation that the API key belongs to, and its settings.",
    "Public holiday sets": (
        "Which countries' and regions' public holidays are known. A person has those of their own "
        "country code, or else the organisation's."
    ),
    "Webhooks": (
        "Receivers of events, for admins and owners. What is sent to them is described under "
        "*Events*."
    ),
    "Audit": "What was changed, when, by whom and from where.",
    "API keys": "Keys for this interface, with scopes and an optional expiry.",
    "Health": "For load balancers and monitoring; without a key.",
    "Events": (
        "What is sent to webhooks, signed as [Standard Webhooks](https://www.standardwebhooks.com) "
        "describes. Check the signature over the bytes as they arrived, with any of its libraries "
        "and the webhook's secret; answer with a 2xx status within 15 seconds, and do the work "
        "afterwards. Anything else is tried again, after about 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, "
        "14 h, 20 h and 24 h; 410 switches the webhook off. An event may arrive more than once, "
        "always with the same bytes and the same `webhook-id`: drop those that you have seen. "
        "`data.sequence` grows with every event of one leave request."
    ),
}


def description(base_url: str) -> str:
    return GUIDE.replace("{base_url}", base_url)
