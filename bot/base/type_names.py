"""The names of leave types in the reader's language."""

from __future__ import annotations

from bot.base.language import locale
from storage.base.leave_values import TypeName
from storage.rules import leave_type_fields


def shown(name: TypeName) -> str:
    return leave_type_fields.shown_name(name, locale().language)
