"""The fields of a leave type: their checks, their defaults, the types of a new organisation and
their names in other languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from storage.base import fields, texts
from storage.base.amounts import half_days_of
from storage.base.errors import InvalidInput
from storage.base.fields import Checked
from storage.base.ids import is_id
from storage.base.leave_values import ADMINS, LANGUAGES, SecondApproval, TypeName

_NAMES_FILE: Final = Path(__file__).with_name("slack_emoji.txt")


def is_standard(short_name: str) -> bool:
    """Whether Slack shows this name as an emoji; a skin tone may follow the name."""
    return short_name.partition("::")[0] in _names()


@cache
def _names() -> frozenset[str]:
    lines = _NAMES_FILE.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


MAX_CODE_LENGTH: Final = 64
# Leave can begin two years ahead and last 366 days.
MAX_NOTICE_DAYS: Final = 730
MAX_CONSECUTIVE_DAYS: Final = 366

_CODE: Final = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
# Slack's own: letters of any script, digits, and + - _ '; a skin tone may follow.
_EMOJI: Final = re.compile(r"[\w+'-]{1,80}(?:::skin-tone-[2-6])?")


def _code(value: object, field: str) -> str:
    if not isinstance(value, str) or len(value) > MAX_CODE_LENGTH or not _CODE.fullmatch(value):
        raise InvalidInput.of(
            field,
            "invalid_code",
            "A code can only have lower-case letters, digits and single hyphens.",
        )
    return value


def _emoji(value: object, field: str) -> str:
    text = value.strip().lower() if isinstance(value, str) else ""
    if text.startswith(":") and text.endswith(":"):
        text = text[1:-1]
    if _EMOJI.fullmatch(text) is None:
        raise InvalidInput.of(
            field, "invalid_emoji", "Use the emoji's short name in Slack, such as palm_tree."
        )
    if not is_standard(text):
        raise InvalidInput.of(
            field,
            "unknown_emoji",
            "Slack has no standard emoji :{emoji}:. Custom emoji cannot be used.",
            emoji=text,
        )
    return text


def _second_names(value: object, field: str) -> dict[str, str]:
    """Second names by language, each checked like a name; a blank one is left out."""
    sent = value if isinstance(value, Mapping) else {"": value}
    names: dict[str, str] = {}
    for language, name in sorted(sent.items()):
        if language not in LANGUAGES:
            raise InvalidInput.of(
                field,
                "unknown_language",
                "Hiatus has no language “{language}”. Use one of {languages}.",
                language=str(language)[:20],
                languages=LANGUAGES,
            )
        names[language] = texts.name(name, f"{field}/{language}")
    return names


def _second_approval(value: object, field: str) -> SecondApproval:
    """Of ``always`` or ``over_days``, and ``by``; whether that is a person is checked later."""
    if isinstance(value, SecondApproval):
        return value
    sent = value if isinstance(value, Mapping) else {}
    by, over_days = sent.get("by"), sent.get("over_days")
    always = sent.get("always") or False
    if always == (over_days is not None):
        raise InvalidInput.of(
            field,
            "invalid_second_approval",
            "Send `always` true, or `over_days`: one of them.",
        )
    over_half_days = None
    if over_days is not None:
        over_half_days = half_days_of(over_days, f"{field}/over_days")
    if not isinstance(by, str) or not (by == ADMINS or is_id(by)):
        raise InvalidInput.of(f"{field}/by", "unknown_user", "Use `admins` or the id of a person.")
    return SecondApproval(always=always, over_half_days=over_half_days, by=by)


CHECKS: Final[Mapping[str, fields.Check]] = {
    "name": texts.name,
    "names": _second_names,
    "code": _code,
    "colour": fields.colour,
    "emoji": fields.optional(_emoji),
    "requires_approval": fields.boolean,
    "deducts_allowance": fields.boolean,
    "allowance_id": fields.unchecked,
    "allow_overdraft": fields.boolean,
    "is_paid": fields.boolean,
    "is_private": fields.boolean,
    "requires_note": fields.boolean,
    "approvers_may_record": fields.boolean,
    "requires_cover": fields.boolean,
    "may_interrupt": fields.boolean,
    "tells_approvers": fields.boolean,
    "is_away": fields.boolean,
    "min_notice_days": fields.whole_number(0, MAX_NOTICE_DAYS),
    "max_consecutive_days": fields.optional(fields.whole_number(1, MAX_CONSECUTIVE_DAYS)),
    "is_archived": fields.boolean,
    "changes_need_approval": fields.boolean,
    "second_approval": fields.optional(_second_approval),
}

DEFAULTS: Final[Checked] = {
    "names": {},
    "colour": "#4a7fb5",
    "emoji": None,
    "requires_approval": True,
    "deducts_allowance": True,
    "allow_overdraft": False,
    "is_paid": True,
    "is_private": False,
    "requires_note": False,
    "approvers_may_record": False,
    "requires_cover": False,
    "may_interrupt": False,
    "tells_approvers": True,
    "is_away": True,
    "min_notice_days": 0,
    "max_consecutive_days": None,
    "is_archived": False,
    "changes_need_approval": False,
    "second_approval": None,
}

# Only annual leave comes out of the allowance.
OF_NEW_ORGANISATION: Final[tuple[Mapping[str, object], ...]] = (
    {"name": "Annual leave", "code": "annual", "colour": "#2e9e6b", "emoji": "palm_tree"},
    {
        "name": "Sick leave",
        "code": "sick",
        "colour": "#d9534f",
        "emoji": "face_with_thermometer",
        "requires_approval": False,
        "deducts_allowance": False,
        "is_private": True,
        "approvers_may_record": True,
        "may_interrupt": True,
    },
    {
        "name": "Unpaid leave",
        "code": "unpaid",
        "colour": "#7a869a",
        "emoji": "hourglass",
        "deducts_allowance": False,
        "is_paid": False,
    },
    {
        "name": "Parental leave",
        "code": "parental",
        "colour": "#8e6bbf",
        "emoji": "baby",
        "deducts_allowance": False,
    },
    {
        "name": "Compassionate leave",
        "code": "compassionate",
        "colour": "#3f7cac",
        "emoji": "dove_of_peace",
        "deducts_allowance": False,
        "is_private": True,
    },
)

# Their names by language, for texts that people read. Integrations have the English ones.
_NAMES_BY_LANGUAGE: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "de": {
            "Annual leave": "Jahresurlaub",
            "Sick leave": "Krankmeldung",
            "Unpaid leave": "Unbezahlter Urlaub",
            "Parental leave": "Elternzeit",
            "Compassionate leave": "Sonderurlaub",
        },
        "es": {
            "Annual leave": "Vacaciones",
            "Sick leave": "Baja por enfermedad",
            "Unpaid leave": "Permiso sin sueldo",
            "Parental leave": "Permiso parental",
            "Compassionate leave": "Permiso por motivos familiares",
        },
        "fr": {
            "Annual leave": "Congés payés",
            "Sick leave": "Arrêt maladie",
            "Unpaid leave": "Congé sans solde",
            "Parental leave": "Congé parental",
            "Compassionate leave": "Congé pour événement familial",
        },
    }
)


def shown_name(name: TypeName, language: str) -> str:
    """The organisation's second name in the language, else the name that it has.

    A type that Hiatus brings is translated while it keeps its name.
    """
    translated = _NAMES_BY_LANGUAGE.get(language, {}).get(name, str(name))
    return name.names.get(language, translated)
