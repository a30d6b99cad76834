"""The listeners: a module for each thing that people can do in Slack.

A new listener goes into its module's ``register``, a new module into ``register`` below. Bolt calls
the first listener that matches. Tests compare them with the manifest.
"""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot import screens
from bot.listeners import (
    amendments,
    balance,
    calendar,
    commands,
    confirming,
    conversation,
    decisions,
    events,
    expiry_notices,
    home,
    inbox,
    own_leave,
    record_form,
    request_form,
    suggestions,
    time_credits,
    unknown,
)


def register(app: AsyncApp, command: str) -> None:
    """Register every listener, the fallbacks last; ``command`` is the configured one."""
    commands.register(app, command)
    confirming.register(app)
    conversation.register(app)
    request_form.register(app)
    own_leave.register(app)
    record_form.register(app)
    decisions.register(app)
    amendments.register(app)
    time_credits.register(app)
    inbox.register(app)
    suggestions.register(app)
    home.register(app)
    calendar.register(app)
    balance.register(app)
    expiry_notices.register(app)
    screens.register(app)
    events.register(app)
    unknown.register(app)
