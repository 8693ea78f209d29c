"""Which runtime a job gets, and how its ranks are spread over the nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from trainyard.diagnostics import Pointer
from trainyard.model.tenant import Tenant
from trainyard_jobs.convert.choice import Choice, choose
from trainyard_jobs.convert.draft import Draft
from trainyard_jobs.convert.model import Remark

Team = Callable[[str, str], Tenant]


def draft(
    nodes: int = 2, ranks: int = 8, gpus: int | None = 8, image: str = "", **other: str
) -> Draft:
    launcher = other.get("launcher", "openmpi")
    return Draft("a job", Pointer("x"), "a", launcher, nodes, image=image, gpus=gpus, ranks=ranks)


def best(wanted: Draft, tenant: Tenant) -> Choice:
    found = choose(wanted, tenant)
    assert not isinstance(found, Remark), found
    return found[0]


@pytest.mark.parametrize(
    ("image", "runtime"),
    [
        ("registry.example.com/ml/deepspeed:1", "deepspeed-v1-dgx-h100"),
        ("quay.io/else/deepspeed-cuda:1", "deepspeed-v1-dgx-h100"),
        ("quay.io/else/mine:1", "openmpi-cuda-v3-dgx-h100"),
    ],
)
def test_runtime_with_the_image_or_its_name_comes_first(
    image: str, runtime: str, tenant: Team
) -> None:
    assert best(draft(image=image), tenant("nlp", "prod-east")).launch.name == runtime


def test_default_runtime_of_the_team_comes_before_other_ones(tenant: Team) -> None:
    """The image still decides first."""
    team = tenant("nlp", "prod-east")
    prefers = replace(team, team=replace(team.team, default_runtime="deepspeed"))

    assert best(draft(), team).launch.runtime.name != "deepspeed"
    assert best(draft(), prefers).launch.runtime.name == "deepspeed"
    image = "registry.example.com/ml/openmpi-cuda:1"
    assert best(draft(image=image), prefers).launch.runtime.name == "openmpi-cuda"


def test_deprecated_runtime_is_for_its_own_image(tenant: Team) -> None:
    team = tenant("vision", "prod-east")
    old = next(each for each in team.spaces[0].launches if each.runtime.end)

    assert best(draft(image=old.runtime.image), team).launch == old
    assert not best(
        draft(image=f"{old.runtime.image.partition('@')[0]}:9"), team
    ).launch.runtime.end


@pytest.mark.parametrize(
    ("nodes", "ranks", "gpus", "spread"),
    [
        (2, 8, 8, (2, 8)),
        (16, 1, 1, (2, 8)),
        (4, 1, 1, (2, 2)),
        (24, 1, 1, (3, 8)),
        (3, 1, 8, (3, 1)),
        (1, 8, 8, (2, 4)),
        (4, 2, 1, (2, 4)),
        (4, 16, 0, (4, 16)),
        (1, 4, None, (2, 2)),
    ],
)
def test_ranks_keep_their_number_and_their_gpus(
    nodes: int, ranks: int, gpus: int | None, spread: tuple[int, int], tenant: Team
) -> None:
    chosen = best(draft(nodes, ranks, gpus), tenant("nlp", "prod-east"))

    assert (chosen.nodes, chosen.ranks) == spread
    assert chosen.nodes * chosen.ranks == nodes * ranks


def test_parts_of_a_node_fit_a_team_with_a_share(tenant: Team) -> None:
    chosen = best(draft(4, 1, 1), tenant("speech", "lab"))

    assert chosen.launch.part < 1
    assert chosen.nodes * chosen.ranks == 4


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (draft(launcher="intel-mpi"), "no runtime has the launcher intel-mpi"),
        (draft(gpus=16, ranks=16), "has 16 GPUs"),
        (draft(1, 1, 8), "can't be spread evenly"),
        (draft(10**9, 1, 1), "can't be spread evenly"),
        (draft(40), "40 x 8 ranks need more nodes than a job may have"),
    ],
)
def test_job_without_a_runtime_is_refused_with_the_reason(
    wanted: Draft, reason: str, tenant: Team
) -> None:
    found = choose(wanted, tenant("nlp", "prod-east"))

    assert isinstance(found, Remark)
    assert reason in found.meaning
    assert "; the runtimes of team nlp on prod-east: " in found.meaning
