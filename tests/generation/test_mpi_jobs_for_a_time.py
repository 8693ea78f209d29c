"""A time for MPIJobs over a committed tree: stated, removed, stated again; a team that leaves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.cli.calls import edit
from trainyard.generation.generate import generate

TEAM = "teams/nlp.yaml"
NONE = "contact:"
TIME = 'mpiJobs: {prod-east: {until: "2027-01-31"}}\ncontact:'
KUEUE = "prod-east/platform/kueue-cluster.yaml"


def files(profiles: Path) -> Mapping[str, bytes]:
    return generate(profiles, "../profiles/components", ("prod-east",), "2026-11-21").files


def test_removal_restores_every_byte_and_the_next_time_is_like_the_first(profiles: Path) -> None:
    """No object of a cluster without the field is about MPIJobs."""
    before = files(profiles)
    edit(profiles / TEAM, NONE, TIME)
    during = files(profiles)
    edit(profiles / TEAM, TIME, NONE)
    after = files(profiles)
    edit(profiles / TEAM, NONE, TIME)

    objects = (path for path in before if path.endswith(".yaml"))
    # It reserves the name of the later NetworkPolicy, and knows every kind that members write.
    reserves = "validatingadmissionpolicy-trainyard-tenant-objects.yaml"
    others = (path for path in objects if not path.endswith(reserves))
    assert not [path for path in others if b"mpijob" in before[path].lower()]
    assert b"MPIJob" in during[KUEUE]
    assert after == before
    assert files(profiles) == during
    assert {Path(path).name for path in during.keys() - before.keys()} == {
        "clusterrole-trainyard-mpijob-user.yaml",
        "clusterrole-trainyard-mpijob-viewer.yaml",
        "networkpolicy-mpijobs.yaml",
        "rolebinding-mpijobs-admin.yaml",
        "rolebinding-mpijobs-user.yaml",
        "rolebinding-mpijobs-viewer.yaml",
        "validatingadmissionpolicy-trainyard-mpijob-end.yaml",
        "validatingadmissionpolicy-trainyard-mpijob-limits.yaml",
        "validatingadmissionpolicybinding-mpijob-end-nlp.yaml",
        "validatingadmissionpolicybinding-mpijob-limits-nlp.yaml",
    }


def test_kueue_queues_them_until_the_last_team_has_left(profiles: Path) -> None:
    """A retired team's time has no effect, and its clusters are not looked up."""
    edit(profiles / TEAM, NONE, TIME)
    edit(profiles / "teams/vision.yaml", NONE, f"state: retired\n{NONE}")
    one = generate(profiles, "../profiles/components", ("prod-east",), "2026-11-21")
    edit(profiles / TEAM, NONE, f"state: retired\n{NONE}")
    none = generate(profiles, "../profiles/components", ("prod-east",), "2026-11-21")

    frameworks = [
        [tuple(site.frameworks) for site in each.checked.platform.sites if site.name == "prod-east"]
        for each in (one, none)
        if each.checked.platform
    ]
    queued = ("BatchJob", "JobSet", "TrainJob")
    assert frameworks == [[tuple(sorted((*queued, "MPIJob")))], [queued]]


def test_a_later_day_changes_the_parameters_alone(profiles: Path) -> None:
    """No policy changes, so nothing is closed while Argo CD syncs."""
    edit(profiles / TEAM, NONE, TIME)
    before = files(profiles)
    edit(profiles / TEAM, "2027-01-31", "2027-02-28")
    after = files(profiles)

    assert {path for path in before if before[path] != after[path]} == {
        "prod-east/platform/configmap-trainjob-limits-nlp.yaml"
    }
