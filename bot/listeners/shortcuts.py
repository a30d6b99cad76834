"""Global shortcuts."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.listeners import request_form


def register(app: AsyncApp) -> None:
    app.shortcut(ids.REQUEST_SHORTCUT)(request_form.open_form)
