"""What can be seen on a control plane only: an example as its users have it, and limits that no
schema here has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import link_programs
from tests.e2e.stage import NEW, OLD, Stage
from tests.rules.cases import TODAY
from tests.test_examples import EXAMPLES
from trainyard.output.write import write
from trainyard.workflows.generate import generate
from trainyard_rehearsal.control_plane.components import PROCESSES
from trainyard_rehearsal.publication import Origin
from trainyard_rehearsal.rehearsal import Request, rehearse

pytestmark = pytest.mark.e2e
COMPONENTS = "../profiles/components"


@pytest.mark.slow
def test_two_fabrics_in_one_queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every promise holds for a queue over pools of two fabrics."""
    profiles, target, cache = (
        EXAMPLES / "two-fabrics" / "profiles",
        tmp_path / "overlays",
        tmp_path / "cache",
    )
    cache.mkdir()
    link_programs(cache)
    monkeypatch.setenv("TRAINYARD_CACHE", str(cache))
    write(target, generate(profiles, COMPONENTS).files)

    rehearsal = rehearse(
        Request(Origin(profiles, target, COMPONENTS, TODAY), (), "", PROCESSES), print, None
    )

    outcomes = {outcome.promise: outcome for outcome in rehearsal.outcomes["south"]}
    assert not [outcome for outcome in outcomes.values() if not outcome.fine]
    assert (outcomes["local queues active"].tried, outcomes["own quotas filled"].tried) == (2, 4)


@pytest.mark.parametrize("ground", [OLD, NEW], indirect=True, ids=[OLD.name, NEW.name])
def test_release_states_what_its_kueue_takes(ground: Stage) -> None:
    """A ClusterQueue and the status of a LocalQueue limit flavors and resources; the release has
    the least of them."""
    group = _field(ground, "ClusterQueue", "spec.resourceGroups")["items"]["properties"]
    used = [
        _field(ground, kind, f"status.{field}")
        for kind in ("ClusterQueue", "LocalQueue")
        for field in ("flavorsReservation", "flavorsUsage")
    ]
    release = ground.lab.plan.site.cluster.release

    flavors = [group["flavors"], *used]
    resources = [
        group["coveredResources"],
        *(each["items"]["properties"]["resources"] for each in used),
    ]
    assert release.most_flavors == min(each["maxItems"] for each in flavors)
    assert release.most_resources == min(each["maxItems"] for each in resources)


def _field(ground: Stage, kind: str, path: str) -> dict[str, Any]:
    """Return the schema of a field, as the API server has it."""
    name = f"{kind.lower()}s.kueue.x-k8s.io"
    spec = ground.api.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", name)["spec"]
    version = next(each for each in spec["versions"] if each["name"] == "v1beta2")
    found: dict[str, Any] = version["schema"]["openAPIV3Schema"]
    for part in path.split("."):
        found = found["properties"][part]
    return found
