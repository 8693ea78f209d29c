"""`trainyard preflight`: a cluster beside its committed tree."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calls import Ended, edit
from tests.rules.clusters import facts_of
from trainyard.cli.document import envelope
from trainyard.generation.generate import generate
from trainyard.model.readable import TABLE

pytestmark = pytest.mark.usefixtures("tree")
Call = Callable[..., Ended]
FILE = "facts.json"


def write(
    cluster: str,
    phase: str,
    changes: Mapping[str, Any] | None = None,
    unread: Mapping[str, str] | None = None,
) -> None:
    """Write the facts of a cluster that has all that the committed tree needs."""
    generation = generate(Path("profiles"), "../profiles/components")
    assert generation.checked.platform
    sites = {site.name: site for site in generation.checked.platform.sites}
    made = generation.manifests[cluster]
    facts = facts_of(sites[cluster], made, phase, changes or {}, unread or {})
    Path(FILE).write_text(envelope("facts", facts), "utf-8")


@pytest.mark.parametrize("cluster", ["lab", "prod-east"])
@pytest.mark.parametrize("phase", ["before", "after"])
def test_cluster_that_has_all_has_no_finding(trainyard: Call, cluster: str, phase: str) -> None:
    """On both releases; on one of them Argo CD runs elsewhere."""
    write(cluster, phase)
    ended = trainyard("preflight", cluster, "--from", FILE, "--phase", phase)
    assert (ended.code, ended.out.splitlines()[0]) == (0, "no findings in 31 profiles"), ended.out
    assert f"{cluster}, {phase} the sync" in ended.out


def test_findings_have_every_form_and_the_exit_code(trainyard: Call) -> None:
    write("lab", "before", {"Cohort/research": {"apiVersion": "kueue.x-k8s.io/v1beta2"}})
    outputs = ("--format", "text", "--format", "json:p.json", "--format", "sarif:p.sarif")
    ended = trainyard("preflight", "lab", "--from", FILE, *outputs, "--format", "junit:p.xml")
    assert ended.code == 1
    assert "error[preflight/name-taken]: Cohort `research` is there" in ended.out
    result = json.loads(Path("p.json").read_text("utf-8"))["result"]
    assert [each["rule"] for each in result["diagnostics"]] == ["preflight/name-taken"]
    assert result["checked"]["phase"] == "before"
    (run,) = json.loads(Path("p.sarif").read_text("utf-8"))["runs"]
    assert [each["ruleId"] for each in run["results"]] == ["preflight/name-taken"]
    assert 'classname="preflight/name-taken"' in Path("p.xml").read_text("utf-8")
    assert "name-taken" in trainyard("explain", "preflight/name-taken").out


def test_adopted_object_is_compared_and_kept(tree: Path, trainyard: Call) -> None:
    """Its name is not an error, what the sync changes is a warning, and Argo CD never prunes it."""
    adopt = 'adopt: {objects: [Cohort/research, WorkloadPriorityClass/batch], until: "2099-12-31", '
    profile = tree / "profiles/clusters/lab.yaml"
    profile.write_text(f"{adopt}reason: moves}}\n{profile.read_text('utf-8')}", "utf-8")
    assert trainyard("generate").code == 0
    cohort = (tree / "overlays/lab/platform/cohort-research.yaml").read_text("utf-8")
    assert "argocd.argoproj.io/sync-options: Prune=false,Delete=confirm\n" in cohort
    others = {"metadata": {"managedFields": [{"manager": "helm"}]}}
    write(
        "lab",
        "before",
        {
            "Cohort/research": {"apiVersion": "kueue.x-k8s.io/v1beta2", **others},
            "WorkloadPriorityClass/batch": {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "value": 7,
                **others,
            },
            "WorkloadPriorityClass/interactive": {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                **others,
            },
        },
    )
    ended = trainyard("preflight", "lab", "--from", FILE)
    taken, cohort, batch = re.findall(r"^(?:error|warning)\[.*", ended.out, re.MULTILINE)
    name = "WorkloadPriorityClass `interactive` is there, made by somebody (helm)"
    assert taken == f"error[preflight/name-taken]: {name}"
    assert cohort.startswith("warning[preflight/adopted-differs]: Cohort/research is there, and ")
    assert batch.startswith("warning[preflight/adopted-differs]: WorkloadPriorityClass/batch is ")
    assert batch.endswith("the sync changes it: value 7 -> 500")
    assert " -> " in cohort
    assert " differs" not in cohort


def test_labels_that_kubectl_applied_are_deleted(tree: Path, trainyard: Call) -> None:
    """Those of other managers stay, and so do those that the tree states."""
    adopt = 'adopt: {objects: [Namespace/team-nlp], until: "2099-12-31", reason: moves}\n'
    profile = tree / "profiles/clusters/lab.yaml"
    profile.write_text(adopt + profile.read_text("utf-8"), "utf-8")
    assert trainyard("generate").code == 0
    us = "app.kubernetes.io/managed-by"

    def manager(name: str, *labels: str) -> dict[str, object]:
        known = {f"f:{key}": dict[str, str]() for key in (".", *labels)}
        fields = {"f:metadata": {"f:labels": known}}
        return {"manager": name, "fieldsV1": fields}

    entries = [manager("kubectl-client-side-apply", "cost", "zone", us), manager("helm", "zone")]
    labels = {"cost": "1", "zone": "a", us: "Helm"}
    body = {"apiVersion": "v1", "metadata": {"labels": labels, "managedFields": entries}}
    write("lab", "before", {"Namespace/team-nlp": body})
    ended = trainyard("preflight", "lab", "--from", FILE)
    (found,) = re.findall(r"^(?:error|warning)\[.*", ended.out, re.MULTILINE)
    assert found.startswith("warning[preflight/adopted-differs]: Namespace/team-nlp is there, and ")
    assert found.endswith("the sync changes it: label cost is deleted")


def test_volume_that_kubectl_applied_is_deleted(tree: Path, trainyard: Call) -> None:
    """So nobody adopts a claim by hand of which the API server then refuses the whole sync."""
    claim = "PersistentVolumeClaim/team-nlp/scratch"
    adopt = f'adopt: {{objects: [{claim}], until: "2099-12-31", reason: moves}}\n'
    profile = tree / "profiles/clusters/lab.yaml"
    profile.write_text(adopt + profile.read_text("utf-8"), "utf-8")
    assert trainyard("generate").code == 0
    spec = {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "20Ti"}},
        "storageClassName": "lustre",
        "volumeMode": "Filesystem",
        "volumeName": "pv-data",
    }
    for manager, said in (("kubectl-client-side-apply", True), ("helm", False)):
        fields: dict[str, Any] = {"f:spec": {"f:volumeName": {}}}
        metadata = {"managedFields": [{"manager": manager, "fieldsV1": fields}]}
        write("lab", "before", {claim: {"apiVersion": "v1", "metadata": metadata, "spec": spec}})
        ended = trainyard("preflight", "lab", "--from", FILE)
        lost = f"{claim} is there, and the sync changes it: spec.volumeName is deleted"
        assert (lost in ended.out) == said, ended.out


def test_queues_of_the_site_are_expected_while_they_go_on(tree: Path, trainyard: Call) -> None:
    profile = tree / "profiles/clusters/lab.yaml"
    before = profile.read_text("utf-8")
    queue = {"apiVersion": "kueue.x-k8s.io/v1beta2", "spec": {"clusterQueue": "old"}}
    adopt = 'adopt: {queues: site, until: "2099-12-31", reason: moves}\n'
    for text, code in ((adopt + before, 0), (before, 1)):
        profile.write_text(text, "utf-8")
        assert trainyard("generate").code == 0
        write("lab", "before", {"LocalQueue/team-nlp/old": queue})
        ended = trainyard("preflight", "lab", "--from", FILE)
        assert ended.code == code, ended.out
        assert ("preflight/other-local-queue" in ended.out) == bool(code)


def test_adopted_object_must_be_one_of_the_tree(tree: Path, trainyard: Call) -> None:
    adopt = 'adopt: {objects: [Cohort/reserch], until: "2099-12-31", reason: moves}\n'
    profile = tree / "profiles/clusters/lab.yaml"
    profile.write_text(adopt + profile.read_text("utf-8"), "utf-8")
    ended = trainyard("generate")
    assert ended.code == 1
    found = "error[references/unknown-adopted]: the tree of cluster `lab` has no object"
    assert f"{found} `Cohort/reserch`" in ended.out
    assert "did you mean `Cohort/research`?" in ended.out


def test_unread_kind_is_an_error_until_it_is_waived(tree: Path, trainyard: Call) -> None:
    """With the rule that the account lacks; the waiver is not unused for other commands."""
    write("lab", "before", unread={"storageclasses.storage.k8s.io": "forbidden"})
    ended = trainyard("preflight", "lab", "--from", FILE)
    assert ended.code == 1
    rule = '{"apiGroups": ["storage.k8s.io"], "resources": ["storageclasses"], "verbs": ["get", '
    assert rule in ended.out
    waiver = {
        "rule": "preflight/unchecked",
        "file": "profiles/clusters/lab.yaml",
        "owner": "storage team",
        "reason": "the storage team checks its classes",
        "expires": "2099-12-31",
    }
    waivers = tree / "profiles/waivers.yaml"
    known = waivers.read_text("utf-8") if waivers.exists() else "waivers:\n"
    waivers.write_text(f"{known}  - {json.dumps(waiver)}\n", "utf-8")
    assert trainyard("preflight", "lab", "--from", FILE).code == 0
    assert "unused-waiver" not in trainyard("validate").out


def test_file_that_could_not_be_read_is_an_error(trainyard: Call) -> None:
    """What it would have had is not known, for both commands."""
    write("lab", "before")
    facts = json.loads(Path(FILE).read_text("utf-8"))
    facts["result"]["skipped"] = ["dump/queues.json is not JSON"]
    Path(FILE).write_text(json.dumps(facts), "utf-8")
    message = "error[preflight/unchecked]: dump/queues.json is not JSON; what it has is not known"
    for command in ("preflight", "drift"):
        ended = trainyard(command, "lab", "--from", FILE)
        assert (ended.code, ended.out.count(message)) == (1, 1), ended
    assert "if it stays: The rules that need it" in ended.out


def test_old_facts_are_a_warning(trainyard: Call) -> None:
    """Of yesterday they are fine; a warning is not an error."""
    write("lab", "before")
    options = ("preflight", "lab", "--from", FILE, "--today", "2026-11-21", "--read-on")
    ended = trainyard(*options, "2026-11-20")
    assert (ended.code, "old-facts" in ended.out) == (0, False)
    ended = trainyard(*options, "2026-11-19")
    assert (ended.code, "2026-11-19, 2 days ago" in ended.out) == (0, True)
    assert trainyard(*options, "yesterday").code == 2


def test_only_one_configmap_is_asked_for(trainyard: Call) -> None:
    """A dump of all of them would hold what is nobody's business."""
    write("lab", "before")
    facts = json.loads(Path(FILE).read_text("utf-8"))
    nodes = [each for each in facts["result"]["objects"] if each["kind"] == "Node"]
    dump = {"apiVersion": "v1", "kind": "List", "items": nodes}
    Path(FILE).write_text(json.dumps(dump), "utf-8")
    shown = trainyard("preflight", "lab", "--from", FILE).out
    assert "kubectl get configmaps kueue-manager-config -n kueue-system -o yaml" in shown
    kinds = re.findall("for kind in (.*?);", shown)
    assert kinds
    assert not any("configmaps" in each for each in kinds)
    assert shown.count("error[preflight/unchecked]") == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"unread": None}, "does not say what could not be read"),
        ({"unread": 7}, "does not say what could not be read"),
        ({"skipped": None}, "does not say what could not be read"),
        ({"skipped": [7]}, "does not say what could not be read"),
        ({"unread": [{"resource": "secrets", "reason": "forbidden"}]}, "does not read"),
        ({"unread": ["nodes"]}, "does not say what could not be read"),
        ({"objects": None}, "no list of objects"),
        ({"objects": [7]}, "not a Kubernetes object"),
    ],
)
def test_damaged_facts_are_refused(trainyard: Call, change: dict[str, Any], words: str) -> None:
    """Else what nobody read would pass as empty."""
    write("lab", "before")
    facts = json.loads(Path(FILE).read_text("utf-8"))
    facts["result"] |= change
    Path(FILE).write_text(json.dumps(facts), "utf-8")
    ended = trainyard("preflight", "lab", "--from", FILE)
    assert (ended.code, words in ended.err) == (5, True), ended


def test_tree_that_is_stale_is_reported_before_anything_is_read(
    tree: Path, trainyard: Call
) -> None:
    edit(tree / "profiles/clusters/lab.yaml", "value: 500", "value: 501")
    ended = trainyard("preflight", "lab", "--from", "nothing.json")
    assert (ended.code, "delivery/tree-is-stale" in ended.out) == (1, True)


def test_facts_of_another_cluster_are_refused(trainyard: Call) -> None:
    write("prod-east", "before")
    ended = trainyard("preflight", "lab", "--from", FILE)
    assert (ended.code, "has facts of cluster `prod-east`" in ended.err) == (2, True)


def test_configuration_that_kueue_does_not_read_differs(trainyard: Call) -> None:
    change = {"data": {"controller_manager_config.yaml": "a: [\n"}}
    write("lab", "after", {"ConfigMap/kueue-system/kueue-manager-config": change})
    ended = trainyard("preflight", "lab", "--from", FILE, "--phase", "after")
    assert (ended.code, "preflight/other-kueue-configuration" in ended.out) == (1, True)


def test_table_has_each_kind_that_others_may_have_made() -> None:
    """Objects in a namespace of the tree are judged by their namespace."""
    generation = generate(Path("profiles"), "../profiles/components")
    missing = set()
    for made in generation.manifests.values():
        own = {each.name for each in made if each.kind.name == "Namespace"}
        missing |= {
            each.kind.name
            for each in made
            if each.unit not in {"samples", "operators", "node-files"}
            and each.namespace not in own
            and not any(resource.has(each.body) for resource in TABLE)
        }
    assert missing == set()


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"spec": {"type": "object", "oneOf": []}}},
        {"type": "object", "properties": {"spec": {"type": "string", "pattern": "("}}},
        {"properties": 1},
        "none",
    ],
)
def test_crd_that_is_not_understood_is_unchecked(trainyard: Call, schema: Any) -> None:
    """It is not a bug of Trainyard, and no silence."""
    version = {"name": "v1beta2", "served": True, "schema": {"openAPIV3Schema": schema}}
    change = {"spec": {"versions": [version]}}
    write("lab", "before", {"CustomResourceDefinition/cohorts.kueue.x-k8s.io": change})
    ended = trainyard("preflight", "lab", "--from", FILE)
    assert (ended.code, ended.out.count("error[")) == (1, 1), ended
    assert "error[preflight/unchecked]: the CRD of Cohort" in ended.out


@pytest.mark.parametrize("shape", [None, 1, "text", [], [1], {"a": [1]}, {"labels": [1]}])
def test_objects_of_any_shape_are_no_bug(trainyard: Call, shape: Any) -> None:
    """A dump may be cut, or written by hand."""
    write("lab", "after")
    facts = json.loads(Path(FILE).read_text("utf-8"))
    for number, body in enumerate(facts["result"]["objects"]):
        key = ("metadata", "spec", "status", "data", "apiVersion")[number % 5]
        body[key] = shape
    Path(FILE).write_text(json.dumps(facts), "utf-8")
    ended = trainyard("preflight", "lab", "--from", FILE, "--phase", "after")
    assert ended.code in {1, 5}, ended
