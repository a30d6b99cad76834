"""The settings of REST, feeds, webhooks and the scheduler."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from ipaddress import ip_network
from typing import Final, Literal, get_args
from urllib.parse import urlsplit

import limits

from storage.base.environment import Environment, read_support_contact

# "auto" is console on a terminal, else json.
LogFormat = Literal["auto", "json", "console"]

# Where rate limits are counted by default: by each process for itself.
MEMORY_URL: Final = "memory://"
_REDIS_SCHEMES: Final = (
    "redis://",
    "rediss://",
    "redis+unix://",
    "redis+sentinel://",
    "redis+cluster://",
)

# Variables in which hosting platforms state the public URL, and the scheme to add.
# Only complete host names are used: a completed name might belong to another host.
_URLS_OF_PLATFORMS: Final = (
    ("RENDER_EXTERNAL_URL", ""),
    ("RAILWAY_PUBLIC_DOMAIN", "https://"),
    ("HEROKU_APP_DEFAULT_DOMAIN_NAME", "https://"),
)


@dataclass(frozen=True, kw_only=True)
class ApiSettings:
    """``base_url`` has no trailing slash; rate limits have the form ``600/minute``."""

    base_url: str = "http://127.0.0.1:8000"
    rate_limit: str = "600/minute"
    # A Redis URL may hold a password.
    rate_limit_storage: str = field(default=MEMORY_URL, repr=False)
    feed_rate_limit: str = "120/hour"
    webhook_allow_private: bool = False
    # Set by the demo alone, not by the environment.
    webhook_allow_loopback: bool = False
    # PEM certificates of private certificate authorities, in addition to the public ones.
    webhook_ca_file: str = ""
    scheduler_on: bool = True
    log_format: LogFormat = "auto"
    # An e-mail address or a URL; Slack shows it, too.
    support_contact: str = ""
    # Addresses and networks whose X-Forwarded-For and X-Forwarded-Proto are trusted, or "*".
    trusted_proxies: tuple[str, ...] = ("127.0.0.0/8", "::1")

    @classmethod
    def read(cls, environment: Environment) -> ApiSettings:
        """The valid settings; problems are added to ``environment.problems``."""
        return cls(
            base_url=_base_url(environment),
            rate_limit=_rate_limit(environment, "HIATUS_RATE_LIMIT", cls.rate_limit),
            feed_rate_limit=_rate_limit(environment, "HIATUS_FEED_RATE_LIMIT", cls.feed_rate_limit),
            rate_limit_storage=_rate_limit_storage(environment),
            webhook_allow_private=environment.switch("HIATUS_WEBHOOK_ALLOW_PRIVATE", default=False),
            webhook_ca_file=_ca_file(environment),
            scheduler_on=environment.switch("HIATUS_SCHEDULER", default=True),
            log_format=environment.one_of("LOG_FORMAT", get_args(LogFormat), "auto"),
            support_contact=read_support_contact(environment),
            trusted_proxies=_trusted_proxies(environment),
        )

    @classmethod
    def from_env(cls, values: Mapping[str, str]) -> ApiSettings:
        """As ``read``. Raises SettingsError."""
        environment = Environment(values)
        settings = cls.read(environment)
        environment.check()
        return settings


def public_url(values: Mapping[str, str]) -> str:
    """BASE_URL, else the URL that the hosting platform states, else ""."""
    for name, scheme in (("BASE_URL", ""), *_URLS_OF_PLATFORMS):
        value = values.get(name, "").strip()
        if value:
            return f"{scheme}{value}"
    return ""


def _base_url(environment: Environment) -> str:
    url = environment.text("BASE_URL", ApiSettings.base_url).rstrip("/")
    if not _is_base_url(url):
        environment.problem(
            "BASE_URL must be a URL such as https://hiatus.example.com, without a query."
        )
    return url


def _is_base_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and has_host and not (parts.query or parts.fragment)


def _ca_file(environment: Environment) -> str:
    """The path of a readable file of certificates; "" without one, and after a problem."""
    path = environment.text("HIATUS_WEBHOOK_CA_FILE")
    if not path:
        return ""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
    except ssl.SSLError:
        reason = "it has no certificates in PEM form"
    except OSError as error:
        reason = str(error.strerror)
    else:
        return path
    environment.problem(f"HIATUS_WEBHOOK_CA_FILE names {path}, which cannot be used: {reason}.")
    return ""


def _rate_limit(environment: Environment, name: str, default: str) -> str:
    text = environment.text(name, default)
    try:
        is_valid = [limit.amount > 0 for limit in limits.parse_many(text)] == [True]
    except ValueError:
        is_valid = False
    if not is_valid:
        environment.problem(f"{name} must be one window such as {default}, not {text!r}.")
        return default
    return text


def _rate_limit_storage(environment: Environment) -> str:
    url = environment.secret("HIATUS_RATE_LIMIT_STORAGE")
    if url in ("", "memory", MEMORY_URL):
        return MEMORY_URL
    if not url.startswith(_REDIS_SCHEMES):
        environment.problem("HIATUS_RATE_LIMIT_STORAGE must be `memory` or a redis:// URL.")
    elif find_spec("redis") is None:
        environment.problem(
            "HIATUS_RATE_LIMIT_STORAGE needs the package redis, which is not installed: "
            "pip install 'redis>=5.2'."
        )
    elif _is_usable(url):
        return url
    else:
        # Nothing of the URL is shown: what looks like its host may be the end of a password.
        environment.problem(
            "HIATUS_RATE_LIMIT_STORAGE must be a URL such as redis://:password@host:6379/0. "
            "In a password, write %40 for @, %23 for #, %2F for / and %25 for %."
        )
    return MEMORY_URL


def _is_usable(url: str) -> bool:
    # Imported here: processes that count in memory do not need it.
    from api.base import redis_windows

    return redis_windows.is_usable(url)


def _trusted_proxies(environment: Environment) -> tuple[str, ...]:
    """The proxies, checked here because uvicorn silently ignores malformed ones."""
    text = environment.text("HIATUS_TRUSTED_PROXIES")
    if not text:
        return ApiSettings.trusted_proxies
    proxies = tuple(proxy.strip() for proxy in text.split(","))
    if proxies == ("*",):
        return proxies
    for proxy in proxies:
        try:
            ip_network(proxy)
        except ValueError:
            environment.problem(
                "HIATUS_TRUSTED_PROXIES must be comma-separated IP addresses and networks such as "
                f"10.0.0.0/8, or * alone; {proxy!r} is neither."
            )
            return ApiSettings.trusted_proxies
    return proxies
