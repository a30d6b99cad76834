"""The listeners: a module for each thing that people can do in Slack.

A new listener goes into its module's ``LISTENERS``, a new module into ``registered``. Tests compare
them with the manifest.
"""

from __future__ import annotations

from bot.interaction.listening import Listener
from bot.listeners import (
    commands,
    decisions,
    events,
    home,
    own_leave,
    request_form,
    settings_access,
    settings_departments,
    settings_holidays,
    settings_organisation,
    settings_people,
    settings_webhooks,
    shortcuts,
)


def registered(command: str) -> tuple[Listener, ...]:
    """Every listener except the fallbacks in ``unknown``; ``command`` is the configured one."""
    return (
        *commands.listeners(command),
        *shortcuts.LISTENERS,
        *request_form.LISTENERS,
        *own_leave.LISTENERS,
        *decisions.LISTENERS,
        *home.LISTENERS,
        *settings_access.LISTENERS,
        *settings_people.LISTENERS,
        *settings_departments.LISTENERS,
        *settings_organisation.LISTENERS,
        *settings_holidays.LISTENERS,
        *settings_webhooks.LISTENERS,
        *events.LISTENERS,
    )
