"""The listeners: a module for each thing that people can do in Slack.

A new listener goes into its module's ``LISTENERS``, a new module into ``registered``. Tests compare
them with the manifest.
"""

from __future__ import annotations

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
from bot.interaction.listening import Listener
from bot.listeners import (
    amendments,
    api_keys,
    calendar_feeds,
    commands,
    decisions,
    events,
    interruption_form,
    own_leave,
    record_form,
    recorded_leave,
    request_form,
    shortcuts,
)
from bot.listeners.overview import calendar, home
from bot.listeners.typed import unknown_words


def registered(command: str) -> tuple[Listener, ...]:
    """Every listener except the fallbacks in ``unknown``; ``command`` is the configured one."""
    return (
        *commands.listeners(command),
        *shortcuts.LISTENERS,
        *unknown_words.LISTENERS,
        *request_form.LISTENERS,
        *own_leave.LISTENERS,
        *interruption_form.LISTENERS,
        *recorded_leave.LISTENERS,
        *record_form.LISTENERS,
        *decisions.LISTENERS,
        *amendments.LISTENERS,
        *home.LISTENERS,
        *calendar.LISTENERS,
        *api_keys.LISTENERS,
        *calendar_feeds.LISTENERS,
        *people.LISTENERS,
        *departments.LISTENERS,
        *leave_types.LISTENERS,
        *organisation.LISTENERS,
        *digests.LISTENERS,
        *display_links.LISTENERS,
        *holidays.LISTENERS,
        *webhooks.LISTENERS,
        *events.LISTENERS,
    )
