"""The words of the wallchart in the languages that it has; names of days and months are Babel's."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_ENGLISH: Final = {
    "lang": "en-GB",
    "away": "Away",
    "elsewhere": "Working elsewhere",
    "working": "working",
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
    "bad_link_title": "This link doesn't work",
    "bad_link_cure": (
        "It may have been renewed or removed, or part of it is missing. Ask the person who gave it "
        "to you for a new one. For your own, open Hiatus in Slack, go to the Home tab and choose "
        "“Calendar feeds and wallchart”."
    ),
    "bad_month_title": "This month can't be shown",
    "bad_month_cure": "The wallchart goes from 12 months back to 24 months ahead.",
    "bad_department_title": "This department can't be shown",
    "bad_department_cure": "It may have been removed. Go to this month, then choose another one.",
    "bad_query_title": "This page doesn't exist",
    "bad_query_cure": "Part of the address is wrong. Go to this month and continue from there.",
    "unavailable_title": "Hiatus isn't available right now",
    "unavailable_cure": "This page reloads itself in a minute.",
    "too_many_title": "Too many visits",
    "too_many_cure": "This page was opened very often. Wait a few minutes, then reload it.",
}
_GERMAN: Final = {
    "lang": "de",
    "away": "Abwesend",
    "elsewhere": "An anderem Ort tätig",
    "working": "arbeitet",
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
    "bad_link_title": "Dieser Link funktioniert nicht",
    "bad_link_cure": (
        "Vielleicht wurde er erneuert oder entfernt, oder ein Teil fehlt. Bitte die Person, die "
        "ihn dir gegeben hat, um einen neuen. Deinen eigenen findest du in Slack: Öffne den "
        "Home-Tab von Hiatus und dort „Kalender-Feeds und Wandkalender“."
    ),
    "bad_month_title": "Dieser Monat lässt sich nicht anzeigen",
    "bad_month_cure": "Der Wandkalender zeigt 12 Monate zurück und 24 Monate voraus.",
    "bad_department_title": "Diese Abteilung lässt sich nicht anzeigen",
    "bad_department_cure": (
        "Vielleicht wurde sie entfernt. Geh zu diesem Monat und wähle dort eine andere."
    ),
    "bad_query_title": "Diese Seite gibt es nicht",
    "bad_query_cure": (
        "Ein Teil der Adresse stimmt nicht. Geh zu diesem Monat und von dort aus weiter."
    ),
    "unavailable_title": "Hiatus ist gerade nicht erreichbar",
    "unavailable_cure": "Diese Seite lädt sich in einer Minute selbst neu.",
    "too_many_title": "Zu viele Aufrufe",
    "too_many_cure": (
        "Diese Seite wurde sehr oft geöffnet. Warte ein paar Minuten und lade sie dann neu."
    ),
}
_FRENCH: Final = {
    "lang": "fr",
    "away": "Absence",
    "elsewhere": "Travail ailleurs",
    "working": "au travail",
    "pending": "en attente",
    "morning": "matin",
    "afternoon": "après-midi",
    "public_holiday": "Jour férié",
    "today": "aujourd'hui",
    "team": "Mon équipe",
    "org": "Tout le monde",
    "you": "vous",
    "title": "Qui est absent\N{NO-BREAK SPACE}?",
    "person": "Personne",
    "months": "Mois",
    "previous": "Mois précédent",
    "next": "Mois suivant",
    "current": "Ce mois-ci",
    "people": "Personnes",
    "department": "Service",
    "all_departments": "Tous les services",
    "show": "Afficher",
    "legend": "Légende",
    "non_working": "Non travaillé",
    "your_pending": "Votre demande en attente",
    "empty": "Il n'y a personne à afficher ici.",
    "pages": "Pages",
    "page": "Page {page} sur {pages}",
    "previous_page": "Page précédente",
    "next_page": "Page suivante",
    "as_svg": "En image (SVG)",
    "as_png": "En image (PNG)",
    "secret": (
        "Toute personne qui a ce lien peut voir cette page. Pour y mettre fin, renouvelez ou "
        "retirez le lien dans Slack."
    ),
    "bad_link_title": "Ce lien ne fonctionne pas",
    "bad_link_cure": (
        "Il a peut-être été renouvelé ou retiré, ou il en manque une partie. Demandez-en un "
        "nouveau à la personne qui vous l'a donné. Pour le vôtre, ouvrez Hiatus dans Slack, allez "
        "dans l'onglet Accueil et choisissez «\N{NO-BREAK SPACE}Flux de calendrier et planning "
        "mural\N{NO-BREAK SPACE}»."
    ),
    "bad_month_title": "Ce mois ne peut pas être affiché",
    "bad_month_cure": "Le planning va de 12 mois en arrière à 24 mois en avant.",
    "bad_department_title": "Ce service ne peut pas être affiché",
    "bad_department_cure": (
        "Il a peut-être été retiré. Allez au mois en cours, puis choisissez-en un autre."
    ),
    "bad_query_title": "Cette page n'existe pas",
    "bad_query_cure": (
        "Une partie de l'adresse est fausse. Allez au mois en cours et continuez à partir de là."
    ),
    "unavailable_title": "Hiatus n'est pas disponible pour le moment",
    "unavailable_cure": "Cette page se recharge toute seule dans une minute.",
    "too_many_title": "Trop de visites",
    "too_many_cure": (
        "Cette page a été ouverte très souvent. Attendez quelques minutes, puis rechargez-la."
    ),
}
_SPANISH: Final = {
    "lang": "es",
    "away": "Ausente",
    "elsewhere": "Trabaja en otro lugar",
    "working": "trabajando",
    "pending": "pendiente",
    "morning": "por la mañana",
    "afternoon": "por la tarde",
    "public_holiday": "Festivo",
    "today": "hoy",
    "team": "Mi equipo",
    "org": "Todos",
    "you": "tú",
    "title": "Quién está fuera",
    "person": "Persona",
    "months": "Mes",
    "previous": "Mes anterior",
    "next": "Mes siguiente",
    "current": "Este mes",
    "people": "Personas",
    "department": "Departamento",
    "all_departments": "Todos los departamentos",
    "show": "Mostrar",
    "legend": "Leyenda",
    "non_working": "No laborable",
    "your_pending": "Tu solicitud pendiente",
    "empty": "Aquí no hay nadie que mostrar.",
    "pages": "Páginas",
    "page": "Página {page} de {pages}",
    "previous_page": "Página anterior",
    "next_page": "Página siguiente",
    "as_svg": "Como imagen (SVG)",
    "as_png": "Como imagen (PNG)",
    "secret": (
        "Cualquiera que tenga este enlace puede ver esta página. Para evitarlo, renueva o quita "
        "el enlace en Slack."
    ),
    "bad_link_title": "Este enlace no funciona",
    "bad_link_cure": (
        "Puede que se haya renovado o quitado, o que le falte una parte. Pide uno nuevo a la "
        "persona que te lo dio. Para el tuyo, abre Hiatus en Slack, ve a la pestaña Inicio y elige "
        "“Calendarios y calendario mural”."
    ),
    "bad_month_title": "Este mes no se puede mostrar",
    "bad_month_cure": "El calendario mural va de 12 meses atrás a 24 meses adelante.",
    "bad_department_title": "Este departamento no se puede mostrar",
    "bad_department_cure": "Puede que se haya quitado. Ve a este mes y elige otro.",
    "bad_query_title": "Esta página no existe",
    "bad_query_cure": "Parte de la dirección está mal. Ve a este mes y sigue desde ahí.",
    "unavailable_title": "Hiatus no está disponible ahora mismo",
    "unavailable_cure": "Esta página se recarga sola en un minuto.",
    "too_many_title": "Demasiadas visitas",
    "too_many_cure": "Esta página se ha abierto muchas veces. Espera unos minutos y recárgala.",
}
# English comes first: it is for everyone whose language is missing.
TEXTS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {"en": _ENGLISH, "de": _GERMAN, "es": _SPANISH, "fr": _FRENCH}
)
