"""Assistants that act for people of Slack workspaces: who asks, and the card that they get.

``api.mcp`` asks; serve.py passes this on.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import structlog
from slack_bolt.context.async_context import AsyncBoltContext
from slack_sdk.signature import Clock, SignatureVerifier

from bot.base.language import using_locale
from bot.client import slack_web
from bot.client.workspaces import NoAccount, Recipients, post
from bot.interaction import listening
from bot.interaction.interaction import WORKSPACE, Interaction, Services
from bot.listeners import confirming
from bot.views import conversation
from bot.views.request_values import Filled
from storage.base.values import Caller, Organisation, User
from storage.db.database import Transaction
from storage.leave.drafts import Draft
from storage.outbox import organisation_config
from storage.people import people_rows
from storage.workspaces.join_policy import CannotReachInSlack

_log = structlog.stdlib.get_logger("hiatus.slack")


class SlackAssistants:
    """Without a ``signing_secret``, as with Socket Mode alone, nothing counts as signed."""

    def __init__(self, services: Services, signing_secret: str | None) -> None:
        self._services = services
        self._signing_secret = signing_secret
        self._recipients = Recipients(services.database, services.clock)

    def is_signed(self, headers: Mapping[str, str], body: bytes, *, now: datetime) -> bool:
        """Whether Slack signed the request within the last five minutes."""
        if not self._signing_secret:
            return False
        try:
            verifier = SignatureVerifier(self._signing_secret, _At(now))
            return verifier.is_valid_request(body, headers)
        except (ValueError, TypeError):
            # A timestamp that is no number, or letters that no signature has.
            return False

    async def caller(self, team_id: str, slack_user_id: str) -> Caller:
        """The person, as for any payload. Raises NotAMember and CannotReachInSlack."""
        context = AsyncBoltContext({"team_id": team_id})
        context[WORKSPACE] = await self._services.workspaces.for_payload(team_id)
        body = {"team_id": team_id, "user_id": slack_user_id}
        try:
            return await listening.caller(Interaction(self._services, context, body))
        except slack_web.FAILURES as failure:
            raise _no_answer(failure) from failure

    async def offer(self, draft: Draft, *, by: Caller, now: datetime) -> None:
        """Send the caller the draft with Send. Raises CannotReachInSlack."""
        database, workspaces = self._services.database, self._services.workspaces
        organisation, user, locale = await database.read(_recipient, by=by)
        if organisation.slack_team_id is None:
            raise CannotReachInSlack("The organisation has no Slack workspace.")
        try:
            workspace = await workspaces.for_delivery(organisation.slack_team_id)
            if workspace is None:
                raise CannotReachInSlack("The app is not installed in the Slack workspace.")
            with using_locale(locale):
                slack_user_id = await self._recipients.of_person(organisation.id, user, workspace)
                message = await confirming.card(
                    database,
                    [Filled.of_draft(draft)],
                    by=by,
                    now=now,
                    asides=[conversation.by_assistant()],
                    checks_interruption=True,
                    is_typed=False,
                )
                await post(workspace, slack_user_id, message)
        except NoAccount as missing:
            raise CannotReachInSlack(
                "No account in the Slack workspace has this person's confirmed e-mail address."
            ) from missing
        except slack_web.FAILURES as failure:
            raise _no_answer(failure) from failure


class _At(Clock):
    def __init__(self, now: datetime) -> None:
        self._now = now

    def now(self) -> float:
        return self._now.timestamp()


def _no_answer(failure: Exception) -> CannotReachInSlack:
    _log.warning("slack.call_failed", listener="mcp", reason=slack_web.summary(failure))
    return CannotReachInSlack("Slack refused the message or did not respond. Try again.")


def _recipient(tx: Transaction, *, by: Caller) -> tuple[Organisation, User, str | None]:
    organisation = organisation_config.of_organisation(tx, by.organisation_id).organisation
    user = people_rows.get(tx, str(by.user_id), by=by)
    return organisation, user, people_rows.locale_of(tx, organisation.id, user.id)
