"""Settings from the environment: defaults, secrets in files, and all problems together."""

from __future__ import annotations

import multiprocessing
import stat
import time
from pathlib import Path
from typing import Any

import certifi
import pytest
from click.testing import CliRunner

import serve
from api.base.settings import ApiSettings, public_url
from bot.base.settings import SlackSettings
from storage.base.environment import Environment, SettingsError, unknown_settings
from storage.base.retention import Retention
from storage.base.secrets import new_secret_key
from storage.base.settings import StorageSettings

KEY = new_secret_key()
SLACK = {
    "HIATUS_SLACK_SIGNING_SECRET": "signing",
    "HIATUS_SLACK_BOT_TOKEN": "xoxb-1",
}


def problems_of(read: Any, env: dict[str, str]) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as refusal:
        read(env)
    problems: tuple[str, ...] = refusal.value.problems
    return problems


def key_beside(path: str) -> tuple[str, ...]:
    return StorageSettings.from_env({"DATABASE_URL": f"sqlite:///{path}"}).secret_keys


def keys_of_100(folder: str, begins_at: float) -> list[tuple[str, ...]]:
    """The keys of 100 databases, each read at a moment that other processes share."""
    keys = []
    for number in range(100):
        # A barrier would wake its processes one by one, further apart than creating a key takes.
        while time.monotonic() < begins_at + number * 0.003:
            pass
        keys.append(key_beside(f"{folder}/{number}.db"))
    return keys


@pytest.mark.parametrize(
    "contact", ["", "help@example.com", "https://example.com/help?topic=leave&lang=en"]
)
def test_the_support_contact_is_an_address_or_a_url(contact: str) -> None:
    settings = ApiSettings.from_env({"HIATUS_SUPPORT_CONTACT": contact})

    assert settings.support_contact == contact


@pytest.mark.parametrize(
    "contact", ["Grace", "a@b@c", "javascript:alert(1)", "https://", "<b>@example.com", "a b@c.d"]
)
def test_a_support_contact_that_cannot_be_linked_is_refused(contact: str) -> None:
    [problem] = problems_of(ApiSettings.from_env, {"HIATUS_SUPPORT_CONTACT": contact})

    assert problem.startswith("HIATUS_SUPPORT_CONTACT must be an e-mail address or a URL")
    assert repr(contact) in problem


def test_the_default_database_is_an_sqlite_file_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    settings = StorageSettings.from_env({})

    assert settings.database_url == "sqlite:///hiatus.db"
    assert (tmp_path / "hiatus.db.key").exists()
    assert settings.secrets().decrypt(settings.secrets().encrypt("text")) == "text"


def test_a_key_file_is_created_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    first = key_beside(f"{tmp_path}/hiatus.db")
    second = key_beside(f"{tmp_path}/hiatus.db")

    assert first == second
    assert stat.S_IMODE((tmp_path / "hiatus.db.key").stat().st_mode) == 0o600


@pytest.mark.slow
def test_processes_that_start_concurrently_share_a_key(tmp_path: Path) -> None:
    begins_at = time.monotonic() + 1

    with multiprocessing.get_context("spawn").Pool(2) as pool:
        first, second = pool.starmap(keys_of_100, [(str(tmp_path), begins_at)] * 2, chunksize=1)

    assert first == second
    assert len(set(first)) == 100


def test_a_key_file_cut_short_by_a_crash_is_filled(tmp_path: Path) -> None:
    (tmp_path / "hiatus.db.key").touch(mode=0o600)

    [key] = key_beside(f"{tmp_path}/hiatus.db")

    assert (tmp_path / "hiatus.db.key").read_text().strip() == key


def test_no_key_file_is_created_if_a_key_is_set(tmp_path: Path) -> None:
    other = new_secret_key()

    settings = StorageSettings.from_env(
        {"DATABASE_URL": f"sqlite:///{tmp_path}/a.db", "HIATUS_SECRET_KEYS": f"{KEY}, {other}"}
    )

    assert settings.secret_keys == (KEY, other)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:pw@db.example.com/hiatus",
        "postgresql://a,b:5433/hiatus?target_session_attrs=read-write",
        "postgresql:///hiatus?host=/run/postgresql",
        "postgresql://a:5432,b:5433/hiatus?connect_timeout=0&keepalives_idle=%2030",
        "postgresql://a/hiatus?connect_timeout=&tcp_user_timeout=5000",
    ],
)
def test_every_url_that_libpq_accepts_is_accepted(url: str) -> None:
    env = {"DATABASE_URL": url, "HIATUS_SECRET_KEYS": KEY}

    assert StorageSettings.from_env(env).database_url == url


def test_the_standby_of_before_is_refused() -> None:
    env = {"HIATUS_SECRET_KEYS": KEY, "DATABASE_READ_URL": "postgresql://db2/hiatus"}

    with pytest.raises(SettingsError, match="DATABASE_READ_URL was removed: .* Unset it"):
        StorageSettings.from_env(env)


def test_the_postgres_scheme_is_accepted() -> None:
    env = {"DATABASE_URL": "postgres://db/hiatus", "HIATUS_SECRET_KEYS": KEY}

    assert StorageSettings.from_env(env).database_url == "postgresql://db/hiatus"


@pytest.mark.parametrize(
    "url",
    [
        "mysql://db/hiatus",
        "hiatus.db",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:////no/such/folder/hiatus.db",
        "postgresql://db/hiatus?no_such_option=1",
        "postgresql://ann:hunter2@db:port/hiatus?sslmode",
    ],
)
def test_other_databases_are_refused_without_showing_a_password(url: str) -> None:
    [problem] = problems_of(StorageSettings.from_env, {"DATABASE_URL": url})

    assert problem.startswith("DATABASE_URL ")
    assert "hunter2" not in problem


@pytest.mark.parametrize(
    ("url", "names"),
    [
        ("postgresql://db/hiatus?connect_timeout=abc", ["connect_timeout"]),
        ("postgresql://db/hiatus?connect_timeout=inf", ["connect_timeout"]),
        ("postgresql://db/hiatus?connect_timeout=2.5", ["connect_timeout"]),
        (
            "postgresql://db/hiatus?tcp_user_timeout=5s&keepalives_idle=x",
            ["keepalives_idle", "tcp_user_timeout"],
        ),
        ("postgresql://ann:hunter2:x@db:hunter2,b:5432/hiatus", ["port"]),
    ],
)
def test_connection_parameters_that_are_not_numbers_are_named(url: str, names: list[str]) -> None:
    env = {"DATABASE_URL": url, "HIATUS_SECRET_KEYS": KEY}

    problems = problems_of(StorageSettings.from_env, env)

    assert list(problems) == [
        f"DATABASE_URL has a {name} that is not a whole number." for name in names
    ]
    assert "hunter2" not in " ".join(problems)


def test_a_certificate_file_for_webhooks_is_checked_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no certificate")
    missing, wrong = str(tmp_path / "missing.pem"), str(tmp_path / "notes.txt")

    for path, reason in ((missing, "No such file"), (wrong, "no certificates in PEM form")):
        [problem] = problems_of(ApiSettings.from_env, {"HIATUS_WEBHOOK_CA_FILE": path})
        assert problem.startswith(f"HIATUS_WEBHOOK_CA_FILE names {path}")
        assert reason in problem

    bundle = certifi.where()
    settings = ApiSettings.from_env({"HIATUS_WEBHOOK_CA_FILE": bundle})
    assert settings.webhook_ca_file == bundle


def test_a_setting_that_was_removed_is_refused() -> None:
    env = {"DATABASE_URL": "postgresql://db/hiatus", "HIATUS_SECRET_KEYS": KEY}

    [problem] = problems_of(StorageSettings.from_env, env | {"HIATUS_CACHE_MB": "64"})

    assert problem == "HIATUS_CACHE_MB was removed: caches have fixed bounds. Unset it."


def test_postgresql_needs_secret_keys() -> None:
    [problem] = problems_of(StorageSettings.from_env, {"DATABASE_URL": "postgresql://db/hiatus"})

    assert problem.startswith("HIATUS_SECRET_KEYS is missing")


@pytest.mark.parametrize(
    "keys",
    ["short", f"{KEY},short", ",", f"{KEY}{KEY}"],
    ids=["short", "one of two", "none", "no comma"],
)
def test_a_malformed_key_is_refused_without_being_shown(keys: str) -> None:
    env = {"DATABASE_URL": "postgresql://db/hiatus", "HIATUS_SECRET_KEYS": keys}

    [problem] = problems_of(StorageSettings.from_env, env)

    assert problem.startswith("HIATUS_SECRET_KEYS ")
    assert KEY not in problem


def test_a_folder_without_write_access_for_the_key_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "hiatus.db.key").mkdir()
    env = {"DATABASE_URL": f"sqlite:///{tmp_path}/hiatus.db"}

    [problem] = problems_of(StorageSettings.from_env, env)

    assert problem.startswith("HIATUS_SECRET_KEYS is missing")


def test_secrets_are_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "url").write_text("postgresql://db/hiatus\n")
    (tmp_path / "keys").write_text(f"{KEY}\n")

    settings = StorageSettings.from_env(
        {
            "DATABASE_URL_FILE": str(tmp_path / "url"),
            "HIATUS_SECRET_KEYS_FILE": str(tmp_path / "keys"),
        }
    )

    assert settings == StorageSettings(database_url="postgresql://db/hiatus", secret_keys=(KEY,))


@pytest.mark.parametrize("content", ["absent", "empty", "binary"])
def test_an_empty_or_unreadable_secrets_file_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "token"
    if content != "absent":
        path.write_bytes(b"" if content == "empty" else b"\xff\xfe")
    env = SLACK | {"HIATUS_SLACK_BOT_TOKEN": "", "HIATUS_SLACK_BOT_TOKEN_FILE": str(path)}

    problems = problems_of(SlackSettings.from_env, env)

    assert problems[0].startswith(f"HIATUS_SLACK_BOT_TOKEN_FILE names {path}")


def test_a_secret_that_is_set_twice_is_named(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("xoxb-2")
    env = SLACK | {"HIATUS_SLACK_BOT_TOKEN_FILE": str(tmp_path / "token")}

    [problem] = problems_of(SlackSettings.from_env, env)

    assert "HIATUS_SLACK_BOT_TOKEN and HIATUS_SLACK_BOT_TOKEN_FILE" in problem


def test_secrets_are_never_in_a_repr() -> None:
    storage = StorageSettings.from_env(
        {"DATABASE_URL": "postgresql://ann:hunter2@db/hiatus", "HIATUS_SECRET_KEYS": KEY}
    )
    slack = SlackSettings.from_env(SLACK | {"HIATUS_SLACK_APP_TOKEN": "xapp-1"})
    api = ApiSettings.from_env({"HIATUS_RATE_LIMIT_STORAGE": "redis://:hunter2@redis"})

    shown = repr((storage, slack, api))

    secret = ("hunter2", KEY, "signing'", "xoxb-1", "xapp-1")
    assert [text for text in secret if text in shown] == []


def test_rest_has_the_defaults_of_the_contract() -> None:
    assert ApiSettings.from_env({}) == ApiSettings(
        base_url="http://127.0.0.1:8000",
        rate_limit="600/minute",
        rate_limit_storage="memory://",
        webhook_allow_private=False,
        scheduler_on=True,
        log_format="auto",
        trusted_proxies=("127.0.0.0/8", "::1"),
    )


def test_rest_settings_override_the_defaults() -> None:
    settings = ApiSettings.from_env(
        {
            "BASE_URL": "https://hiatus.example.com/leave/",
            "HIATUS_RATE_LIMIT": "10/second",
            "HIATUS_RATE_LIMIT_STORAGE": "redis://redis:6379/0",
            "HIATUS_FEED_RATE_LIMIT": "1000/day",
            "HIATUS_WEBHOOK_ALLOW_PRIVATE": "on",
            "HIATUS_SCHEDULER": "off",
            "LOG_FORMAT": "console",
            "HIATUS_TRUSTED_PROXIES": "10.0.0.0/8, 192.0.2.7,2001:db8::/32",
        }
    )

    assert settings == ApiSettings(
        base_url="https://hiatus.example.com/leave",
        rate_limit="10/second",
        rate_limit_storage="redis://redis:6379/0",
        feed_rate_limit="1000/day",
        webhook_allow_private=True,
        scheduler_on=False,
        log_format="console",
        trusted_proxies=("10.0.0.0/8", "192.0.2.7", "2001:db8::/32"),
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BASE_URL", "hiatus.example.com"),
        ("BASE_URL", "https://hiatus.example.com:port"),
        ("BASE_URL", "https://hiatus.example.com/?a=b"),
        ("HIATUS_RATE_LIMIT", "many"),
        ("HIATUS_RATE_LIMIT", "600/fortnight"),
        ("HIATUS_FEED_RATE_LIMIT", "many"),
        ("HIATUS_RATE_LIMIT_STORAGE", "postgresql://db"),
        ("HIATUS_WEBHOOK_ALLOW_PRIVATE", "perhaps"),
        ("HIATUS_SCHEDULER", "of"),
        ("LOG_FORMAT", "xml"),
        ("HIATUS_TRUSTED_PROXIES", "proxy.internal"),
        ("HIATUS_TRUSTED_PROXIES", "10.0.0.1, *"),
        ("HIATUS_TRUSTED_PROXIES", "10.0.0.1/8"),
        ("HIATUS_TRUSTED_PROXIES", "10.0.0.1,,10.0.0.2"),
        ("HIATUS_TRUSTED_PROXIES", "10.0.0.1:8000"),
    ],
)
def test_a_malformed_setting_is_named(name: str, value: str) -> None:
    [problem] = problems_of(ApiSettings.from_env, {name: value})

    assert problem.startswith(f"{name} ")


@pytest.mark.parametrize(
    ("values", "url"),
    [
        ({}, ""),
        ({"BASE_URL": " "}, ""),
        ({"RENDER_EXTERNAL_URL": "https://leave.onrender.com"}, "https://leave.onrender.com"),
        ({"RAILWAY_PUBLIC_DOMAIN": "leave.up.railway.app"}, "https://leave.up.railway.app"),
        ({"HEROKU_APP_DEFAULT_DOMAIN_NAME": "a-1.herokuapp.com"}, "https://a-1.herokuapp.com"),
        (
            {"BASE_URL": "https://leave.acme.example", "RENDER_EXTERNAL_URL": "https://a.b"},
            "https://leave.acme.example",
        ),
    ],
)
def test_the_public_url_of_a_platform_is_used_by_default(values: dict[str, str], url: str) -> None:
    assert public_url(values) == url


@pytest.mark.parametrize(
    "url",
    [
        "redis://:hunter2@redis:port",
        "redis://:hunter2@redis:63790000",
        "redis://:1@hunter2#3@redis",
        "redis://:hunter2/1@redis",
        "redis://[::hunter2",
        "redis://:hunter2@redis?db_number=1",
        "redis://:hunter2@redis?protocol=9",
        "redis+sentinel://:hunter2@redis:26379",
        "redis+cluster://",
    ],
)
def test_a_redis_url_that_cannot_be_used_is_named_without_its_password(url: str) -> None:
    [problem] = problems_of(ApiSettings.from_env, {"HIATUS_RATE_LIMIT_STORAGE": url})

    assert problem.startswith("HIATUS_RATE_LIMIT_STORAGE must be a URL such as ")
    assert "hunter2" not in problem


@pytest.mark.parametrize(
    "url",
    [
        "redis://redis",
        "rediss://user:p%40ss@redis:6380/3",
        "redis://[::1]",
        "redis+unix:///run/redis.sock",
        "redis+sentinel://redis:26379/main",
    ],
)
def test_a_redis_url_may_leave_out_what_has_a_default(url: str) -> None:
    settings = ApiSettings.from_env({"HIATUS_RATE_LIMIT_STORAGE": url})

    assert settings.rate_limit_storage == url


def test_without_slack_settings_slack_is_off() -> None:
    assert SlackSettings.from_env({"HIATUS_SLACK_API_URL": "http://127.0.0.1:1/api"}) is None


def test_slack_settings_of_one_workspace() -> None:
    assert SlackSettings.from_env(SLACK) == SlackSettings(
        signing_secret="signing", bot_token="xoxb-1", api_url="https://slack.com/api/"
    )


def test_slack_settings_of_many_workspaces() -> None:
    env = {
        "HIATUS_SLACK_SIGNING_SECRET": "signing",
        "HIATUS_SLACK_CLIENT_ID": "1.2",
        "HIATUS_SLACK_CLIENT_SECRET": "secret",
        "HIATUS_SLACK_API_URL": "http://127.0.0.1:9/api",
    }

    settings = SlackSettings.from_env(env)

    assert settings is not None
    assert (settings.client_id, settings.client_secret) == ("1.2", "secret")
    assert settings.api_url == "http://127.0.0.1:9/api/"


@pytest.mark.parametrize(
    ("env", "named"),
    [
        ({"HIATUS_SLACK_BOT_TOKEN": "xoxb-1"}, "HIATUS_SLACK_SIGNING_SECRET"),
        ({"HIATUS_SLACK_SIGNING_SECRET": "s"}, "HIATUS_SLACK_BOT_TOKEN"),
        ({"HIATUS_SLACK_APP_TOKEN": "xapp-1"}, "HIATUS_SLACK_BOT_TOKEN"),
        (
            {"HIATUS_SLACK_SIGNING_SECRET": "s", "HIATUS_SLACK_CLIENT_ID": "1.2"},
            "HIATUS_SLACK_CLIENT_SECRET",
        ),
        (
            {"HIATUS_SLACK_SIGNING_SECRET": "s", "HIATUS_SLACK_CLIENT_SECRET": "c"},
            "HIATUS_SLACK_CLIENT_ID",
        ),
        (SLACK | {"HIATUS_SLACK_COMMAND": "timeoff"}, "HIATUS_SLACK_COMMAND"),
        (SLACK | {"HIATUS_SLACK_COMMAND": "/Time"}, "HIATUS_SLACK_COMMAND"),
        (SLACK | {"HIATUS_SLACK_COMMAND": "/leave"}, "HIATUS_SLACK_COMMAND cannot be /leave"),
        (
            SLACK | {"HIATUS_SLACK_CLIENT_ID": "1.2", "HIATUS_SLACK_CLIENT_SECRET": "c"},
            "HIATUS_SLACK_BOT_TOKEN",
        ),
        (SLACK | {"HIATUS_SLACK_BOT_TOKEN": "xoxp-1"}, "HIATUS_SLACK_BOT_TOKEN"),
        (SLACK | {"HIATUS_SLACK_APP_TOKEN": "xoxb-1"}, "HIATUS_SLACK_APP_TOKEN"),
        (SLACK | {"HIATUS_SLACK_API_URL": "slack.com/api"}, "HIATUS_SLACK_API_URL"),
    ],
)
def test_an_incomplete_slack_set_up_is_named(env: dict[str, str], named: str) -> None:
    [problem] = problems_of(SlackSettings.from_env, env)

    assert problem.startswith(named)


def test_all_problems_are_reported_together() -> None:
    environment = Environment(
        {"DATABASE_URL": "mysql://db", "LOG_FORMAT": "xml", "HIATUS_SLACK_BOT_TOKEN": "xoxb-1"}
    )
    StorageSettings.read(environment)
    ApiSettings.read(environment)
    SlackSettings.read(environment)

    with pytest.raises(SettingsError) as refusal:
        environment.check()

    assert [problem.split()[0] for problem in refusal.value.problems] == [
        "DATABASE_URL",
        "LOG_FORMAT",
        "HIATUS_SLACK_SIGNING_SECRET",
    ]


def test_the_database_timeout_is_ten_seconds_by_default() -> None:
    env = {"DATABASE_URL": "postgresql://db/hiatus", "HIATUS_SECRET_KEYS": KEY}

    assert StorageSettings.from_env(env).database_timeout == 10
    assert (
        StorageSettings.from_env(env | {"HIATUS_DATABASE_TIMEOUT": "2.5"}).database_timeout == 2.5
    )


def test_queues_are_kept_for_thirty_days_unless_an_operator_chooses() -> None:
    env = {"DATABASE_URL": "postgresql://db/hiatus", "HIATUS_SECRET_KEYS": KEY}
    days = {"HIATUS_DELIVERY_DAYS": "365", "HIATUS_NOTIFICATION_DAYS": "7"}

    usual, chosen = (StorageSettings.from_env(each).retention for each in (env, env | days))

    assert usual == Retention(delivery_days=30, notification_days=30)
    assert chosen == Retention(delivery_days=365, notification_days=7)


@pytest.mark.parametrize("text", ["0", "6", "-7", "366", "7.5", "month", "٣٠"])
@pytest.mark.parametrize("name", ["HIATUS_DELIVERY_DAYS", "HIATUS_NOTIFICATION_DAYS"])
def test_days_to_keep_out_of_bounds_are_named(name: str, text: str) -> None:
    env = {"DATABASE_URL": "postgresql://db/hiatus", "HIATUS_SECRET_KEYS": KEY, name: text}

    assert problems_of(StorageSettings.from_env, env) == (
        f"{name} must be a whole number of days from 7 to 365, not {text!r}.",
    )


@pytest.mark.parametrize("text", ["0", "-1", "601", "ten", "nan"])
def test_a_database_timeout_out_of_bounds_is_named(text: str) -> None:
    env = {"DATABASE_URL": "postgresql://db/hiatus", "HIATUS_SECRET_KEYS": KEY}

    assert problems_of(StorageSettings.from_env, env | {"HIATUS_DATABASE_TIMEOUT": text}) == (
        f"HIATUS_DATABASE_TIMEOUT must be a number of seconds from 2 to 600, not {text!r}.",
    )


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("HIATUS_SECRET_KEY", " Did you mean HIATUS_SECRET_KEYS?"),
        ("HIATUS_SLACK_TOKEN", " Did you mean HIATUS_SLACK_BOT_TOKEN?"),
        ("hiatus_scheduler", " Did you mean HIATUS_SCHEDULER?"),
        ("HIATUS_DATABASE_URL", " Did you mean DATABASE_URL?"),
        # Only secrets have a file.
        ("HIATUS_RATE_LIMIT_FILE", " Did you mean HIATUS_RATE_LIMIT?"),
        ("HIATUS_PORT", ""),
        ("HIATUS_COLOUR", ""),
    ],
)
def test_every_command_names_a_variable_that_is_no_setting(
    tmp_path: Path, name: str, hint: str
) -> None:
    env = {"DATABASE_URL": f"sqlite:///{tmp_path}/hiatus.db", name: "3117-a-secret"}

    done = CliRunner().invoke(serve.command_line(env), ["migrate"])

    assert done.exit_code == 0
    assert done.stderr == f"Warning: There is no setting {name}: the variable is ignored.{hint}\n"
    assert "3117" not in done.output


def test_variables_of_kubernetes_and_known_ones_are_not_named() -> None:
    names = {"HIATUS_SECRET_KEYS", "HIATUS_SECRET_KEYS_FILE"}
    values = {
        "HIATUS_SECRET_KEYS": KEY,
        "HIATUS_SECRET_KEYS_FILE": "",
        "HIATUS_UNSET": " ",
        "OTHER": "1",
        "HIATUS_SERVICE_HOST": "10.0.0.7",
        "HIATUS_SERVICE_PORT_HTTP": "8000",
        "HIATUS_PORT": "tcp://10.0.0.7:8000",
        "HIATUS_WEB_PORT_8000_TCP_ADDR": "10.0.0.7",
    }

    assert unknown_settings(values, names) == []


def test_hostile_names_of_variables_are_escaped_and_counted() -> None:
    values = {"HIATUS_\x1b[2J": "1"} | {f"HIATUS_X{number:02}": "1" for number in range(30)}

    sentences = unknown_settings(values, set())

    assert sentences[0] == "There is no setting HIATUS_\\x1b[2J: the variable is ignored."
    assert (len(sentences), sentences[-1]) == (21, "11 more settings are unknown.")
