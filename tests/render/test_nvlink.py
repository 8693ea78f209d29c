"""NVLink between nodes in the tree: domains, claims, quota, and what a job can't say."""

from __future__ import annotations

from functools import cache
from typing import Any

from tests.rules.cases import TODAY
from tests.test_examples import EXAMPLES
from trainyard.generation.generate import Generation, generate
from trainyard.model.lookup import EVERY, lookup
from trainyard.model.manifest import Manifest
from trainyard.model.nvlink import CHANNEL, CLIQUE, DEVICE_CLASS, DOMAIN
from trainyard.references.graph import check_references
from trainyard.yaml_io.manifests import parse_manifests

_PODS = ("spec", "template", "spec", "replicatedJobs", EVERY, "template", "spec", "template")


@cache
def _generation() -> Generation:
    profiles = EXAMPLES / "gb200-nvlink" / "profiles"
    return generate(profiles, "../profiles/components", today=TODAY)


def _of(kind: str) -> list[Manifest]:
    return [each for each in _generation().manifests["rack"] if each.kind.name == kind]


def _pods(runtime: Manifest) -> list[Any]:
    return [pod for _, pod in lookup(runtime.body, _PODS)]


def test_each_namespace_has_a_domain_of_its_own() -> None:
    """Claims name a template of their own namespace, so teams are in two domains."""
    domains = {each.namespace: each.body["spec"] for each in _of("ComputeDomain")}

    assert set(domains) == {"team-language", "team-vision"}
    for spec in domains.values():
        assert spec["numNodes"] == 0
        assert spec["channel"]["resourceClaimTemplate"] == {"name": DOMAIN}


def test_every_pod_of_ranks_claims_a_channel_in_one_clique() -> None:
    """Also the launcher that has ranks; a container without the claim gets no device."""
    runtimes = _of("ClusterTrainingRuntime")
    assert len(runtimes) == 2
    for runtime in runtimes:
        for pod in _pods(runtime):
            (container,) = pod["spec"]["containers"]
            annotations = pod["metadata"]["annotations"]
            names = {each["name"] for each in container["env"]}
            assert pod["spec"]["resourceClaims"] == [
                {"name": DOMAIN, "resourceClaimTemplateName": DOMAIN}
            ]
            assert container["resources"]["claims"] == [{"name": DOMAIN}]
            assert annotations["kueue.x-k8s.io/podset-required-topology"] == CLIQUE
            assert {"NCCL_MNNVL_ENABLE", "NCCL_CUMEM_ENABLE"} <= names


def test_quota_has_a_claim_for_each_node() -> None:
    """Kueue counts it under the name that its configuration gives the class."""
    quotas = {}
    for queue in _of("ClusterQueue"):
        (group,) = queue.body["spec"]["resourceGroups"]
        (flavor,) = group["flavors"]
        amounts = {each["name"]: each["nominalQuota"] for each in flavor["resources"]}
        quotas[queue.name] = (amounts[CHANNEL], amounts["nvidia.com/gpu"])
    text = _generation().files["rack/operators/kueue-configuration.yaml"].decode()
    (configuration,) = parse_manifests(text)

    assert quotas == {"language-gpu": ("10", "40"), "vision-gpu": ("6", "24")}
    assert isinstance(configuration, dict)
    assert configuration["resources"] == {
        "deviceClassMappings": [{"name": CHANNEL, "deviceClassNames": [DEVICE_CLASS]}]
    }


def test_jobs_may_not_state_resources() -> None:
    """Trainer would build the container's resources without the claim."""
    limits = [each for each in _of("ConfigMap") if each.name.startswith("trainjob-limits")]
    (policy,) = [
        each
        for each in _of("ValidatingAdmissionPolicy")
        if each.name == "trainyard-trainjob-limits"
    ]

    assert limits
    for each in limits:
        for runtime in each.body["data"]["runtimes"].split():
            assert each.body["data"][f"claims.{runtime}"] == DOMAIN
    assert any("lose NVLink" in str(each) for each in policy.body["spec"]["validations"])


def test_claim_without_its_domain_is_found() -> None:
    """Kueue would admit no job of the runtime, and say so of each job only."""
    platform = _generation().checked.platform
    assert platform
    (site,) = platform.sites
    every = _generation().manifests["rack"]
    missing = [each for each in every if each.kind.name != "ComputeDomain"]

    assert not list(check_references(site, every))
    assert {
        "ResourceClaimTemplate" in each.message for each in check_references(site, missing)
    } == {True}


def test_tree_without_it_has_nothing_of_it() -> None:
    """A right to write ComputeDomains that nobody uses would be one too many."""
    profiles = EXAMPLES / "aws-efa" / "profiles"
    other = generate(profiles, "../profiles/components", today=TODAY)

    assert other.files
    words = (b"computedomain", b"resourceClaim", b"deviceClassMappings", b"NVLink to other nodes")
    found = [name for name, content in other.files.items() if any(map(content.count, words))]
    assert not found
