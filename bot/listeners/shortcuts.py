"""Global shortcuts."""

from __future__ import annotations

from typing import Final

from bot.base import ids
from bot.interaction.listening import Listener
from bot.listeners import request_form

LISTENERS: Final = (
    Listener(kind="shortcut", name=ids.REQUEST_SHORTCUT, act=request_form.open_form),
)
