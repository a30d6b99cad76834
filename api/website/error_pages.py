"""What browsers see at addresses that do not exist or are not for them; programs get JSON.

Addresses below `/api` always answer in JSON.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ExceptionHandler

from api.base.content_negotiation import preferred, prefers_html
from api.website.pages import Asset, unkept_response
from api.website.welcome import LANGUAGES, Website, framed

# Title, explanation and link, by language and status.
_TEXTS: Final = {
    "en": {
        404: (
            "This page doesn’t exist",
            "Check the address for typing mistakes. A link to a calendar stops working when it is "
            "removed or regenerated.",
            "Go to the home page",
        ),
        405: (
            "There is nothing to see here",
            "Only programs use this address.",
            "Go to the home page",
        ),
        410: (
            "This link has been used",
            "A file can be downloaded once, within a day. For a new link, open Hiatus in Slack, "
            "choose “Settings”, and ask for the file again.",
            "Go to the home page",
        ),
    },
    "de": {
        404: (
            "Diese Seite gibt es nicht",
            "Prüfe die Adresse auf Tippfehler. Ein Link zu einem Kalender funktioniert nicht mehr, "
            "wenn er entfernt oder erneuert wurde.",
            "Zur Startseite",
        ),
        405: (
            "Hier gibt es nichts zu sehen",
            "Nur Programme nutzen diese Adresse.",
            "Zur Startseite",
        ),
        410: (
            "Dieser Link wurde schon benutzt",
            "Eine Datei lässt sich einmal herunterladen, innerhalb eines Tages. Für einen neuen "
            "Link öffne Hiatus in Slack, wähle „Einstellungen“ und fordere sie noch einmal an.",
            "Zur Startseite",
        ),
    },
    "es": {
        404: (
            "Esta página no existe",
            "Revisa si hay errores en la dirección. Un enlace a un calendario deja de funcionar "
            "cuando se elimina o se renueva.",
            "Ir a la página de inicio",
        ),
        405: (
            "Aquí no hay nada que ver",
            "Solo los programas usan esta dirección.",
            "Ir a la página de inicio",
        ),
        410: (
            "Este enlace ya se ha usado",
            "Un archivo se puede descargar una vez, durante un día. Para otro enlace, abre Hiatus "
            "en Slack, elige «Ajustes» y vuelve a pedir el archivo.",
            "Ir a la página de inicio",
        ),
    },
    "fr": {
        404: (
            "Cette page n’existe pas",
            "Vérifiez que l’adresse est bien tapée. Un lien vers un calendrier ne fonctionne plus "
            "une fois retiré ou renouvelé.",
            "Aller à la page d’accueil",
        ),
        405: (
            "Il n’y a rien à voir ici",
            "Seuls des programmes utilisent cette adresse.",
            "Aller à la page d’accueil",
        ),
        410: (
            "Ce lien a déjà servi",
            "Un fichier se télécharge une seule fois, dans la journée. Pour un nouveau lien, "
            "ouvrez Hiatus dans Slack, puis « Paramètres », et redemandez le fichier.",
            "Aller à la page d’accueil",
        ),
    },
}


def for_browsers(handler: ExceptionHandler) -> ExceptionHandler:
    """The handler, with a page in place of a problem where a browser asks for one."""

    async def handled(request: Request, error: Exception) -> Response:
        response: Response = await handler(request, error)  # type: ignore[misc, arg-type]
        if response.status_code not in _TEXTS["en"] or not _is_for_people(request):
            return response
        language = preferred(request.headers.get("accept-language", ""), (*_TEXTS,))
        page = _page(response.status_code, language, _root_of(request))
        headers = {
            "Content-Language": LANGUAGES[language].lang,
            "Vary": "Accept, Accept-Language",
        }
        if "allow" in response.headers:
            headers["Allow"] = response.headers["allow"]
        return unkept_response(page, response.status_code, headers)

    return handled


def _is_for_people(request: Request) -> bool:
    is_api = f"{request.url.path}/".startswith("/api/")
    return not is_api and prefers_html(request.headers.get("accept", ""))


def _root_of(request: Request) -> str:
    """The way from the address to the welcome page: Hiatus may be below a proxy's path."""
    sent: bytes = request.scope.get("raw_path") or request.scope["path"].encode()
    # Beyond the first folder ".." changes nothing.
    return "../" * min(sent.count(b"/") - 1, 16)


@lru_cache(maxsize=64)
def _page(status: int, language: str, root: str) -> Asset:
    title, explanation, link = _TEXTS[language][status]
    return framed(
        f"{title} – Hiatus",
        f"<main>\n<h1>{title}</h1>\n<p>{explanation}</p>\n"
        f'<p class="actions"><a class="button" href="{root or "."}">{link}</a></p>\n</main>\n',
        language,
        Website(),
        root=root,
    )
