"""Nothing that holds GPUs is lost: it is in the table, or in a list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.adoption.sites import body, flavor, local, node, pod, queue
from trainyard.adoption.draft import Request, draft
from trainyard.adoption.model import Adoption
from trainyard.facts.collect import of_dump
from trainyard.model.facts import Scope
from trainyard.model.importable import IMPORTED
from trainyard.profiles.read import shipped_only

Body = dict[str, Any]
PROFILES = shipped_only()
NAMES = st.text(min_size=1, max_size=12) | st.sampled_from(
    ["vision", "vision-dev", "team-a", "default", "worker", "../../x", "con", "1x", "a\nb"]
)
AMOUNTS = st.integers(0, 40)


@st.composite
def sites(draw: st.DrawFn) -> list[Body]:
    """Return the dump of a site with flavors, queues, quotas and pods of any name."""
    flavors = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    namespaces = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    found = [*_nodes_of(draw, flavors), *_queues_of(draw, flavors, namespaces), node("last")]
    for namespace in namespaces:
        hard = {"requests.nvidia.com/gpu": str(draw(AMOUNTS))}
        if draw(st.booleans()):
            found.append(body("v1", "ResourceQuota", "q", namespace, spec={"hard": hard}))
        if draw(st.booleans()):
            found.append(pod("p", namespace, "last", "ReplicaSet", gpu=str(draw(AMOUNTS))))
    return found


def _nodes_of(draw: st.DrawFn, flavors: list[str]) -> Iterator[Body]:
    for number, name in enumerate(flavors):
        labels = {"pool": str(number)} if draw(st.booleans()) else {}
        yield flavor(name, labels)
        for each in range(draw(st.integers(0, 3))):
            sizes = draw(st.sampled_from([{}, {"nvidia.com/mig-1g.10gb": "7"}]))
            gpus = draw(st.sampled_from([8, 4, 0]))
            yield node(f"n{number}-{each}", gpus=gpus, labels=labels, sizes=sizes)


def _queues_of(draw: st.DrawFn, flavors: list[str], namespaces: list[str]) -> Iterator[Body]:
    for name in draw(st.lists(NAMES, max_size=4, unique=True)):
        gpus = {each: {"nvidia.com/gpu": _limits(draw)} for each in flavors if draw(st.booleans())}
        yield queue(name, draw(st.sampled_from(["", "pool", "../x"])), gpus)
        yield from (local(each, name, name) for each in namespaces if draw(st.booleans()))


def _limits(draw: st.DrawFn) -> tuple[str | None, ...]:
    limits = (draw(st.none() | AMOUNTS) for _ in range(2))
    return str(draw(AMOUNTS)), *(None if each is None else str(each) for each in limits)


def drafted(bodies: list[Body]) -> Adoption:
    """Return the drafts of a dump."""
    facts = of_dump(bodies, "site", Scope(frozenset(), frozenset()), IMPORTED)
    return draft(Request("site", "", PROFILES, {}), facts)


@given(sites())
def test_every_gpu_is_in_the_table_or_in_a_list(bodies: list[Body]) -> None:
    """Of queues, of ResourceQuotas, of pods and of nodes."""
    adoption = drafted(bodies)
    used = {each["spec"]["clusterQueue"] for each in bodies if each["kind"] == "LocalQueue"}
    queued = {each["metadata"]["namespace"] for each in bodies if each["kind"] == "LocalQueue"}
    wanted = 0
    for each in bodies:
        if each["kind"] == "ClusterQueue" and each["metadata"]["name"] in used:
            wanted += sum(_nominal(each))
        elif each["kind"] == "ClusterQueue":
            name = f"ClusterQueue {each['metadata']['name']} has "
            assert any(line.startswith(name) for line in adoption.sums)
        elif each["kind"] == "ResourceQuota" and each["metadata"]["namespace"] not in queued:
            wanted += int(each["spec"]["hard"]["requests.nvidia.com/gpu"])
    rows = [row for row in adoption.rows if row.resource.startswith("nvidia.com/gpu on ")]
    assert sum(int(row.was.split(" / ")[0]) for row in rows) == wanted
    _pods(bodies, adoption)
    _nodes(bodies, adoption)


def _nominal(queue: Body) -> list[int]:
    return [
        int(resource["nominalQuota"])
        for group in queue["spec"]["resourceGroups"]
        for flavor in group["flavors"]
        for resource in flavor["resources"]
    ]


def _pods(bodies: list[Body], adoption: Adoption) -> None:
    for each in bodies:
        if each["kind"] == "Pod":
            (container,) = each["spec"]["containers"]
            gpus = container["resources"]["requests"]["nvidia.com/gpu"]
            part = f"ReplicaSet {each['metadata']['namespace']}/x"
            texts = [remark.text for remark in adoption.remarks if remark.part == part]
            assert any(f"with {gpus} GPU" in text for text in texts) == (gpus != "0")


def _nodes(bodies: list[Body], adoption: Adoption) -> None:
    nodes = [each for each in bodies if each["kind"] == "Node"]
    cluster = adoption.files["profiles/clusters/site.yaml"].decode()
    pools = sum(int(each) for each in re.findall(r"^  .*\bnodes: (\d+)", cluster, re.MULTILINE))
    refused = sum(int(each) for each in re.findall(r"pools: (\d+) nodes? of ", cluster))
    texts = [each.part for each in adoption.remarks if each.part.endswith("without GPUs")]
    left = sum(int(each.split()[0]) for each in texts)
    assert pools + refused + left == len(nodes)


@given(sites())
def test_drafts_are_files_of_profiles_whatever_the_names(bodies: list[Body]) -> None:
    """Each is in a folder of profiles, and a choice of the list is at its line of the file."""
    adoption = drafted(bodies)
    for path in adoption.files:
        assert re.fullmatch(r"profiles/(clusters|hardware|teams)/[a-z][a-z0-9-]*\.yaml", path)
    for choice in adoption.choices:
        line = adoption.files[choice.file].decode().splitlines()[choice.line - 1]
        assert line.strip() == f"# choose: {choice.text}"
    assert drafted(bodies[::-1]) == adoption


def test_node_with_a_broken_gpu_is_a_choice() -> None:
    """It is neither counted as whole, nor taken for a node of its like; its labels are theirs."""
    nodes = [node(f"n{number}", gpus=8, labels={"pool": "a"}) for number in range(3)]
    nodes[2]["status"]["allocatable"]["nvidia.com/gpu"] = "7"
    adoption = drafted([flavor("a", {"pool": "a"}), *nodes])
    choices = {choice.text for choice in adoption.choices if "hardware/a-2.yaml" in choice.file}

    assert any("n2 has 8 nvidia.com/gpu and offers 7" in each for each in choices)
    assert any(each.startswith("labels: the flavor selects nodes of other") for each in choices)
    assert not any("offers" in c.text for c in adoption.choices if c.file.endswith("/a.yaml"))
