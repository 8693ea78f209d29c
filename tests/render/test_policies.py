"""Which of the policies on TrainJobs protects others, and which an upgrade may drop."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.change.impact.platforms import own
from tests.conftest import REPOSITORY
from tests.rules.cases import platform_of
from trainyard.generation.generate import generate
from trainyard.model.reserved import BINDINGS
from trainyard.model.reserved import secrets as reserved_secrets
from trainyard.render import scopes
from trainyard.render.site import render_site

RELEASES = pytest.mark.parametrize("release", ["kubernetes-1.36", "openshift-ai-3.5"])

HELP = [
    "'spec.trainer.numProcPerNode is '",
    "spec.trainer and spec.initializer: leave out empty env",
    "spec.trainer: leave out empty args and command",
    "a job without MPI needs spec.trainer",
    "'metadata.name has '",
    "'spec.initializer must say the storageUri",
    "a job's changes to its pods: a volume needs a name of its own",
    "names of Secrets, ConfigMaps and claims",
    "command, args and env must have no NUL",
]
"""First words of what only the job and its team would suffer from: it hangs, or fails at once."""


def _policies(release: str, kind: str = "ValidatingAdmissionPolicy") -> dict[str, Any]:
    changes = {"clusters/prod-east.yaml": {"release": release}}
    manifests = render_site(platform_of(changes).sites[0])
    return {each.name: each.body["spec"] for each in manifests if each.kind.name == kind}


def _words(policy: dict[str, Any]) -> list[str]:
    return [each.get("message") or each["messageExpression"] for each in policy["validations"]]


@RELEASES
def test_policy_that_may_be_dropped_holds_only_what_harms_the_job_itself(release: str) -> None:
    """It looks at new jobs alone, and none of its words stand in the policy that protects
    others."""
    policies = _policies(release)
    help_, limits = policies["trainyard-trainjob-help"], policies["trainyard-trainjob-limits"]
    assert all(
        message.startswith(known) for message, known in zip(_words(help_), HELP, strict=True)
    )
    assert help_["matchConstraints"]["resourceRules"][0]["operations"] == ["CREATE"]
    assert not any(message.startswith(known) for message in _words(limits) for known in HELP)


@RELEASES
def test_policy_that_protects_others_holds_the_rest(release: str) -> None:
    """Queue, priority, size, runtime, account, volumes and labels of a job are refused with or
    without the help."""
    words = _words(_policies(release)["trainyard-trainjob-limits"])
    assert len(words) == 25
    for known in (
        "queue-name",
        "priority-class",
        "numNodes",
        "runtimeRef",
        "resourcesPerNode",
        "the container runtime obey them",
        "serviceAccountName",
        "persistentVolumeClaim",
        "labels or annotations",
        "tolerations",
    ):
        assert any(known in message for message in words), known


@RELEASES
def test_keys_of_kueue_in_jobs_to_copy_may_be_set(release: str) -> None:
    """The policy lists them, and the labels of a priority class and of a queue are all there."""
    changes = {
        "clusters/prod-east.yaml": {
            "release": release,
            "priorities": {"batch": {"value": 1000, "deadline": "2d"}},
        },
        "teams/nlp.yaml": {"priorities": ["batch"]},
    }
    (site,) = platform_of(changes).sites
    spaces = [space for tenant in site.tenants for space in tenant.spaces]
    written = {"kueue.x-k8s.io/queue-name"}
    written |= {key for space in spaces for each in space.priorities for key in each.labels}
    limits = _policies(release)["trainyard-trainjob-limits"]
    variables = {each["name"]: each["expression"] for each in limits["variables"]}

    assert len(written) == 3
    assert all(f"'{key}'" in variables["keysOfKueue"] for key in written)
    assert any("leave out [' + variables.keysOfKueue" in word for word in _words(limits))


@RELEASES
def test_annotation_of_kueue_in_an_update_is_looked_at(release: str) -> None:
    """Kueue obeys one that is added to a job that waits. kubectl's own would stop each apply."""
    limits = _policies(release)["trainyard-trainjob-limits"]
    (changed,) = (
        each["expression"]
        for each in limits["matchConditions"]
        if "oldObject" in each["expression"]
    )

    assert "annotations.orValue({}).exists(key, key.contains('kueue.x-k8s.io/')" in changed
    assert "annotations.orValue({}) !=" not in changed


@RELEASES
def test_both_read_the_limits_of_each_namespace(release: str) -> None:
    """One ConfigMap for both bindings: what is refused for its size and what for its ranks follow
    from one place."""
    policies = _policies(release, "ValidatingAdmissionPolicyBinding")
    for namespace in ("nlp", "vision"):
        bindings = [policies[f"trainjob-{each}-{namespace}"] for each in ("help", "limits")]
        assert [each["policyName"] for each in bindings] == [
            "trainyard-trainjob-help",
            "trainyard-trainjob-limits",
        ]
        assert bindings[0]["paramRef"] == bindings[1]["paramRef"]
        assert bindings[0]["matchResources"] == bindings[1]["matchResources"]


@RELEASES
def test_names_and_labels_of_teams_are_reserved(release: str) -> None:
    """On every cluster for the delivery, and what would answer for a host of the profiles; where
    users request projects, these never take them, nor become a team's."""
    policy = _policies(release)["trainyard-team-namespaces"]
    variables = {each["name"]: each["expression"] for each in policy["variables"]}
    (rule,) = policy["matchConstraints"]["resourceRules"]
    parts = ["namespaces", "namespaces/finalize", "namespaces/status"]
    assert (rule["resources"], rule["operations"]) == (parts, ["CREATE", "DELETE", "UPDATE"])
    name, own = "object.metadata.name", "'trainyard-system'"
    assert variables["reserved"].startswith(f"{name}.startsWith('team-') || {name} == {own} || ")
    assert variables["reserved"].endswith(f"|| {name} in ['com', 'internal', 'svc']")
    assert variables["teamLabel"] == "'ml.example.com/team'"
    assert ("requester" in variables) == (release == "openshift-ai-3.5")
    assert len(policy["validations"]) == {"kubernetes-1.36": 5, "openshift-ai-3.5": 8}[release]


@RELEASES
def test_refused_name_is_in_the_message(release: str) -> None:
    """Of two reserved forms, `team-*` and `trainyard-system`: a fixed text would be wrong about one
    of them."""
    policy = _policies(release)["trainyard-team-namespaces"]
    on_names = [
        each for each in policy["validations"] if "variables.reserved" in each["expression"]
    ]
    assert len(on_names) == {"kubernetes-1.36": 1, "openshift-ai-3.5": 2}[release]
    assert all(
        "' + object.metadata.name + '" in each.get("messageExpression", "") for each in on_names
    )


@RELEASES
@pytest.mark.parametrize("mpi", [False, True])
def test_labels_that_network_policies_select_are_reserved(release: str, mpi: bool) -> None:
    """A pod with one of them is a rank to every network policy, whoever created it."""
    changes: dict[str, Any] = {"clusters/prod-east.yaml": {"release": release, "egress": EGRESS}}
    if mpi:
        changes["teams/nlp.yaml"] = {"mpiJobs": {"prod-east": {"until": "2099-12-31"}}}
    manifests = render_site(platform_of(changes).sites[0])
    bodies = [each.body["spec"] for each in manifests if each.kind.name == "NetworkPolicy"]
    selected = {
        requirement["key"]
        for body in bodies
        for selector in _pod_selectors(body)
        for requirement in selector.get("matchExpressions", ())
        if not requirement["key"].endswith("/never")
    }
    assert not any("matchLabels" in each for body in bodies for each in _pod_selectors(body))
    assert len(selected) == (2 if mpi else 1)
    for name in ("trainyard-pool-nodes", "trainyard-jobs"):
        (policy,) = (
            each.body["spec"]
            for each in manifests
            if each.kind.name == "ValidatingAdmissionPolicy" and each.name == name
        )
        variables = {each["name"]: each["expression"] for each in policy["variables"]}
        assert set(re.findall("'([^']+)'", variables["rankLabels"])) == selected


EGRESS = {
    source: {"to": ["203.0.113.0/28"], "ports": [443], "from": source}
    for source in ("all", "jobs", "workspaces")
}


def _pod_selectors(policy: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the selectors of pods of a NetworkPolicy: of its own, and of its peers."""
    yield policy["podSelector"]
    rules = [*policy.get("ingress", ()), *policy.get("egress", ())]
    for peer in (peer for rule in rules for peer in (*rule.get("from", ()), *rule.get("to", ()))):
        yield peer.get("podSelector", {})


def test_policies_on_what_others_may_not_name_are_there_where_it_is_used() -> None:
    """A class that other namespaces use must not be closed to them."""
    site = platform_of({}).sites[0]
    storage = tuple(
        replace(each, storage_class="cephfs")
        for each in site.cluster.storage
        if not each.secret_store
    )
    bare = replace(site, cluster=replace(site.cluster, storage=storage, pull_secrets=()))
    for scopes_of in (scopes.with_secret_stores, scopes.with_adopted_volumes):
        assert (len([*scopes_of(site)]), len([*scopes_of(bare)])) == (1, 0)


@RELEASES
def test_names_of_controllers_are_those_of_the_release(release: str) -> None:
    """Literal names, and prefixes."""
    policy = _policies(release)["trainyard-tenant-objects"]
    variables = {each["name"]: each["expression"] for each in policy["variables"]}
    assert "'kube-root-ca.crt'" in variables["named"]
    on_openshift = "variables.metadata.name.startsWith('odh-')"
    assert (on_openshift in variables["named"]) == (release == "openshift-ai-3.5")


@RELEASES
def test_only_claims_may_get_finalizers_of_storage(release: str) -> None:
    """On a TrainJob or a ConfigMap nobody removes them."""
    policy = _policies(release)["trainyard-tenant-objects"]
    held, orphaned, kept = (
        each for each in policy["validations"] if "inalizers" in each["expression"]
    )
    assert "variables.isClaim && each == 'kubernetes.io/pvc-protection'" in held["expression"]
    assert "!('orphan' in variables.metadata.?finalizers" in orphaned["expression"]
    assert "variables.oldFinalizers.all(" in kept["expression"]


_PARTS = ("matchConditions", "variables", "validations")
_PAIRS = ("()", "[]", "{}")


def test_brackets_of_each_expression_are_balanced() -> None:
    """The API server refuses a policy that it can't parse, and all others still stand."""
    manifests = generate(REPOSITORY / "profiles", "../profiles/components").manifests
    policies = [
        each.body["spec"]
        for site in manifests.values()
        for each in site
        if each.kind.name == "ValidatingAdmissionPolicy"
    ]
    assert len(policies) > 20
    for policy in policies:
        texts = [each["expression"] for part in _PARTS for each in policy.get(part, ())]
        for text in texts:
            without_text = re.sub(r"'(?:[^'\\]|\\.)*'", "", text)
            brackets = re.sub(r"[^()\[\]{}]", "", without_text)
            while any(pair in brackets for pair in _PAIRS):
                brackets = re.sub(r"\(\)|\[\]|\{\}", "", brackets)
            assert not brackets, text


_COMPARED = re.compile(r"\[\?[^\]]+\]\s*\.orValue\(''\)\s*[!=]=\s*([\w.\[]+)")
_POLICIES = sorted((REPOSITORY / "templates/platform").glob("validating-admission-policy-*.j2"))


@pytest.mark.parametrize("policy", _POLICIES, ids=lambda path: path.stem)
def test_key_with_an_empty_value_is_not_taken_for_an_absent_one(policy: Path) -> None:
    """`orValue('') == value` lets a tenant add a key with an empty value, which selectors see.

    The second part of a runtime's name is never empty.
    """
    compared = _COMPARED.findall(policy.read_text(encoding="utf-8"))
    assert set(compared) <= {"variables.parts[0"}


def test_names_of_all_bindings_in_teams_namespaces_are_reserved() -> None:
    """Whoever takes one before has a role that no sync can change."""
    bindings = {
        manifest.name
        for _, manifests in own()
        for manifest in manifests
        if manifest.kind.name == "RoleBinding" and manifest.unit.startswith("teams/")
    }
    assert bindings >= {"admin", "debugger", "finished-jobs", "runtimes", "user", "viewer"}
    assert bindings <= set(BINDINGS)


def test_names_of_all_secrets_in_teams_namespaces_are_reserved() -> None:
    """A certificate under such a name has a type that no sync can change."""
    for site, manifests in own():
        secrets = {
            manifest.body["spec"]["target"].get("name", manifest.name)
            for manifest in manifests
            if manifest.kind.name == "ExternalSecret" and manifest.unit.startswith("teams/")
        }
        assert secrets
        assert secrets <= set(reserved_secrets(site))


def test_tree_states_every_source_of_its_secrets() -> None:
    """What a member wrote under the name before is kept where the tree states nothing."""
    for site, manifests in own():
        secrets = [
            each.body["spec"]
            for each in manifests
            if each.kind.name == "ExternalSecret" and each.unit.startswith("teams/")
        ]
        assert secrets, site.name
        assert all({"data", "dataFrom", "refreshPolicy"} <= spec.keys() for spec in secrets)
        assert all(spec["target"]["immutable"] is False for spec in secrets)
