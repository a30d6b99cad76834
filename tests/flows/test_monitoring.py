"""What a process shows to Prometheus, and what the rules and the dashboard make of it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from storage.db.schema import migrate
from tests.fakes.slack import LoopbackSlack
from tests.flows.running import ROOT, Deployment, Server, free_port

pytestmark = pytest.mark.slow

RULES = ROOT / "docs" / "monitoring" / "alerts.yml"
DASHBOARD = ROOT / "docs" / "monitoring" / "dashboard.json"
# Prometheus' own, and the node exporter's.
FOREIGN = re.compile(r"up|node_\w+")
# Queries of what need not have happened: a failed request or job, a webhook, a limited call.
OF_EVENTS = re.compile(
    r'"failed"|"5\.\."|_errors_total|_problems_|webhook_attempt|job_last_success'
)
# What Grafana fills in.
VARIABLES = {"$__rate_interval": "1m", "$instance": ".*"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    url = f"sqlite:///{tmp_path_factory.mktemp('monitoring') / 'hiatus.db'}"
    migrate(url)
    with LoopbackSlack() as slack:
        deployment = Deployment(
            url,
            HIATUS_SLACK_SIGNING_SECRET=slack.signing_secret,
            HIATUS_SLACK_BOT_TOKEN=slack.token,
            HIATUS_SLACK_API_URL=slack.api_url,
        )
        key = deployment.init()["api_key"]
        with deployment.serving() as running:
            assert running.client(key).get("/api/v1/users").status_code == 200
            yield running


def exported(server: Server) -> set[str]:
    """The names of the metrics that a process shows, as queries name them."""
    text = httpx.get(f"{server.url}/metrics").text
    return {
        family.name + {"counter": "_total", "info": "_info"}.get(family.type, "")
        for family in text_string_to_metric_families(text)
    }


def test_the_page_lists_every_metric_that_a_process_shows(server: Server) -> None:
    page = (ROOT / "docs" / "monitoring.md").read_text(encoding="utf-8")

    listed = set(re.findall(r"`((?:hiatus|process)_[a-z_]+)(?:\{[a-z,]+\})?`", page))

    assert listed == exported(server)


def alert_rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def dashboard_queries() -> list[str]:
    """The queries of all panels, with variables filled in."""
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    queries = [target["expr"] for panel in panels for target in panel.get("targets", ())]
    for variable, value in VARIABLES.items():
        queries = [query.replace(variable, value) for query in queries]
    return queries


def metrics_in(query: str) -> set[str]:
    """The metrics that a query reads; histograms without the end of their series' names."""
    names = set(re.findall(r"\b(?:hiatus|process|node)_[a-z0-9_]+|\bup\b", query))
    return {re.sub(r"_(?:bucket|sum|count)$", "", name) for name in names}


def test_rules_and_dashboard_read_metrics_that_a_process_shows(server: Server) -> None:
    queries = [*(rule["expr"] for rule in alert_rules()), *dashboard_queries()]

    read = {name for query in queries for name in metrics_in(query)}

    assert len(queries) > 50
    assert {name for name in read if not FOREIGN.fullmatch(name)} - exported(server) == set()


def test_every_rule_has_a_severity_texts_and_a_page() -> None:
    for rule in alert_rules():
        assert rule["labels"]["severity"] in ("critical", "warning", "info"), rule["alert"]
        assert set(rule["annotations"]) == {"summary", "description", "runbook_url"}, rule["alert"]


RUNBOOKS = "https://docs.example.com/hiatus/docs/operations/"


def test_every_rule_leads_to_a_runbook_that_exists() -> None:
    for rule in alert_rules():
        url = rule["annotations"]["runbook_url"]
        page, _, section = url.removeprefix(RUNBOOKS).partition("#")
        assert url.startswith(RUNBOOKS), rule["alert"]
        text = (ROOT / "docs" / "operations" / page).read_text(encoding="utf-8")
        headings = re.findall(r"^## (\w+)$", text, re.MULTILINE)
        if section:
            assert section in {heading.lower() for heading in headings}, rule["alert"]
    assert f"{RUNBOOKS.removesuffix('/docs/operations/')}|" in (ROOT / "docs/alerts.md").read_text()


def test_the_page_of_alerts_lists_every_rule() -> None:
    page = (ROOT / "docs" / "alerts.md").read_text(encoding="utf-8")

    listed = re.findall(r"^\| `(\w+)` \| (\w+)", page, re.MULTILINE)

    assert listed == [(rule["alert"], rule["labels"]["severity"]) for rule in alert_rules()]


def test_every_alert_and_metric_that_a_runbook_names_exists(server: Server) -> None:
    pages = (ROOT / "docs" / "operations").glob("*.md")
    text = "".join(page.read_text(encoding="utf-8") for page in pages)

    named_alerts = set(re.findall(r"`(Hiatus[A-Z]\w+)`", text))
    named_metrics = set(re.findall(r"\bhiatus_[a-z]+_[a-z_]*(?:seconds|total)\b", text))

    assert named_alerts - {rule["alert"] for rule in alert_rules()} == set()
    assert named_metrics - exported(server) == set()


def program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"There is no {name}: install the system's package prometheus.")
    return path


def test_the_rules_are_valid() -> None:
    done = subprocess.run(
        [program("promtool"), "check", "rules", str(RULES)], capture_output=True, text=True
    )

    assert done.returncode == 0, done.stdout + done.stderr


# Series of a healthy deployment: their values each minute, in promtool's notation.
STARTED = "process_start_time_seconds{job='hiatus',instance='a'}"
REQUESTS = "hiatus_http_request_duration_seconds_count{instance='a',route='/api/v1/users'"
BUCKETS = "hiatus_http_request_duration_seconds_bucket{instance='a',route='/api/v1/users',le="
WAITS = "hiatus_database_wait_seconds_bucket{instance='a',resource='writer',le="
ERRORS = "hiatus_database_errors_total{instance='a',kind="
JOBS = "hiatus_job_last_success_timestamp_seconds{instance='a',name="
CALLS = "hiatus_slack_calls_total{instance='a',method='chat.postMessage',outcome="
ATTEMPTS = "hiatus_webhook_attempts_total{instance='a',outcome="
PROBLEMS = "hiatus_problems_total{instance='a',event='request unavailable'}"
CLOCK = "node_timex_sync_status{instance='host'}"
DISK = "node_filesystem_avail_bytes{instance='host',fstype='ext4',mountpoint='/'}"
DISK_SIZE = "node_filesystem_size_bytes{instance='host',fstype='ext4',mountpoint='/'}"
HEALTHY = {
    "up{job='hiatus',instance='a'}": "1+0x240",
    STARTED: "-86400+0x240",
    "process_resident_memory_bytes{job='hiatus',instance='a'}": "130e6+0x240",
    "hiatus_database_up{instance='a'}": "1+0x240",
    f"{REQUESTS},status='200'}}": "0+600x240",
    f"{REQUESTS},status='503'}}": "0+1x240",
    f"{BUCKETS}'0.25'}}": "0+600x240",
    f"{BUCKETS}'5.0'}}": "0+601x240",
    f"{BUCKETS}'+Inf'}}": "0+601x240",
    f"{WAITS}'0.01'}}": "0+600x240",
    f"{WAITS}'5.0'}}": "0+600x240",
    f"{WAITS}'+Inf'}}": "0+600x240",
    f"{ERRORS}'disk_full'}}": "0+0x240",
    f"{ERRORS}'timeout'}}": "0 0 1 2 2+0x236",
    "hiatus_webhook_oldest_due_seconds{instance='a'}": "3+0x240",
    "hiatus_notification_oldest_due_seconds{instance='a'}": "0+0x240",
    "hiatus_digest_oldest_due_seconds{instance='a'}": "0+0x240",
    "hiatus_slack_status_oldest_due_seconds{instance='a'}": "0+0x240",
    f"{ATTEMPTS}'delivered'}}": "0+60x240",
    f"{ATTEMPTS}'timeout'}}": "0+6x240",
    f"{CALLS}'ok'}}": "0+60x240",
    f"{CALLS}'rate_limited'}}": "0+1x240",
    f"{CALLS}'unavailable'}}": "0+6x240",
    f"{JOBS}'reminders'}}": "0+60x240",
    f"{JOBS}'pruning'}}": "0x59 3600x59 7200x59 10800x62",
    PROBLEMS: "7+0x240",
    CLOCK: "1+0x240",
    DISK: "50e9+0x240",
    DISK_SIZE: "100e9+0x240",
}
# What differs, and the alerts that fire after four hours.
SCENARIOS: list[tuple[dict[str, str], set[str]]] = [
    ({}, set()),
    ({"up{job='hiatus',instance='a'}": "1+0x230 0+0x10"}, {"HiatusDown"}),
    ({"up{job='hiatus',instance='a'}": "_x240"}, {"HiatusDown"}),
    ({STARTED: "-86400+0x220 100 160 220 280 340 400 460+0x20"}, {"HiatusRestarting"}),
    ({"hiatus_database_up{instance='a'}": "1+0x230 0+0x10"}, {"HiatusDatabaseDown"}),
    ({f"{ERRORS}'disk_full'}}": "0+0x235 1+0x5"}, {"HiatusDiskFull"}),
    ({f"{ERRORS}'corrupt'}}": "0+0x235 1+0x5"}, {"HiatusDatabaseDamaged"}),
    ({f"{ERRORS}'timeout'}}": "0+0x200 0+3x40"}, {"HiatusDatabaseErrors"}),
    ({f"{WAITS}'0.01'}}": "0+500x240"}, {"HiatusDatabaseWait"}),
    ({f"{REQUESTS},status='503'}}": "0+30x240"}, {"HiatusErrors"}),
    ({f"{BUCKETS}'0.25'}}": "0+580x240"}, {"HiatusSlow"}),
    ({"hiatus_webhook_oldest_due_seconds{instance='a'}": "300+60x240"}, {"HiatusWebhooksLate"}),
    ({f"{ATTEMPTS}'timeout'}}": "0+90x240"}, {"HiatusWebhooksFailing"}),
    (
        {"hiatus_notification_oldest_due_seconds{instance='a'}": "301+0x240"},
        {"HiatusNotificationsLate"},
    ),
    ({"hiatus_digest_oldest_due_seconds{instance='a'}": "1801+0x240"}, {"HiatusDigestLate"}),
    (
        {"hiatus_slack_status_oldest_due_seconds{instance='a'}": "1801+0x240"},
        {"HiatusSlackStatusesLate"},
    ),
    ({f"{CALLS}'token_refused'}}": "_x235 1+0x5"}, {"HiatusSlackTokenRefused"}),
    ({f"{CALLS}'token_refused'}}": "4+0x232 5+0x8"}, {"HiatusSlackTokenRefused"}),
    ({f"{CALLS}'token_refused'}}": "4+0x240"}, set()),
    ({f"{CALLS}'rate_limited'}}": "0+5x240"}, {"HiatusSlackRateLimited"}),
    ({f"{CALLS}'unavailable'}}": "0+90x240"}, {"HiatusSlackUnreachable"}),
    ({f"{JOBS}'reminders'}}": "0+60x210 12600+0x30"}, {"HiatusJobOverdue"}),
    ({f"{JOBS}'pruning'}}": "0+0x240"}, {"HiatusJobOverdue"}),
    # A process that began half an hour ago has not pruned yet.
    ({f"{JOBS}'pruning'}}": "0+0x240", STARTED: "12600+0x240"}, set()),
    ({PROBLEMS: "7+0x235 8+0x5"}, {"HiatusProblems"}),
    ({PROBLEMS: "_x235 1+0x5"}, {"HiatusProblems"}),
    (
        {"process_resident_memory_bytes{job='hiatus',instance='a'}": "450e6+0x240"},
        {"HiatusMemory"},
    ),
    ({DISK: "9e9+0x240"}, {"HiatusDiskLow"}),
    ({CLOCK: "0+0x240"}, {"HiatusClock"}),
]


def test_each_rule_fires_in_its_own_situation_only(tmp_path: Path) -> None:
    promtool = program("promtool")
    tests = [
        {
            "interval": "1m",
            "input_series": [
                {"series": series, "values": values}
                for series, values in {**HEALTHY, **different}.items()
            ],
            "promql_expr_test": [
                {
                    "expr": "count by (alertname) (ALERTS{alertstate='firing'})",
                    "eval_time": "4h",
                    "exp_samples": [
                        {"labels": f'{{alertname="{name}"}}', "value": 1} for name in sorted(firing)
                    ],
                }
            ],
        }
        for different, firing in SCENARIOS
    ]
    file = tmp_path / "test.json"
    file.write_text(
        json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": tests})
    )

    done = subprocess.run(
        [promtool, "test", "rules", str(file)], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    fired = {name for _, firing in SCENARIOS for name in firing}
    assert fired == {rule["alert"] for rule in alert_rules()}


@contextmanager
def prometheus(server: Server, folder: Path) -> Iterator[httpx.Client]:
    """A Prometheus that scrapes the server every second and evaluates the rules."""
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(RULES)],
        "scrape_configs": [
            {
                "job_name": "hiatus",
                "static_configs": [{"targets": [f"127.0.0.1:{server.port}"]}],
            }
        ],
    }
    (folder / "prometheus.yml").write_text(json.dumps(config))
    port = free_port()
    options = [
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([program("prometheus"), *options], stdout=log, stderr=log)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            yield client
    finally:
        process.terminate()
        process.wait(60)


def value_of(client: httpx.Client, query: str) -> list[dict[str, Any]]:
    answer = client.get("/api/v1/query", params={"query": query}).json()
    assert answer["status"] == "success", (query, answer)
    result: list[dict[str, Any]] = answer["data"]["result"]
    return result


def wait_for_two_scrapes(client: httpx.Client) -> None:
    deadline = time.monotonic() + 90
    while True:
        try:
            scrapes = value_of(client, "count_over_time(hiatus_database_up[1m])")
            if scrapes and float(scrapes[0]["value"][1]) >= 3:
                return
        except (httpx.TransportError, json.JSONDecodeError):
            pass  # It is starting.
        assert time.monotonic() < deadline
        time.sleep(0.3)


def test_prometheus_evaluates_every_query_of_the_dashboard(server: Server, tmp_path: Path) -> None:
    with prometheus(server, tmp_path) as client:
        wait_for_two_scrapes(client)
        without_result = {query for query in dashboard_queries() if not value_of(client, query)}
        groups = client.get("/api/v1/rules").json()["data"]["groups"]

    unexpected = {query for query in without_result if not OF_EVENTS.search(query)}
    assert unexpected == set()
    health = {rule["name"]: rule["health"] for group in groups for rule in group["rules"]}
    assert set(health.values()) == {"ok"}
    assert len(health) == len(alert_rules())
