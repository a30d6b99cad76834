"""The tools as models see them, with the SDK. The docstring of each is its description for models.

Stateless with JSON responses, so that any process serves any request. The check of ``Host`` is off:
``callers.check_origin`` keeps other websites out, and proxies check names.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from typing import Annotated, Final, Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import ToolAnnotations
from pydantic import AfterValidator, Field
from typing_extensions import TypedDict

from api.base.version import VERSION
from api.http.errors import Unavailable
from api.http.fields import MAX_BODY_BYTES
from api.http.operations import Services
from api.mcp import tools
from api.mcp.callers import CALL, Call, SlackPeople
from api.mcp.tools import (
    LeavePreview,
    MyBalance,
    PendingApprovals,
    PeopleFound,
    WhoIsOut,
)
from storage.base.errors import (
    DatabaseUnavailable,
    DomainError,
    InsufficientScope,
    InvalidInput,
    Unauthenticated,
)
from storage.base.leave_values import HalfDay
from storage.base.values import Caller, Scope
from storage.workspaces.join_policy import CannotReachInSlack

_INSTRUCTIONS: Final = (
    "Hiatus manages leave. You act for one person and see what they see. Amounts are working days "
    "in steps of 0.5; dates are YYYY-MM-DD, last days included. Preview leave before you request "
    "it. A request is never sent by you: the person gets a card in Slack and sends it themselves."
)
_READS: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_OFFERS: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
_LINE_BREAKS: Final = "\t\n\r"


def _plain(text: str) -> str:
    for letter in text:
        if letter not in _LINE_BREAKS and unicodedata.category(letter) in ("Cc", "Cs"):
            raise ValueError("Control characters are not allowed.")
    return text


LeaveType = Annotated[
    str,
    Field(max_length=100, description="A leave type's code or name, as `my_balance` lists them."),
    AfterValidator(_plain),
]
FirstDay = Annotated[date, Field(description="The first day of leave, YYYY-MM-DD.")]
LastDay = Annotated[date, Field(description="The last day of leave, included; the same for one.")]
FirstHalf = Annotated[
    HalfDay | None,
    Field(description="`pm` if leave begins at midday of the first day; null for the whole day."),
]
LastHalf = Annotated[
    HalfDay | None,
    Field(description="`am` if leave ends at midday of the last day; null for the whole day."),
]
Note = Annotated[
    str | None,
    Field(max_length=500, description="A note for the approvers; null for none."),
    AfterValidator(lambda note: note if note is None else _plain(note)),
]


class Offered(TypedDict):
    """The card was sent to the person in Slack; nothing was requested yet."""

    status: Literal["awaiting_confirmation"]
    preview: LeavePreview
    next_step: Annotated[str, Field(description="What to tell the person.")]


def session_manager(services: Services, slack: SlackPeople | None) -> StreamableHTTPSessionManager:
    """The SDK's handler of requests, whose scope has a ``Call``."""
    server = MCPServer(
        "hiatus",
        title="Hiatus",
        instructions=_INSTRUCTIONS,
        version=VERSION,
        website_url=services.base_url,
        # Nothing changes while a client listens.
        subscriptions=False,
    )
    _register(server, services, slack)
    server.streamable_http_app(
        json_response=True,
        stateless_http=True,
        max_request_body_size=MAX_BODY_BYTES,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return server.session_manager


def _register(server: MCPServer, services: Services, slack: SlackPeople | None) -> None:
    read = services.database.read

    @server.tool(title="My balance", annotations=_READS)
    async def my_balance(
        ctx: Context,
        on: Annotated[
            date | None, Field(description="The day of the figures, YYYY-MM-DD; null for today.")
        ] = None,
    ) -> MyBalance:
        """How many days of leave the person has left, in each allowance, and which leave types
        they can ask for. Leave that lies ahead is counted as taken."""
        with _as_tool_errors():
            by, now = await _admitted(ctx, "leave:read")
            return await read(tools.my_balance, by=by, now=now, on=on)

    @server.tool(title="Who is out", annotations=_READS)
    async def who_is_out(
        ctx: Context,
        first_day: Annotated[
            date | None, Field(description="The first day, YYYY-MM-DD; null for today.")
        ] = None,
        last_day: Annotated[
            date | None, Field(description="The last day, included; null for the first day.")
        ] = None,
        scope: Annotated[
            Literal["team", "everyone"],
            Field(description="The person's own team, or the whole organisation."),
        ] = "everyone",
    ) -> WhoIsOut:
        """Who is on approved leave on a day or in a period of at most 92 days. Answers "is Grace in
        tomorrow?" and "who is out next week?". The first 50 absences; private leave is "Away"."""
        with _as_tool_errors():
            by, now = await _admitted(ctx, "leave:read")
            return await read(
                tools.who_is_out,
                by=by,
                now=now,
                first_day=first_day,
                last_day=last_day,
                scope=scope,
            )

    @server.tool(title="Preview leave", annotations=_READS)
    async def preview_leave(
        ctx: Context,
        leave_type: LeaveType,
        start_date: FirstDay,
        end_date: LastDay,
        start_half_day: FirstHalf = None,
        end_half_day: LastHalf = None,
        note: Note = None,
    ) -> LeavePreview:
        """What would happen if the person requested this leave: how many working days it counts,
        what is left afterwards, who decides, who else is off, and what would refuse it. Nothing is
        stored and no one is told."""
        days = (start_date, end_date, start_half_day, end_half_day)
        with _as_tool_errors():
            by, now = await _admitted(ctx, "leave:read")
            draft = await read(tools.draft_of, leave_type, days, note, by=by)
            return await read(tools.preview_leave, draft, by=by, now=now)

    @server.tool(title="Pending approvals", annotations=_READS)
    async def pending_approvals(ctx: Context) -> PendingApprovals:
        """The leave requests that await the person's decision, oldest first, at most 50. They
        decide in Slack: no tool approves or declines."""
        with _as_tool_errors():
            by, now = await _admitted(ctx, "approvals:read")
            return await read(tools.pending_approvals, by=by, now=now)

    @server.tool(title="Find people", annotations=_READS)
    async def find_people(
        ctx: Context,
        words: Annotated[
            str,
            Field(min_length=1, max_length=100, description="A part of a name or an address."),
            AfterValidator(_plain),
        ],
    ) -> PeopleFound:
        """Active people of the organisation whose name or e-mail address contains the words, with
        job title and department; at most 20."""
        with _as_tool_errors():
            by, _ = await _admitted(ctx, "users:read")
            return await read(tools.find_people, words, by=by)

    @server.tool(title="Request leave", annotations=_OFFERS)
    async def request_leave(
        ctx: Context,
        leave_type: LeaveType,
        start_date: FirstDay,
        end_date: LastDay,
        start_half_day: FirstHalf = None,
        end_half_day: LastHalf = None,
        note: Note = None,
    ) -> Offered:
        """Prepare a leave request: the person gets a card in Slack with the days, the balance and a
        button "Send". Nothing is requested until they press it, so tell them to look there. Leave
        that would be refused is refused here, with the reasons."""
        days = (start_date, end_date, start_half_day, end_half_day)
        with _as_tool_errors():
            by, now = await _admitted(ctx, "leave:write")
            draft = await read(tools.draft_of, leave_type, days, note, by=by)
            preview = await read(tools.preview_leave, draft, by=by, now=now)
            if preview["refusals"]:
                reasons = (f"{each['code']}: {each['detail']}" for each in preview["refusals"])
                raise ToolError(" ".join(reasons))
            if slack is None:
                raise CannotReachInSlack("Slack is not set up on this server.")
            await slack.offer(draft, by=by, now=now)
        return {
            "status": "awaiting_confirmation",
            "preview": preview,
            "next_step": "Ask the person to press Send on the card that Hiatus sent them in Slack.",
        }


async def _admitted(ctx: Context, scope: Scope) -> tuple[Caller, datetime]:
    """The person, and when the request arrived; notes the tool for the log.

    Raises Unauthenticated, InsufficientScope, why a person in Slack may not use Hiatus, and
    ToolError for an unknown argument, which the SDK would ignore.
    """
    context = ctx.request_context
    assert context.request is not None
    assert context.params is not None
    name, arguments = context.params["name"], context.params.get("arguments") or {}
    context.request.scope["mcp_tool"] = name
    call: Call = context.request.scope[CALL]
    if call.refusal is not None:
        raise call.refusal
    if call.caller is None:
        raise Unauthenticated("Slack did not say for which person it asks.")
    if scope not in call.caller.scopes:
        raise InsufficientScope(scope)
    (known,) = (
        tool.input_schema["properties"]
        for tool in await ctx.mcp_server.list_tools()
        if tool.name == name
    )
    if unknown := sorted(arguments.keys() - known.keys()):
        raise ToolError(
            f"unknown_field: There is no argument {unknown[0][:100]!r}. Use {', '.join(known)}."
        )
    return call.caller, call.now


@contextmanager
def _as_tool_errors() -> Iterator[None]:
    """Tell the model what is wrong: the code, the sentence, and what helps."""
    try:
        yield
    except InvalidInput as refusal:
        fields = (f"{each.code} ({each.pointer[1:]}): {each.detail}" for each in refusal.errors)
        raise ToolError(" ".join(fields)) from refusal
    except DomainError as refusal:
        raise ToolError(f"{refusal.code}: {refusal.detail} {refusal.cure}".rstrip()) from refusal
    except DatabaseUnavailable as failure:
        raise ToolError(f"{Unavailable.code}: {Unavailable.detail}") from failure
