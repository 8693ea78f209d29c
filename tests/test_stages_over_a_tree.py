"""Stages of a team over a committed tree: observe, warn, enforce, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.histories import History

pytestmark = pytest.mark.thorough

NLP = "teams/nlp.yaml"
FOLDER = "overlays/lab"
ENFORCE = "pod-security.kubernetes.io/enforce"
GUARDS = (
    "trainyard-jobs",
    "trainyard-trainjob-form",
    "trainyard-no-orphans",
    "trainyard-closed-until-admitted",
)
ALWAYS = ("trainyard-job-status", "trainyard-sources")


def stage(word: str) -> str:
    return f'adopt: {{stage: {word}, until: "2099-03-31", reason: notebooks move}}\n'


def diff(history: History) -> str:
    """Return what `diff` shows of the edit, which `generate` accepts."""
    code, shown = history.trainyard("generate")
    assert code == 0, shown
    code, shown = history.trainyard("diff", "--base", "HEAD")
    assert code == 0, shown
    return shown


def tree(history: History) -> dict[str, bytes]:
    folder = history.folder / FOLDER
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def objects(history: History, kind: str) -> dict[str, dict[str, Any]]:
    found = {}
    for path in Path(history.folder, FOLDER).rglob(f"{kind.lower()}-*.yaml"):
        body = yaml.safe_load(path.read_text("utf-8"))
        metadata = body["metadata"]
        found["/".join(filter(None, (metadata.get("namespace"), metadata["name"])))] = body
    return found


def chosen(binding: dict[str, Any], namespace: str) -> bool:
    """Return whether a binding chooses a namespace of a team, by its name."""
    for each in binding["spec"]["matchResources"]["namespaceSelector"].get("matchExpressions", ()):
        if each["key"] == "kubernetes.io/metadata.name":
            return bool((namespace in each["values"]) == (each["operator"] == "In"))
    return True


def actions(history: History, policy: str, namespace: str) -> list[str]:
    """Return the actions of the only binding of a policy that chooses all of the namespace."""
    bindings = objects(history, "ValidatingAdmissionPolicyBinding").values()
    (binding,) = (
        each
        for each in bindings
        if each["spec"]["policyName"] == policy
        and chosen(each, namespace)
        and not each["metadata"]["name"].endswith("-of-jobs")
    )
    found: list[str] = binding["spec"]["validationActions"]
    return found


def test_only_the_observed_team_is_opened(history: History) -> None:
    """Its bindings record, its network is open, nothing limits it; its neighbour's objects stay."""
    others = _others(history)
    history.edit(NLP, "contact: ", stage("observe") + "contact: ")
    shown = diff(history)
    left = "starts no job that waits in team-nlp/default"
    assert shown.startswith(f"evicts: nobody; holds queues of nlp on lab; {left}; opens network ")
    assert "team nlp at stage observe is held" in shown
    assert "~ team nlp: what breaks its rules is refused -> recorded" in shown
    assert "without a queue's label: is in queue gpu -> is in no queue" in shown
    for policy in (*GUARDS, "trainyard-tenant-objects", "trainyard-network-policies"):
        assert actions(history, policy, "team-nlp") == ["Audit"]
        assert actions(history, policy, "team-audio") == ["Deny"]
    assert [actions(history, policy, "team-nlp") for policy in ALWAYS] == [["Deny"], ["Deny"]]
    _waiting_jobs_are_held(history)
    limits = objects(history, "ValidatingAdmissionPolicyBinding")["trainjob-limits-nlp"]["spec"]
    assert limits["validationActions"] == ["Audit"]
    assert limits["paramRef"]["parameterNotFoundAction"] == "Allow"
    assert _others(history) == others
    assert objects(history, "NetworkPolicy")["team-nlp/trainyard-open-until-enforced"]["spec"] == {
        "podSelector": {},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{}],
        "egress": [{}],
    }
    assert ENFORCE not in objects(history, "Namespace")["team-nlp"]["metadata"]["labels"]
    assert "team-nlp/defaults" not in objects(history, "LimitRange")
    assert "team-nlp/object-counts" not in objects(history, "ResourceQuota")
    assert "Until 2099-03-31 your team is not isolated" in _text(history, "samples/nlp/README.md")
    assert "| nlp | `observe` | 2099-03-31 | notebooks move |" in _text(history, "README.md")


def _waiting_jobs_are_held(history: History) -> None:
    """Assert that jobs in queues of the observed team are refused, and none gets one unasked."""
    bindings = objects(history, "ValidatingAdmissionPolicyBinding")
    of_jobs = [body for name, body in bindings.items() if name.endswith("-of-jobs")]
    assert {each["spec"]["policyName"] for each in of_jobs} == {
        *GUARDS,
        "trainyard-tenant-objects",
        "trainyard-trainjob-limits",
    }
    for each in of_jobs:
        (chosen_by,) = each["spec"]["matchResources"]["objectSelector"]["matchExpressions"]
        assert each["spec"]["validationActions"] == ["Deny"]
        assert chosen_by["values"] == ["default", "gpu"]
    assert "team-nlp/default" not in objects(history, "LocalQueue")
    assert "team-audio/default" in objects(history, "LocalQueue")


def test_team_goes_from_stage_to_stage_and_back(history: History) -> None:
    """Each edit is accepted, the last gives the first tree, and the way back is open."""
    before, others = tree(history), _others(history)
    history.edit(NLP, "contact: ", stage("observe") + "contact: ")
    diff(history)
    history.commit()

    history.edit(NLP, "stage: observe", "stage: warn")
    assert diff(history).startswith("evicts: nobody; opens queues of nlp on lab\n")
    for policy in GUARDS:
        assert actions(history, policy, "team-nlp") == ["Deny"]
    assert actions(history, "trainyard-tenant-objects", "team-nlp") == ["Warn", "Audit"]
    assert "team-nlp/trainyard-open-until-enforced" in objects(history, "NetworkPolicy")
    assert _others(history) == others
    history.commit()

    history.edit(NLP, stage("warn"), "")
    assert "what breaks its rules is recorded, with a warning -> refused" in diff(history)
    assert tree(history) == before
    history.commit()

    history.edit(NLP, "contact: ", stage("warn") + "contact: ")
    assert "refused -> recorded, with a warning" in diff(history)


def test_cluster_that_spares_others_holds_its_teams(history: History) -> None:
    """Pods and namespaces of others are recorded, and those of teams are held as on any cluster.

    A team at `observe` has its pods spared, and not its namespace.
    """
    before = tree(history)
    pods = 'adopt: {pods: audit, until: "2099-03-31", reason: inference moves}\n'
    history.edit("clusters/lab.yaml", "release: ", pods + "release: ")
    diff(history)
    history.commit()
    for namespace, pod, name in (
        ("inference", "Audit", "Audit"),
        ("team-later", "Audit", "Audit"),
        ("team-nlp", "Deny", "Deny"),
        ("trainyard-system", "Audit", "Deny"),
    ):
        assert actions(history, "trainyard-pool-nodes", namespace) == [pod]
        assert actions(history, "trainyard-team-namespaces", namespace) == [name]

    history.edit(NLP, "contact: ", stage("observe") + "contact: ")
    diff(history)
    history.commit()
    assert actions(history, "trainyard-pool-nodes", "team-nlp") == ["Audit"]
    assert actions(history, "trainyard-pool-nodes", "team-audio") == ["Deny"]
    assert actions(history, "trainyard-team-namespaces", "team-nlp") == ["Deny"]

    history.edit(NLP, "stage: observe", "stage: warn")
    history.edit("clusters/lab.yaml", "pods: audit", "pods: warn")
    diff(history)
    history.commit()
    assert actions(history, "trainyard-pool-nodes", "inference") == ["Warn", "Audit"]
    assert actions(history, "trainyard-pool-nodes", "team-nlp") == ["Deny"]

    history.edit(NLP, stage("warn"), "")
    history.edit("clusters/lab.yaml", pods.replace("audit", "warn"), "")
    diff(history)
    assert tree(history) == before


def _others(history: History) -> dict[str, bytes]:
    return {name: body for name, body in tree(history).items() if name.startswith("teams/audio/")}


def _text(history: History, path: str) -> str:
    return Path(history.folder, FOLDER, path).read_text("utf-8")


def test_last_day_and_regulation_are_errors(history: History) -> None:
    history.edit(NLP, "contact: ", stage("observe").replace("2099", "2020") + "contact: ")
    code, shown = history.trainyard("validate")
    assert code == 1
    assert "error[isolation/adoption-ended]: the adoption of team nlp ended on 2020-03-31" in shown
    history.edit(NLP, "2020-03-31", "2099-03-31")
    history.edit(NLP, "contact: ", "compliance: hipaa\ncontact: ")
    compliance = history.folder / "profiles/compliance/hipaa.yaml"
    compliance.parent.mkdir(exist_ok=True)
    compliance.write_text("title: HIPAA\ncontrols: {networkIsolation: 164.312(e)(1)}\n")
    code, shown = history.trainyard("validate")
    assert code == 1
    assert "error[isolation/adopting-under-a-regulation]: team nlp is under a regulation" in shown
