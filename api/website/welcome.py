"""`/` and `/privacy`: what people see who open the address of a Hiatus in a browser.

Their texts are files, one for each language: they are whole pages, not sentences of a catalogue.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.base.content_negotiation import preferred, prefers_json
from api.website.pages import (
    ICON,
    STATIC,
    WEBSITE_STYLE,
    Asset,
    asset_of,
    asset_response,
    page,
    slash_route,
)
from storage.base.environment import is_email_contact
from storage.base.retention import Retention

_TEXTS: Final = STATIC / "website"
_HEADER: Final = (
    '<header><a class="brand" href="{home}">'
    '<img src="{icon.svg}" alt="" width="32" height="32">Hiatus</a></header>'
)
# Links of the welcome page that only some deployments have.
_INSTALLATION: Final = re.compile(r'<a [^>]*href="slack/install">[^<]*</a>\n')
_PLAYGROUND: Final = re.compile(r'<a [^>]*href="playground">[^<]*</a>\n')


@dataclass(frozen=True, kw_only=True, slots=True)
class _Language:
    """What all pages of a language have in common."""

    lang: str
    titles: dict[str, str]
    links: dict[str, str]
    contact: str


# English comes first: it is for everyone whose language is missing.
LANGUAGES: Final = {
    "en": _Language(
        lang="en-GB",
        titles={"welcome": "Hiatus: leave management in Slack", "privacy": "Privacy – Hiatus"},
        links={".": "Home", "docs": "REST API", "privacy": "Privacy"},
        contact="Questions or feedback?",
    ),
    "de": _Language(
        lang="de",
        titles={"welcome": "Hiatus: Urlaub in Slack verwalten", "privacy": "Datenschutz – Hiatus"},
        links={".": "Startseite", "docs": "REST-API (englisch)", "privacy": "Datenschutz"},
        contact="Fragen oder Feedback?",
    ),
    "es": _Language(
        lang="es",
        titles={
            "welcome": "Hiatus: gestiona las vacaciones en Slack",
            "privacy": "Privacidad – Hiatus",
        },
        links={".": "Inicio", "docs": "API REST (en inglés)", "privacy": "Privacidad"},
        contact="¿Preguntas o comentarios?",
    ),
    "fr": _Language(
        lang="fr",
        titles={
            "welcome": "Hiatus : gérer les congés dans Slack",
            "privacy": "Confidentialité – Hiatus",
        },
        links={".": "Accueil", "docs": "API REST (en anglais)", "privacy": "Confidentialité"},
        contact="Une question, une remarque ?",
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Website:
    """What differs between deployments. ``can_install``: any workspace can add the app.

    ``has_playground``: the demo's. ``support_contact`` is an e-mail address or a URL, "" if there
    is none.
    """

    command: str = "/timeoff"
    can_install: bool = False
    has_playground: bool = False
    support_contact: str = ""
    retention: Retention = Retention()


def routes(website: Website, base_url: str) -> list[Route]:
    """The pages; ``/`` is JSON for clients that prefer it."""
    index = asset_of(
        orjson.dumps(
            {
                "name": "Hiatus",
                "api": f"{base_url}/api/v1",
                "openapi": f"{base_url}/openapi.json",
                "documentation": f"{base_url}/docs",
                "privacy": f"{base_url}/privacy",
            }
        ),
        "application/json",
    )

    async def welcome(request: Request) -> Response:
        if prefers_json(request.headers.get("accept", "")):
            response = asset_response(request, index)
        else:
            response = await _response(request, "welcome", website)
        response.headers["Vary"] = "Accept, Accept-Encoding, Accept-Language"
        return response

    async def privacy(request: Request) -> Response:
        return await _response(request, "privacy", website)

    return [Route("/", welcome), Route("/privacy", privacy), slash_route("/privacy")]


async def _response(request: Request, name: str, website: Website) -> Response:
    """The page in the language that the browser prefers."""
    language = preferred(request.headers.get("accept-language", ""), (*LANGUAGES,))
    response = asset_response(request, await run_in_threadpool(_page, name, language, website))
    response.headers["Content-Language"] = LANGUAGES[language].lang
    response.headers["Vary"] = "Accept-Encoding, Accept-Language"
    return response


@lru_cache(maxsize=8)
def _page(name: str, language: str, website: Website) -> Asset:
    words = LANGUAGES[language]
    text = (_TEXTS / f"{name}.{language}.html").read_text(encoding="utf-8")
    text = text.replace("{command}", html.escape(website.command))
    text = text.replace("{delivery_days}", str(website.retention.delivery_days))
    text = text.replace("{notification_days}", str(website.retention.notification_days))
    if not website.can_install:
        text = _INSTALLATION.sub("", text)
    if not website.has_playground:
        text = _PLAYGROUND.sub("", text)
    return framed(words.titles[name], text, language, website)


def framed(title: str, content: str, language: str, website: Website, *, root: str = "") -> Asset:
    """A page with what all have at the top and bottom.

    ``root`` leads from the page to the welcome page, such as ``../``.
    """
    words = LANGUAGES[language]
    links = "".join(
        f'<a href="{root}{address}">{label}</a>\n' for address, label in words.links.items()
    )
    header = _HEADER.replace("{home}", root or ".")
    return page(
        title,
        address=f"{root}docs/assets",
        files=(ICON, WEBSITE_STYLE),
        lang=words.lang,
        head='<link rel="stylesheet" href="{website.css}">',
        body=f"{header}\n{content}<footer>\n{_contact(words, website)}{links}</footer>",
    )


def _contact(words: _Language, website: Website) -> str:
    contact = website.support_contact
    if not contact:
        return ""
    address = f"mailto:{contact}" if is_email_contact(contact) else contact
    link = f'<a href="{html.escape(address)}">{html.escape(contact)}</a>'
    return f"<p>{words.contact} {link}</p>\n"
