"""The dump of a cluster that has this repository's tree becomes the profiles that made the tree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.adoption.decided import USUAL, decide, write_runtime
from tests.adoption.own import ROOT, own_site
from tests.cli.calls import Ended, edit
from tests.cli.fixtures import here, trainyard  # noqa: F401
from trainyard.model.platform import Site
from trainyard.yaml_io.manifests import parse_manifests

Call = Callable[..., Ended]


@pytest.mark.parametrize("cluster", ["lab", "prod-east"])
def test_own_tree_has_its_own_quotas(
    cluster: str,
    trainyard: Call,  # noqa: F811
    here: Path,  # noqa: F811
) -> None:
    """Every cell: own, borrow and lend of each team on each pool; and each amount of a queue."""
    site, bodies = own_site(cluster)
    (here / "dump.json").write_text(json.dumps({"kind": "List", "items": bodies}), "utf-8")

    ended = trainyard("import", "dump.json", "--cluster", cluster)

    assert ended.code == 1, ended
    drafted = {
        (path.stem, pool): _cell(quota)
        for path in sorted((here / "profiles/teams").glob("*.yaml"))
        for pool, quota in read(path)["quota"][cluster].items()
    }
    assert drafted == _committed(site)
    table = json.loads((here / f"adoption/{cluster}.json").read_text("utf-8"))["result"]["rows"]
    amounts = [row for row in table if " on " in row["resource"]]
    assert len(amounts) == len(_queue_cells(bodies))
    assert {row["difference"] for row in amounts} == {"0"}
    assert [row for row in amounts if row["was"] != row["becomes"]] == []


FABRICS = {
    "lab": ("roce", "vlans: 100-199", "Vlans/roce: a, LosslessQueue/roce: a, NodeFirmware/roce: a"),
    "prod-east": (
        "ib",
        "partitions: 0x0100-0x017f",
        "Partitions/ib: a, NodeFirmware/ib: a, IPReconciler/whereabouts: a",
    ),
}
RELEASES = {"lab": "kubernetes-1.36", "prod-east": "openshift-ai-3.5"}
GUESS = "{sockets: 2, cores: 112, threads: 224}"
SAME = ("ClusterQueue", "Cohort", "ResourceFlavor", "Topology", "WorkloadPriorityClass")


@pytest.mark.thorough
@pytest.mark.parametrize("cluster", RELEASES)
def test_drafts_with_answers_generate_the_same_queues(
    cluster: str,
    trainyard: Call,  # noqa: F811
    here: Path,  # noqa: F811
) -> None:
    """Queues, flavors, cohorts, topologies and priorities, to the last amount."""
    site, bodies = own_site(cluster)
    (here / "dump.json").write_text(json.dumps({"kind": "List", "items": bodies}), "utf-8")
    release = RELEASES[cluster]
    trainyard("import", "dump.json", "--cluster", cluster, "--release", release)
    profiles = here / "profiles"
    answers = _answers(site)
    assert decide(profiles, answers) == []
    for path in sorted((profiles / "hardware").glob("*.yaml")):
        if GUESS in path.read_text("utf-8"):
            edit(path, GUESS, _cpu(site, path.stem))
    write_runtime(profiles)
    ledger = read(ROOT / "profiles/allocations.yaml")
    (profiles / "allocations.yaml").write_text(json.dumps({cluster: ledger[cluster]}), "utf-8")

    ended = trainyard("generate")

    assert ended.code == 0, ended.out
    folder = here / f"overlays/{cluster}/platform"
    made = {_key(body): _content(body) for body in map(read, folder.glob("*.yaml"))}
    wanted = {_key(body): _content(body) for body in bodies if body["kind"] in SAME}
    assert {key: made.get(key) for key in wanted} == wanted
    assert len(wanted) > len(SAME)
    queues = [body for body in map(read, folder.glob("*.yaml")) if _is_queue(body)]
    assert {body["spec"]["stopPolicy"] for body in queues} == {"Hold"}


def _answers(site: Site) -> dict[str, str]:
    fabric, segments, owners = FABRICS[site.name]
    levels = {level for topology in site.cluster.topologies for level in topology.levels}
    own = sorted(levels - {"kubernetes.io/hostname"})
    labels = "".join(f", NodeLabel/{level}: a" for level in own)
    return {
        **USUAL,
        "storage": "",
        segments.partition(":")[0]: segments,
        "addresses": "addresses: 10.64.0.0/13" if fabric == "ib" else "addresses: 10.72.0.0/13",
        "external": f"external: {{{owners}{labels}}}",
        "sharing": f"sharing: {site.cluster.sharing}",
    }


def _cpu(site: Site, pool: str) -> str:
    kind = next(each.hardware for each in site.cluster.pools if each.name == pool)
    return f"{{sockets: {kind.sockets}, cores: {kind.cores}, threads: {kind.threads}}}"


def _key(body: dict[str, Any]) -> tuple[str, str]:
    return body["kind"], body.get("metadata", {}).get("name", "")


def _content(body: dict[str, Any]) -> Any:
    """Return what an object states, but for the hold of the first merge."""
    if _is_queue(body):
        return {key: value for key, value in body["spec"].items() if key != "stopPolicy"}
    return body.get("spec", body.get("value"))


def _is_queue(body: dict[str, Any]) -> bool:
    return bool(body["kind"] == "ClusterQueue")


def read(path: Path) -> Any:
    """Return what a profile states."""
    (value,) = parse_manifests(path.read_text("utf-8"))
    return value


def _cell(quota: dict[str, Any]) -> tuple[Any, ...]:
    unit = next(each for each in ("gpus", "cores", "nodes") if each in quota)
    # `all` is the default of a team in a cohort.
    return unit, quota[unit], quota.get("borrow", 0), quota.get("lend", "all")


def _committed(site: Site) -> dict[tuple[str, str], tuple[Any, ...]]:
    found = {}
    for path in sorted((ROOT / "profiles/teams").glob("*.yaml")):
        stated = read(path)
        for pool, quota in stated["quota"].get(site.name, {}).items():
            found[path.stem, pool] = _cell({key: quota[key] for key in quota if key in _KEYS})
    return found


_KEYS = ("nodes", "gpus", "cores", "borrow", "lend")


def _queue_cells(bodies: list[dict[str, Any]]) -> list[Any]:
    return [
        resource
        for body in bodies
        if body["kind"] == "ClusterQueue"
        for group in body["spec"]["resourceGroups"]
        for flavor in group["flavors"]
        for resource in flavor["resources"]
    ]
