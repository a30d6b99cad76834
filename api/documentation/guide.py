"""The text of the OpenAPI document: a guide, and a description of each tag."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# `{base_url}` is replaced. Code blocks are ready to be pasted into a shell.
GUIDE: Final = """\
Hiatus manages leave for organisations that use Slack. This API does everything that the Slack app
does: people and departments, leave requests and approvals, balances and public holidays, calendar
feeds and webhooks. It uses JSON over HTTPS, and you can try every operation on this page.

## The first five minutes

1. **Get a key.** In Slack: the Hiatus app, *Home*, *Settings*, *API keys*, *Create API key*. On
   the server: `hiatus keys create --email you@example.com --name trial`. `make run` prints two for
   its demo organisation. A key is shown only once.
2. **Make a first call.** On this page press *Authorize*, paste the key, open an operation, press
   *Try it out* and *Execute*. In a shell:

```sh
BASE={base_url}
KEY='Authorization: Bearer hiatus_sk_live_...'
curl -s -H "$KEY" "$BASE/api/v1/leave-types"
```

3. **Request leave.** Take the `id` of a leave type from that response. Both dates are included;
   `am` and `pm` make the first or the last day a half-day.

```sh
curl -s -H "$KEY" -H 'Content-Type: application/json' -H 'Idempotency-Key: my-first-request' \\
  "$BASE/api/v1/leave-requests" \\
  -d '{"leave_type_id": "<leave type id>", "start_date": "2027-03-01", "end_date": "2027-03-03",
       "end_half_day": "am"}'
```

4. **Approve it** with the key of an approver, admin or owner; no one can decide on their own leave.
   The id is the leave request's.

```sh
curl -s -H "$KEY" "$BASE/api/v1/approvals/pending"
curl -s -H "$KEY" -X POST "$BASE/api/v1/approvals/<request id>/approve"
```

   An admin can also record leave for another person, which is approved at once: add their `user_id`
   to the body of step 3.

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
same name. A missing scope or too low a role is 403, and the problem says what is missing. A revoked
key is 401 at once. To rotate a key, create a new one, switch to it and revoke the old one. Keep
keys on servers, never in a browser or an app.

## Dates, half-days and ids

Dates are `YYYY-MM-DD`; points in time are in UTC, with a fraction of a second unless it is zero
(`2026-06-15T09:30:00.412000Z`); ids are UUIDs. Leave is counted in half-days and shown in days
(`4.5`): the halves that the person works, without their public holidays. A resource of another
organisation is 404, as if it did not exist.

## Lists

Lists have 25 items unless you send `limit` (up to 100; more gives 100):
`{"data": [...], "pagination": {"next_cursor": "...", "has_more": true}}`. Send `next_cursor` as
`cursor`, with the same filters, for the next page; on the last one it is null. Pages stay stable
while items are added. An unknown parameter is refused rather than ignored, because a misspelt
filter would return everything.

```sh
curl -s -H "$KEY" "$BASE/api/v1/leave-requests?status=approved&from=2027-01-01&limit=100"
```

## Two variants

`GET /users` returns a bare array of full records or, in variant 2,
`{"users": [...]}` of short ones. Your key decides which one you get (`variant`, chosen when the key
is created), and the header `API-Variant: 1` or `2` overrides it for one request. With `limit` or
`cursor`, both are paginated. Leave has two shapes as well, at paths of their own: `/leave-requests`
(by leave type id, with half-days) and `/leave` (by leave type code, in whole days). Both are the
same leave.

## Idempotent requests

Send an `Idempotency-Key` of your own with a POST, such as a random UUID. If the connection breaks,
send the same request with the same key again: it is carried out once, and for 24 hours you get the
first response, with the header `Idempotent-Replayed: true`. Without such a key, check before you
repeat a POST; all other methods are safe to repeat.

## Conditional requests

A single resource has an `ETag`. Send it as `If-None-Match` when you read the resource again, and
the response is 304 without a body while nothing has changed. Send it as `If-Match` with a PATCH or
DELETE, and the response is 412 if the resource has changed since.

A PATCH changes the members that you send. You may send the whole object as GET returned it:
read-only members are accepted if they equal the stored values, else they are 422 `read_only`.

## Dry runs

A change of working days, country, public holidays, manager or department affects leave that was
requested long ago, and so does archiving or deactivating a person. `?dry_run=true` on such a change
returns 200 with the effect and changes nothing: which requests would count differently, balances
before and after, and the new approvers of pending requests.

```sh
curl -s -H "$KEY" -H 'Content-Type: application/json' -X PATCH \\
  "$BASE/api/v1/users/<user id>?dry_run=true" -d '{"working_days": ["monday", "tuesday"]}'
```

## Limits

A key may send 600 requests a minute unless the operator chose another number. The headers
`RateLimit-Policy` and `RateLimit` show the limit and how many requests are left, on every response
to a valid key. Beyond that the response is 429 with `Retry-After`. A body can have at most 256 KiB.

## Errors

Errors are `application/problem+json` (RFC 9457). `code` is stable and for programs, `detail` is for
people; `errors` points at each wrong field; `type` is a link to an explanation and what to do. The
[errors page]({base_url}/docs/errors) lists all of them. A path that does not exist is 404, a method
that a path does not support is 405 with the header `Allow`. Quote `request_id` when you ask for
help.

```json
{
  "type": "{base_url}/docs/errors#no_working_time",
  "title": "A field is invalid.",
  "status": 422,
  "detail": "You're not working on any of these days.",
  "code": "no_working_time",
  "request_id": "5f0c1a7be2d94c3f8a6d0e4b9c7f2a11",
  "errors": [{"pointer": "/start_date", "code": "no_working_time", "detail": "..."}]
}
```

## Webhooks

Register a URL under *Webhooks* and events are sent to it as they happen, signed with the secret in
the response to the registration. *Events* describes what arrives.

## Generating a client

[`/openapi.json`]({base_url}/openapi.json) is OpenAPI 3.1 and is made from the code that serves the
requests. Tools such as openapi-python-client and openapi-typescript generate clients from it.

## Compatibility

The version is part of the path. Within `v1`, fields, parameters, codes and events may be added, but
none is renamed, removed or given another meaning. Ignore those that you do not know."""

# Of what is not an operation.
TAGS: Final[Mapping[str, str]] = {
    "Health": "For load balancers and monitoring; without a key.",
    "Events": (
        "What is sent to webhooks, signed as [Standard Webhooks](https://www.standardwebhooks.com) "
        "describes. Check the signature over the bytes as they arrived, with any of its libraries "
        "and the webhook's secret; respond with a 2xx status within 15 seconds, and do the work "
        "afterwards. Anything else is retried after about 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, "
        "14 h, 20 h and 24 h; 410 disables the webhook. An event may arrive more than once, "
        "always with the same bytes and the same `webhook-id`: ignore those that you have seen. "
        "`data.sequence` grows with every event of one leave request."
    ),
}


def description(base_url: str) -> str:
    return GUIDE.replace("{base_url}", base_url)


WEBHOOK_HEADERS: Final = [
    {
        "name": "webhook-id",
        "in": "header",
        "required": True,
        "description": "The event's id, the same on every attempt.",
        "schema": {"type": "string", "format": "uuid"},
        "example": "0197c2a4-9d20-7e66-8a31-50fb7c2d4e12",
    },
    {
        "name": "webhook-timestamp",
        "in": "header",
        "required": True,
        "description": "When this attempt was made, in seconds since 1970. Reject it if it differs "
        "from your clock by minutes.",
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
        "example": "1781615100",
    },
    {
        "name": "webhook-signature",
        "in": "header",
        "required": True,
        "description": "`v1,` and the base64 of the HMAC-SHA256 over "
        "`<webhook-id>.<webhook-timestamp>.<body>`. While a secret is being rotated there are two "
        "signatures, space-separated.",
        "schema": {"type": "string"},
        "example": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
    },
]
WEBHOOK_RESPONSES: Final = {
    "2XX": {
        "description": "Accepted. The first 4 KiB of the response are kept in the delivery log."
    },
    "410": {"description": "Gone: the webhook is disabled immediately."},
    "default": {
        "description": "Retried later; redirects are not followed. After a 429, the next attempt "
        "is at least a minute later, and `Retry-After` is respected within bounds."
    },
}
