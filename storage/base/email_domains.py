"""The employer's domain of an e-mail address; public providers have none."""

from __future__ import annotations

from typing import Final

# Providers of private mailboxes.
PUBLIC: Final = frozenset(
    {
        "163.com",
        "aol.com",
        "fastmail.com",
        "gmail.com",
        "gmx.at",
        "gmx.com",
        "gmx.de",
        "gmx.net",
        "googlemail.com",
        "hey.com",
        "hotmail.co.uk",
        "hotmail.com",
        "icloud.com",
        "live.com",
        "mac.com",
        "mail.com",
        "mail.ru",
        "me.com",
        "msn.com",
        "orange.fr",
        "outlook.com",
        "pm.me",
        "proton.me",
        "protonmail.com",
        "qq.com",
        "t-online.de",
        "web.de",
        "yahoo.co.uk",
        "yahoo.com",
        "yandex.ru",
        "ymail.com",
        "zoho.com",
    }
)


def employer_domain(email: str) -> str | None:
    """``example.com`` for ``Ada@Example.com``; None for an address of a public provider.

    >>> employer_domain("Ada@Example.com"), employer_domain("ada@gmail.com")
    ('example.com', None)
    """
    domain = email.rpartition("@")[2].strip().lower()
    return domain if domain and domain not in PUBLIC else None
