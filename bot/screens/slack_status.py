"""Settings: the caller's leave as their Slack status, which they connect in the browser."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from urllib.parse import urlencode

from slack_bolt.async_app import AsyncApp

from bot.base.block_kit import View
from bot.base.language import gettext, gettext_noop
from bot.blocks import layout
from bot.interaction import listening
from bot.interaction.interaction import Interaction
from bot.screens import screen
from bot.screens.screen import Screen
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.workspaces import oauth_states, slack_statuses
from storage.workspaces.oauth_states import Person

NAME: Final = "settings.slack_status"
# Begins the connection in the browser (``bot.service.connecting``).
CONNECT_PATH: Final = "/slack/status/connect"


def _read(tx: Transaction, interaction: Interaction, by: Caller, _: str) -> View:
    if slack_statuses.find(tx, by=by) is not None:
        return connected_view()
    person = Person(organisation_id=by.organisation_id, user_id=str(by.user_id))
    state = oauth_states.issue_for(tx.secrets, person, now=interaction.now)
    base_url = interaction.services.base_url
    return view(f"{base_url}{CONNECT_PATH}?{urlencode({'state': state})}")


def view(url: str) -> View:
    connect = layout.button(gettext("Connect my Slack status"), f"{NAME}.connect", style="primary")
    connect["url"] = url
    blocks = [
        layout.section(
            gettext(
                "While you're off, your Slack status can say “Away until Mon 9 Aug”, with the "
                "emoji of the leave type. Everyone in your workspace sees it."
            )
        ),
        layout.quiet(_promise()),
        layout.actions(connect),
        layout.quiet(
            gettext(
                "Slack asks for your permission in the browser. The button works for ten minutes."
            )
        ),
    ]
    return layout.modal(gettext("Slack status"), blocks)


def connected_view() -> View:
    disconnect = layout.button(gettext("Disconnect"), f"{NAME}.disconnect", style="danger")
    disconnect["confirm"] = layout.confirm(
        gettext("Disconnect?"),
        gettext(
            "I remove the status that I set and give up my permission to change it. You can "
            "connect it again."
        ),
        gettext("Disconnect"),
        gettext("Keep it"),
    )
    blocks = [
        layout.section(
            gettext(
                "*Your Slack status shows your leave.*\nWhile you're off, it says “Away until Mon "
                "9 Aug”, with the emoji of the leave type. Everyone in your workspace sees it."
            )
        ),
        layout.quiet(_promise()),
        layout.actions(disconnect),
    ]
    return layout.modal(gettext("Slack status"), blocks)


def _promise() -> str:
    return gettext(
        "Private leave has a neutral emoji. A status that you set yourself is never replaced."
    )


def _disconnect(tx: Transaction, _: str, /, *, by: Caller, now: datetime) -> None:
    slack_statuses.disconnect(tx, by=by, now=now)


def register(app: AsyncApp) -> None:
    own = listening.caller
    app.action(NAME)(screen.opens(_read, who=own))
    app.action(f"{NAME}.disconnect")(screen.deletes(_disconnect, _read, who=own))


SCREEN: Final = Screen(gettext_noop("Slack status"), NAME, register)
