"""Global shortcuts."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot import ids
from bot.listeners import request_form
from bot.listening import Edge, listening


def register(app: AsyncApp, edge: Edge) -> None:
    app.shortcut(ids.REQUEST_SHORTCUT)(listening(edge, request_form.open_form))
