"""`trainyard drift`: what somebody changed by hand, in the words of `diff`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.change.hand_made import Body, changed, read, stored
from tests.cli.calls import REPOSITORY, Ended, edit
from trainyard.change.drift.compare import drift_of
from trainyard.cli.document import encoded, envelope, plain
from trainyard.cli.impact.drifted import drift_document, drift_lines
from trainyard.generation.generate import generate
from trainyard.generation.objects import component_manifests
from trainyard.model.facts import Resource, Unread
from trainyard.model.live import AFTER, Live
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.readable import TABLE, resource_of
from trainyard.workflows.facts import kueue_of
from trainyard.yaml_io.manifests import parse_manifests

Call = Callable[..., Ended]
FILE = "facts.json"
LEFT_OUT = "1 object of hand-written components not compared: ConfigMap"
EDITS = parse_manifests((REPOSITORY / "tests/change/drift.yaml").read_text("utf-8"))[0]


@cache
def site_of(cluster: str) -> tuple[Site, tuple[Manifest, ...]]:
    generation = generate(REPOSITORY / "profiles", "../profiles/components")
    assert generation.checked.platform
    sites = {site.name: site for site in generation.checked.platform.sites}
    manifests = generation.manifests[cluster]
    return sites[cluster], (*manifests, *component_manifests(sites[cluster]))


@cache
def _synced(cluster: str) -> dict[str, Body]:
    return stored(*site_of(cluster))


def synced(cluster: str = "lab") -> dict[str, Body]:
    """Return the objects of a cluster that nobody has touched."""
    return deepcopy(_synced(cluster))


def live_of(objects: dict[str, Body], cluster: str = "lab") -> Live:
    """Return a cluster beside its tree."""
    site, manifests = site_of(cluster)
    facts = read(site, objects.values())
    return Live(site, AFTER, manifests, facts, kueue_of(facts))


def shown(objects: dict[str, Body], cluster: str = "lab") -> list[str]:
    """Return what is said of a cluster."""
    return [*drift_lines(drift_of(live_of(objects, cluster)), fields=False)]


def write(objects: dict[str, Body], cluster: str = "lab", **unread: str) -> None:
    """Write the facts of a cluster."""
    site, _ = site_of(cluster)
    facts = read(site, objects.values())
    reasons = tuple(Unread(name, why) for name, why in sorted(unread.items()))
    Path(FILE).write_text(envelope("facts", replace(facts, unread=reasons)), "utf-8")


@pytest.mark.parametrize("cluster", ["lab", "prod-east"])
@pytest.mark.usefixtures("tree")
def test_cluster_that_nobody_touched_has_no_difference(trainyard: Call, cluster: str) -> None:
    """What the API server and controllers add is none."""
    write(synced(cluster), cluster)
    ended = trainyard("drift", cluster, "--from", FILE)
    assert (ended.code, ended.err) == (0, ""), ended
    assert ended.out.startswith(f"{cluster}: no difference in ")
    assert [line for line in ended.out.splitlines()[1:] if line] == [LEFT_OUT], ended.out


def test_table_has_at_least_thirty_changes() -> None:
    assert len(EDITS) >= 30
    assert len({each["edit"] for each in EDITS}) == len(EDITS)


@pytest.mark.parametrize("hand", EDITS, ids=lambda hand: hand["edit"])
def test_each_change_is_said_in_words(hand: dict[str, Any]) -> None:
    """In one object; the first line has the worst."""
    cluster = hand.get("cluster", "lab")
    first, *lines = shown(changed(_synced(cluster), hand), cluster)
    assert hand.get("head", "") in first
    for words in hand["says"]:
        assert any(words in line for line in lines), "\n".join((f"{words!r} not in", first, *lines))
    (heading,) = (line for line in lines if line.startswith(("team ", "platform: ")))
    assert re.search(": 1 (added|changed|missing)$", heading)


def test_each_kind_of_the_tree_is_read() -> None:
    """But for kinds that only a hand-written component has."""
    missing = {
        manifest.kind.name
        for cluster in ("lab", "prod-east")
        for manifest in site_of(cluster)[1]
        if manifest.unit not in {"samples", "operators", "node-files"}
        and not manifest.by_hand
        and resource_of(manifest.body) is None
    }
    assert missing == set()


@pytest.mark.parametrize(
    ("resource", "path"),
    [(each, path) for each in TABLE for path in each.compared],
    ids=lambda value: value if isinstance(value, str) else value.plural,
)
def test_each_field_that_is_kept_is_compared(resource: Resource, path: str) -> None:
    """Some tree states it; otherwise a change of the table adds it. IB fabrics have no example."""
    stated = any(
        _has(manifest.body, path)
        for cluster in ("lab", "prod-east")
        for manifest in site_of(cluster)[1]
        if resource.has(manifest.body)
    )
    added = {field for hand in EDITS for field in hand.get("set", {})}
    assert stated or path in added or resource.kind == "SriovIBNetwork"


def _has(body: Any, path: str) -> bool:
    for step in path.split("."):
        if not isinstance(body, dict) or step not in body:
            return False
        body = body[step]
    return True


@pytest.mark.usefixtures("here")
def test_facts_have_no_value_of_a_variable() -> None:
    """Neither of a runtime nor of the CronJob; their names are there."""
    objects = synced()
    (key,) = (each for each in objects if each.startswith("CronJob/"))
    pod = objects[key]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    pod["containers"][0]["env"] = [{"name": "TOKEN", "value": "nobody-may-see-this"}]
    write(objects)
    text = Path(FILE).read_text("utf-8")
    assert "nobody-may-see-this" not in text
    assert "hidden" not in text
    assert '"TOKEN"' in text
    runtime = next(
        each for each in json.loads(text)["result"]["objects"] if "Runtime" in each["kind"]
    )
    assert '"env"' in json.dumps(runtime)
    assert '"value"' not in json.dumps(runtime)


@pytest.mark.usefixtures("here")
def test_facts_of_other_namespaces_are_dropped() -> None:
    policy = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy"}
    body = {**policy, "metadata": {"name": "own", "namespace": "strangers"}, "spec": {}}
    write({**synced(), "NetworkPolicy/strangers/own": body})
    assert "strangers" not in Path(FILE).read_text("utf-8")


@pytest.mark.usefixtures("tree")
def test_facts_are_the_same_when_they_are_read_again(trainyard: Call) -> None:
    """So what managed a field is not lost."""
    write(changed(synced(), EDITS[0]))
    before = Path(FILE).read_text("utf-8")
    assert trainyard("facts", "lab", "--from", FILE, "--format", "json:again.json").code == 0
    assert json.loads(Path("again.json").read_text("utf-8")) == json.loads(before)


@pytest.mark.usefixtures("tree")
def test_facts_of_another_table_are_refused(trainyard: Call) -> None:
    """A field that it did not keep would look like one that somebody removed."""
    write(synced())
    facts = json.loads(Path(FILE).read_text("utf-8"))
    facts["result"]["table"] = "0123"
    Path(FILE).write_text(json.dumps(facts), "utf-8")
    ended = trainyard("drift", "lab", "--from", FILE)
    assert (ended.code, "another Trainyard reads" in ended.err) == (5, True), ended


@pytest.mark.usefixtures("tree")
def test_changes_are_grouped_by_team_and_have_json(trainyard: Call) -> None:
    """The platform comes first; each object is in one part."""
    objects = synced()
    wanted = {
        "a queue is held": "nlp",
        "a claim has grown": "nlp",
        "a policy warns only": "",
        "a network policy of somebody opens a namespace": "speech",
    }
    for hand in EDITS:
        if hand["edit"] in wanted:
            objects = changed(objects, hand)
    write(objects)
    ended = trainyard("drift", "lab", "--from", FILE, "--format", "text", "--format", "json:d.json")
    assert ended.code == 1
    headings = [line for line in ended.out.splitlines() if line.startswith(("platform", "team"))]
    assert headings == ["platform: 1 changed", "team nlp: 2 changed", "team speech: 1 added"]
    result = json.loads(Path("d.json").read_text("utf-8"))["result"]["drift"]
    assert (result["cluster"], result["differing"]) == ("lab", 4)
    assert [each["team"] for each in result["parts"]] == ["", "nlp", "speech"]
    stops = result["parts"][1]["impact"]["stops"]
    assert stops[0]["cause"] == "by hand since 2026-11-20 by kubectl-edit"


@pytest.mark.usefixtures("tree")
def test_kind_that_could_not_be_read_is_an_error_and_no_difference(trainyard: Call) -> None:
    """With the rule that the account lacks; of ConfigMaps it is a Role."""
    objects = synced()
    unread = {"NetworkPolicy": "networkpolicies.networking.k8s.io", "ConfigMap": ""}
    left = {key: body for key, body in objects.items() if body["kind"] not in unread}
    forbidden = {
        "networkpolicies.networking.k8s.io": "forbidden",
        "configmaps in trainyard-system": "forbidden",
    }
    write(left, **forbidden)
    ended = trainyard("drift", "lab", "--from", FILE)
    assert ended.code == 1
    assert "no difference in" in ended.out
    assert "error[preflight/unchecked]" in ended.out
    assert '"resources": ["networkpolicies"]' in ended.out
    assert "Give it a Role in namespace trainyard-system" in ended.out


@pytest.mark.usefixtures("tree")
def test_kind_in_another_version_is_not_compared(trainyard: Call) -> None:
    """Its fields have other names, so each would differ."""
    objects = synced()
    for body in objects.values():
        if body["kind"] == "Cohort":
            body["apiVersion"] = "kueue.x-k8s.io/v1beta1"
            body["spec"] = {"parentName": "other"}
    write(objects)
    ended = trainyard("drift", "lab", "--from", FILE)
    assert ended.code == 1
    assert "the cluster serves kueue.x-k8s.io/v1beta1" in ended.out
    assert "no difference in" in ended.out


def test_what_controllers_and_the_platform_make_is_no_difference() -> None:
    """OpenShift's bindings in each project, and policies that a controller owns."""
    objects = synced()
    place = {"namespace": "team-nlp"}
    subjects = [{"kind": "Group", "name": "system:serviceaccounts:team-nlp"}]
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "system:image-pullers", **place},
        "roleRef": {"kind": "ClusterRole", "name": "system:image-puller"},
        "subjects": subjects,
    }
    owner = {"kind": "TrainJob", "name": "job", "controller": True}
    policy = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "job", **place, "ownerReferences": [owner]},
        "spec": {"podSelector": {}, "ingress": [{}]},
    }
    line, *_ = shown({**objects, "b": binding, "p": policy})
    assert "no difference" in line


def test_cluster_without_the_tree_has_nothing_of_it() -> None:
    """Before the first sync every object is missing."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}
    _, first, *_ = shown({"Node/a": node})
    assert " missing, of " in first


def test_tree_that_was_never_synced_is_said_first() -> None:
    """Nobody gave rights by hand there: the signs read from the tree to the site."""
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "members", "namespace": "team-nlp"},
        "roleRef": {"kind": "ClusterRole", "name": "edit"},
        "subjects": [{"kind": "Group", "name": "site"}],
    }
    first, second, *rest = drift_lines(drift_of(live_of({"members": binding})), fields=False)
    assert first.startswith("lab: no object is of the tree, so it was never synced here.")
    assert "gives rights" not in second
    assert any("+ group site: edit in team-nlp" in line for line in rest)


def test_tree_that_is_stale_is_reported_before_anything_is_read(
    tree: Path, trainyard: Call
) -> None:
    edit(tree / "profiles/clusters/lab.yaml", "value: 500", "value: 501")
    ended = trainyard("drift", "lab", "--from", "nothing.json")
    assert (ended.code, "delivery/tree-is-stale" in ended.out) == (1, True)


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("IPPool", "subnet", "none"),
        ("SriovNetwork", "ipam", "{"),
        ("SriovNetwork", "vlan", "x"),
        ("PersistentVolumeClaim", "resources", {"requests": {"storage": "1500M"}}),
        ("ClusterQueue", "resourceGroups", [{"flavors": [{"name": "x", "resources": [1]}]}]),
        ("NetworkPolicy", "egress", [{"to": [{"ipBlock": {"cidr": "2001:db8::/32"}}]}]),
    ],
)
def test_values_that_no_tree_has_are_no_bug(kind: str, field: str, value: Any) -> None:
    """Somebody wrote them by hand, and no webhook looked."""
    objects = synced()
    for body in objects.values():
        if body["kind"] == kind:
            body["spec"][field] = value
    found = drift_of(live_of(objects))
    assert found.parts
    assert [*drift_lines(found, fields=False)]


_SHAPES = pytest.mark.parametrize("shape", [None, 1, "text", [], [1], {"a": [1]}])


@_SHAPES
def test_objects_of_any_shape_are_no_bug(shape: Any) -> None:
    """A dump may be cut, or written by hand."""
    objects = synced()
    for body in objects.values():
        for key in {"spec", "data", "rules", "subjects", "roleRef"} & body.keys():
            body[key] = shape
    _need_words(objects)


@_SHAPES
def test_labels_of_any_shape_are_no_bug(shape: Any) -> None:
    objects = synced()
    for body in objects.values():
        body["metadata"]["labels"] = shape
    _need_words(objects)


def _need_words(objects: dict[str, Body]) -> None:
    found = drift_of(live_of(objects))
    assert found.parts
    assert [*drift_lines(found, fields=True)]
    assert encoded(plain(drift_document(found)))
