"""The words of the wallchart in the languages that it has; names of days and months are Babel's."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_ENGLISH: Final = {
    "lang": "en-GB",
    "away": "Away",
    "pending": "pending",
    "morning": "morning",
    "afternoon": "afternoon",
    "public_holiday": "Public holiday",
    "today": "today",
    "team": "My team",
    "org": "Everyone",
    "you": "you",
    "title": "Who's out",
    "person": "Person",
    "months": "Month",
    "previous": "Previous month",
    "next": "Next month",
    "current": "This month",
    "people": "People",
    "department": "Department",
    "all_departments": "All departments",
    "show": "Show",
    "legend": "Legend",
    "non_working": "Not working",
    "your_pending": "Your pending request",
    "empty": "There is no one to show here.",
    "pages": "Pages",
    "page": "Page {page} of {pages}",
    "previous_page": "Previous page",
    "next_page": "Next page",
    "as_svg": "As a picture (SVG)",
    "as_png": "As a picture (PNG)",
    "secret": (
        "Anyone with this link can see this page. To stop that, renew or remove the link in Slack."
    ),
}
_GERMAN: Final = {
    "lang": "de",
    "away": "Abwesend",
    "pending": "offen",
    "morning": "vormittags",
    "afternoon": "nachmittags",
    "public_holiday": "Feiertag",
    "today": "heute",
    "team": "Mein Team",
    "org": "Alle",
    "you": "du",
    "title": "Wer ist nicht da?",
    "person": "Person",
    "months": "Monat",
    "previous": "Voriger Monat",
    "next": "Nächster Monat",
    "current": "Dieser Monat",
    "people": "Personen",
    "department": "Abteilung",
    "all_departments": "Alle Abteilungen",
    "show": "Anzeigen",
    "legend": "Legende",
    "non_working": "Arbeitsfrei",
    "your_pending": "Dein offener Antrag",
    "empty": "Hier gibt es niemanden anzuzeigen.",
    "pages": "Seiten",
    "page": "Seite {page} von {pages}",
    "previous_page": "Vorige Seite",
    "next_page": "Nächste Seite",
    "as_svg": "Als Bild (SVG)",
    "as_png": "Als Bild (PNG)",
    "secret": (
        "Wer diesen Link hat, kann diese Seite sehen. Um das zu beenden, erneuere oder entferne "
        "den Link in Slack."
    ),
}
# English comes first: it is for everyone whose language is missing.
TEXTS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType({"en": _ENGLISH, "de": _GERMAN})
