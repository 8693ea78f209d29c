"""An example on a control plane, and the limits of Kueue's CRDs that no schema here has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.architectures import NAMES
from tests.e2e.conftest import link_programs
from tests.e2e.setup import NEW, OLD
from tests.e2e.stage import Stage
from tests.rules.cases import TODAY
from tests.test_examples import EXAMPLES
from trainyard.output.write import write
from trainyard.workflows.generate import generate
from trainyard_rehearsal.control_plane.components import PROCESSES
from trainyard_rehearsal.outcome import Outcome
from trainyard_rehearsal.publication import Origin
from trainyard_rehearsal.rehearsal import Request, rehearse

pytestmark = pytest.mark.e2e
COMPONENTS = "../profiles/components"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of its own, with the programs of the usual one."""
    folder = tmp_path / "cache"
    folder.mkdir()
    link_programs(folder)
    monkeypatch.setenv("TRAINYARD_CACHE", str(folder))


def _outcomes(example: str, target: Path) -> dict[str, Outcome]:
    """Rehearse an example of one cluster; return the outcomes by promise."""
    profiles = EXAMPLES / example / "profiles"
    write(target, generate(profiles, COMPONENTS, today=TODAY).files)
    rehearsal = rehearse(
        Request(Origin(profiles, target, COMPONENTS, TODAY), (), "", PROCESSES), print, None
    )
    (outcomes,) = rehearsal.outcomes.values()
    return {outcome.promise: outcome for outcome in outcomes}


@pytest.mark.slow
@pytest.mark.usefixtures("cache")
def test_queue_over_two_fabrics_keeps_every_promise(tmp_path: Path) -> None:
    """Its ClusterQueue has as many resources as one of a single fabric."""
    outcomes = _outcomes("two-fabrics", tmp_path / "overlays")

    assert not [outcome for outcome in outcomes.values() if not outcome.fine]
    assert (outcomes["local queues active"].tried, outcomes["own quotas filled"].tried) == (2, 4)


@pytest.mark.slow
@pytest.mark.usefixtures("cache")
def test_cluster_without_gpus_and_fabric_keeps_every_promise(tmp_path: Path) -> None:
    """Its roles name no network, and no quota counts a GPU."""
    outcomes = _outcomes("smallest", tmp_path / "overlays")

    assert not [outcome for outcome in outcomes.values() if not outcome.fine]
    assert outcomes["sample jobs run"].tried > 0


@pytest.mark.slow
@pytest.mark.parametrize("example", NAMES)
@pytest.mark.usefixtures("cache")
def test_reference_architecture_keeps_every_promise(example: str, tmp_path: Path) -> None:
    """The platforms that sites copy, each on the control plane of its release."""
    outcomes = _outcomes(example, tmp_path / "overlays")

    assert not [outcome for outcome in outcomes.values() if not outcome.fine]
    assert outcomes["sample jobs run"].tried > 0


@pytest.mark.parametrize("stage", [OLD, NEW], indirect=True, ids=[OLD.name, NEW.name])
def test_release_states_the_limits_of_its_kueue(stage: Stage) -> None:
    """The release has the smallest limit of flavors and of resources in Kueue's CRDs."""
    group = _field(stage, "ClusterQueue", "spec.resourceGroups")["items"]["properties"]
    used = [
        _field(stage, kind, f"status.{field}")
        for kind in ("ClusterQueue", "LocalQueue")
        for field in ("flavorsReservation", "flavorsUsage")
    ]
    release = stage.lab.plan.site.cluster.release

    flavors = [group["flavors"], *used]
    resources = [
        group["coveredResources"],
        *(each["items"]["properties"]["resources"] for each in used),
    ]
    assert release.most_flavors == min(each["maxItems"] for each in flavors)
    assert release.most_resources == min(each["maxItems"] for each in resources)


def _field(stage: Stage, kind: str, path: str) -> dict[str, Any]:
    """Return the schema of a field on the API server."""
    name = f"{kind.lower()}s.kueue.x-k8s.io"
    spec = stage.api.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", name)["spec"]
    version = next(each for each in spec["versions"] if each["name"] == "v1beta2")
    found: dict[str, Any] = version["schema"]["openAPIV3Schema"]
    for part in path.split("."):
        found = found["properties"][part]
    return found
