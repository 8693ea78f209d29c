"""An example on a control plane, and the limits of Kueue's CRDs that no schema here has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.architectures import NAMES
from tests.e2e.setup import NEW, OLD
from tests.e2e.stage import Stage
from tests.e2e.test_fit_variants import ground
from tests.rules.cases import TODAY
from tests.test_examples import EXAMPLES, PROVIDERS
from trainyard.generation.generate import generate
from trainyard.golang import cache_folder
from trainyard.model.names import DEFAULT_QUEUE
from trainyard.tree.write import write
from trainyard_jobs.fit.verdict import Standing
from trainyard_jobs.fit.walk import judge
from trainyard_rehearsal.checks.acceptance import check_acceptance
from trainyard_rehearsal.checks.queues import check_queues
from trainyard_rehearsal.checks.quotas import check_quotas
from trainyard_rehearsal.checks.sample_runs import check_sample_jobs
from trainyard_rehearsal.control_plane.build import find
from trainyard_rehearsal.control_plane.components import PROCESSES, read_components
from trainyard_rehearsal.control_plane.lab import Plan, opened
from trainyard_rehearsal.outcome import Outcome
from trainyard_rehearsal.publication import sample_jobs, synced
from trainyard_rehearsal.rehearsal import rehearse
from trainyard_rehearsal.tasks import Origin, Request

pytestmark = pytest.mark.e2e
COMPONENTS = "../profiles/components"


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
    assert (outcomes["local queues active"].tried, outcomes["own quotas filled"].tried) == (4, 4)


@pytest.mark.slow
@pytest.mark.usefixtures("cache")
def test_cluster_without_gpus_and_fabric_keeps_every_promise(tmp_path: Path) -> None:
    """Its roles name no network, and no quota counts a GPU."""
    outcomes = _outcomes("smallest", tmp_path / "overlays")

    assert not [outcome for outcome in outcomes.values() if not outcome.fine]
    assert outcomes["sample jobs run"].tried > 0


@pytest.mark.parametrize("example", [NAMES[0], "aws-efa"])
@pytest.mark.usefixtures("cache")
def test_example_is_accepted_and_runs_its_samples(example: str, tmp_path: Path) -> None:
    """The part of a rehearsal that takes a minute or two: the tree, its queues, its jobs.

    One example with rails and one with devices of others: all are rehearsed in full below.

    Each job has its flavor, nodes, requests, networks and claims; one node more is refused, and
    each quota can be filled.
    """
    profiles, target = EXAMPLES / example / "profiles", tmp_path / "overlays"
    generation = generate(profiles, COMPONENTS, today=TODAY)
    write(target, generation.files)
    assert generation.checked.platform
    (site,) = generation.checked.platform.sites
    manifests = generation.manifests[site.name]
    objects = synced(site, manifests)
    kinds = {(each.body["apiVersion"], each.body["kind"]) for each in objects}
    components = read_components(site.cluster.release.name)
    plan = Plan(site, target / site.name, components, kinds)
    with opened(plan, find(components, cache_folder()), tmp_path / "run") as lab:
        samples = sample_jobs(site, manifests, "")
        outcomes = [
            *check_acceptance(lab, objects),
            *check_queues(lab),
            *check_sample_jobs(lab, samples),
            *check_quotas(lab, samples, [tenant.name for tenant in site.tenants]),
        ]

    assert not [outcome for outcome in outcomes if not outcome.fine]
    tried = {outcome.promise: outcome.tried for outcome in outcomes}
    assert (tried["local queues active"], tried["sample jobs run"]) == (4, 4)
    assert (tried["largest jobs admitted"], tried["one node more refused"]) == (4, 4)
    assert tried["own quotas filled"] == 2


@pytest.mark.parametrize("example", NAMES)
def test_job_without_a_label_is_admitted_for_each_team(example: str) -> None:
    """The first job of a person: a runtime, a number of nodes and a command."""
    generation = generate(EXAMPLES / example / "profiles", COMPONENTS, today=TODAY)
    assert generation.checked.platform
    (site,) = generation.checked.platform.sites
    tried = set()
    for sample, manifest in sample_jobs(site, generation.manifests[site.name], ""):
        if sample.local_queue == DEFAULT_QUEUE:
            metadata = {"name": "first", "namespace": manifest.namespace}
            (found,) = judge(ground(generation, sample), [{**manifest.body, "metadata": metadata}])
            assert found.verdict.standing is Standing.ADMITTED
            tried.add(sample.space.team.name)

    assert tried == {tenant.name for tenant in site.tenants}


@pytest.mark.slow
@pytest.mark.parametrize("example", [*NAMES, *PROVIDERS])
@pytest.mark.usefixtures("cache")
def test_example_keeps_every_promise(example: str, tmp_path: Path) -> None:
    """The platforms that sites copy, each on the control plane of its release, in full."""
    outcomes = _outcomes(example, tmp_path / "overlays")

    assert not [outcome for outcome in outcomes.values() if not outcome.fine]
    for promise in ("sample jobs run", "largest jobs admitted", "one node more refused"):
        assert outcomes[promise].tried > 0


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
