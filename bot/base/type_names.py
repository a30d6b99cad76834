"""The names of leave types in the reader's language."""

from __future__ import annotations

from typing import Final

from bot.base.language import gettext, gettext_noop, locale
from storage.base.leave_values import TypeName

# The types that Hiatus brings: `OF_NEW_ORGANISATION` of storage/rules/leave_type_fields.
BROUGHT: Final = frozenset(
    (
        gettext_noop("Annual leave"),
        gettext_noop("Sick leave"),
        gettext_noop("Unpaid leave"),
        gettext_noop("Parental leave"),
        gettext_noop("Compassionate leave"),
    )
)


def shown(name: TypeName) -> str:
    """The organisation's second name in the current language, else the name that it has.

    A type that Hiatus brings is translated while it keeps its name.
    """
    second_name = name.names.get(locale().language)
    if second_name is not None:
        return second_name
    return gettext(name) if name in BROUGHT else str(name)
