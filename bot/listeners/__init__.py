"""The listeners: a module for each thing that people can do in Slack.

A new listener goes into its module's ``register``, a new module into ``register`` below. Bolt calls
the first listener that matches. Tests compare them with the manifest.
"""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.admin_listeners import (
    departments,
    digests,
    display_links,
    holidays,
    leave_types,
    organisation,
    people,
    webhooks,
)
from bot.listeners import (
    amendments,
    api_keys,
    calendar,
    calendar_feeds,
    commands,
    decisions,
    events,
    home,
    own_leave,
    record_form,
    request_form,
    unknown,
)


def register(app: AsyncApp, command: str) -> None:
    """Register every listener, the fallbacks last; ``command`` is the configured one."""
    commands.register(app, command)
    request_form.register(app)
    own_leave.register(app)
    record_form.register(app)
    decisions.register(app)
    amendments.register(app)
    home.register(app)
    calendar.register(app)
    api_keys.register(app)
    calendar_feeds.register(app)
    people.register(app)
    departments.register(app)
    leave_types.register(app)
    organisation.register(app)
    digests.register(app)
    display_links.register(app)
    holidays.register(app)
    webhooks.register(app)
    events.register(app)
    unknown.register(app)
