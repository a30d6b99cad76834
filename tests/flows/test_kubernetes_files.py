"""The files of docs/deploy/kubernetes fit Kubernetes' schemas, and what Hiatus has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import kubernetes_validate
import pytest
import yaml

import serve
from api.base.version import VERSION
from api.service.server import DRAIN_SECONDS, FINISH_SECONDS
from tests.flows.running import ROOT

FOLDER = ROOT / "docs" / "deploy" / "kubernetes"
RESOURCES: list[dict[str, Any]] = [
    each for path in sorted(FOLDER.glob("*.yaml")) for each in yaml.safe_load_all(path.read_text())
]


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    for resource in RESOURCES:
        if resource["kind"] in ("Deployment", "Job"):
            yield resource["metadata"]["name"], resource["spec"]["template"]


@pytest.mark.parametrize(
    "resource", RESOURCES, ids=lambda each: f"{each['kind']} {each['metadata']['name']}"
)
def test_every_resource_fits_the_schema_of_kubernetes(resource: dict[str, Any]) -> None:
    # Strict: a field that Kubernetes does not know is an error.
    kubernetes_validate.validate(resource, "1.33", strict=True)


def test_there_is_one_of_each_kind_that_a_deployment_needs() -> None:
    kinds = sorted(resource["kind"] for resource in RESOURCES)

    assert kinds == [
        *("ConfigMap", "Deployment", "Deployment", "Ingress", "Job", "PodDisruptionBudget"),
        *("Secret", "Service"),
    ]


def test_every_pod_is_restricted_and_has_limits() -> None:
    for name, template in pods():
        spec = template["spec"]
        [container] = spec["containers"]
        assert spec["automountServiceAccountToken"] is False, name
        # Variables of services could look like settings.
        assert spec["enableServiceLinks"] is False, name
        # The user of the Containerfile.
        assert (spec["securityContext"]["runAsUser"]) == 10_001, name
        assert spec["securityContext"]["runAsNonRoot"] is True, name
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }, name
        assert container["resources"]["limits"] == {"memory": "512Mi"}, name
        assert container["image"].endswith(f":{VERSION}"), name


def test_commands_settings_probes_and_times_exist() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    named = {
        name
        for resource in RESOURCES
        for part in ("data", "stringData")
        for name in resource.get(part, ())
    }
    for name, template in pods():
        spec = template["spec"]
        [container] = spec["containers"]
        command, *arguments = container["args"]
        serve.command_line({}).commands[command].make_context(name, arguments)
        named |= {each["name"] for each in container.get("env", ())}
        if command == "serve":
            hook = container.get("lifecycle", {}).get("preStop", {})
            wait_seconds = int(hook["exec"]["command"][1]) if hook else 0
            # An ingress controller sends requests until it has heard that the pod is going.
            assert (wait_seconds >= 5) == (name == "hiatus-web"), name
            assert (
                spec["terminationGracePeriodSeconds"]
                > wait_seconds + DRAIN_SECONDS + FINISH_SECONDS
            )
            probes = [
                container[f"{each}Probe"]["httpGet"]
                for each in ("startup", "readiness", "liveness")
            ]
            assert [each["path"] for each in probes] == ["/healthz", "/readyz", "/healthz"]

    assert {"DATABASE_URL", "BASE_URL", "HIATUS_SECRET_KEYS", "HIATUS_SCHEDULER"} <= named
    assert [name for name in named if f"`{name}`" not in page] == []


def test_selectors_and_names_lead_to_what_is_there() -> None:
    names = {(each["kind"], each["metadata"]["name"]) for each in RESOURCES}
    labels = [template["metadata"]["labels"] for _, template in pods()]
    for resource in RESOURCES:
        spec = resource.get("spec", {})
        if "selector" in spec:
            selector = spec["selector"].get("matchLabels", spec["selector"])
            assert any(selector.items() <= each.items() for each in labels), resource
    for _, template in pods():
        [container] = template["spec"]["containers"]
        for source in container["envFrom"]:
            for kind in source:
                key = {"configMapRef": "ConfigMap", "secretRef": "Secret"}[kind]
                assert (key, source[kind]["name"]) in names
    [ingress] = [each for each in RESOURCES if each["kind"] == "Ingress"]
    [rule] = ingress["spec"]["rules"]
    assert ("Service", rule["http"]["paths"][0]["backend"]["service"]["name"]) in names
    [settings] = [each for each in RESOURCES if each["kind"] == "ConfigMap"]
    assert settings["data"]["BASE_URL"] == f"https://{rule['host']}"
