"""The dump of a cluster that has this repository's tree becomes the profiles that made the tree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.adoption.own import ROOT, own_site
from tests.cli.calls import Ended
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
