"""A job for a command line: its runtime, size, queue, class and name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calls import REPOSITORY
from trainyard.generation.generate import check
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.space import Grant, Sample, Space
from trainyard.model.tenant import Tenant
from trainyard.render.site import render_sample, render_site
from trainyard_jobs.convert.asked import Refused, find
from trainyard_jobs.convert.reasons import Asked
from trainyard_jobs.fit.verdict import Standing
from trainyard_jobs.fit.walk import judge
from trainyard_jobs.workflows.fit import ground_of

Team = Callable[[str, str], Tenant]
SECRETS = "/var/run/secrets/trainyard"
TRAIN = ("python", "train.py")


def test_default_queue_and_its_smallest_runtime(tenant: Team) -> None:
    """One node where that is possible: not the share-less two of a job with a launcher."""
    found = find(Asked(TRAIN), tenant("nlp", "prod-east"))

    assert (found.sample.launch.name, found.sample.nodes) == ("torchrun-v1-dgx-h100", 1)
    assert found.sample.args == ("train.py",)
    assert found.sample.prefix == "train-"
    assert found.reasons == (
        "runtime torchrun-v1-dgx-h100: the smallest that fits",
        "numNodes: 1 node with 8 GPUs, of at most 16 nodes",
        "command: torchrun starts 8 ranks, 8 on each node",
        "cost: 96.00 USD an hour, at 96 USD for a node",
        "queue: no label, so the default one, which is gpu",
        "priority batch: the lowest of batch, interactive, production",
        f"volumes: your team's storage, at /mnt/home, /mnt/scratch, {SECRETS}/checkpoints",
    )


@pytest.mark.parametrize(
    ("team", "asked", "runtime", "nodes"),
    [
        ("nlp", Asked(TRAIN, nodes=2), "torchrun-v1-dgx-h100", 2),
        ("nlp", Asked(("./train",), nodes=2), "openmpi-cuda-v3-dgx-h100", 2),
        ("nlp", Asked(("python", "-m", "mpi4py", "a.py"), nodes=2), "openmpi-cuda-v3-dgx-h100", 2),
        ("nlp", Asked(("mpirun", "./a")), "openmpi-cuda-v3-dgx-h100", 2),
        ("nlp", Asked(("/usr/bin/torchrun", "a.py"), nodes=2), "torchrun-v1-dgx-h100", 2),
        ("nlp", Asked(TRAIN, runtime="deepspeed"), "deepspeed-v1-dgx-h100", 2),
        ("nlp", Asked(TRAIN, runtime="finetune-v1-dgx-h100"), "finetune-v1-dgx-h100", 1),
        ("vision", Asked(TRAIN, nodes=3, gpus=2), "openmpi-cuda-v3-dgx-h100", 3),
    ],
)
def test_runtime_and_nodes_follow_from_what_is_asked(
    team: str, asked: Asked, runtime: str, nodes: int, tenant: Team
) -> None:
    sample = find(asked, tenant(team, "prod-east")).sample

    assert (sample.launch.name, sample.nodes) == (runtime, nodes)


@pytest.mark.parametrize(
    ("words", "args"),
    [
        (("python3.11", "-m", "train", "--lr", "1"), ("-m", "train", "--lr", "1")),
        (("python", "-u", "train.py"), ("--no-python", "python", "-u", "train.py")),
        (("python",), ("--no-python", "python")),
        (("./train",), ("--no-python", "./train")),
        (("torchrun", "--max-restarts", "1", "a.py"), ("--max-restarts", "1", "a.py")),
        (("torchrun", "--nnodes", "4", "--nproc-per-node=8", "a.py"), ("a.py",)),
        (("python", "-m", "torch.distributed.run", "-m", "a"), ("-m", "a")),
    ],
)
def test_torchrun_gets_a_script_or_any_program(
    words: tuple[str, ...], args: tuple[str, ...], tenant: Team
) -> None:
    assert find(Asked(words, "torchrun"), tenant("nlp", "prod-east")).sample.args == args


def test_number_of_ranks_in_the_command_is_what_the_comment_says(tenant: Team) -> None:
    found = find(Asked(("mpirun", "-np", "4", "./a")), tenant("nlp", "prod-east"))

    assert "command: mpirun starts as many ranks as `-np 4` says; the job has 16 ranks" in (
        found.reasons
    )


def test_hour_of_a_job_has_a_price_where_the_profiles_state_one(tenant: Team) -> None:
    owner = tenant("nlp", "prod-east")
    stated = [flavor.pool.price for queue in owner.queues for flavor in queue.flavors]
    found = find(Asked(TRAIN, nodes=2), owner)

    assert any(reason.startswith("cost: ") for reason in found.reasons) == any(stated)


@pytest.mark.parametrize(
    ("words", "prefix"),
    [
        (("mpirun", "-x", "A", "/opt/LAMMPS_1"), "lammps-1-"),
        (("mpirun",), "job-"),
        (("bash", "/a/Run it.sh"), "run-it-"),
        (("7z",), "job-"),
        (("a" * 60,), f"{'a' * 38}-"),
    ],
)
def test_name_is_that_of_the_program(words: tuple[str, ...], prefix: str, tenant: Team) -> None:
    """The API server appends five characters to it."""
    asked = Asked(words, "openmpi-cuda")

    assert find(asked, tenant("nlp", "prod-east")).sample.prefix == prefix


def test_queue_namespace_and_class_are_as_asked(tenant: Team) -> None:
    asked = Asked(TRAIN, queue="gpu", namespace="team-speech-interactive", priority="interactive")
    found = find(asked, tenant("speech", "lab"))

    assert found.sample.space.namespace == "team-speech-interactive"
    assert "priority interactive: as you asked for" in found.reasons
    body = render_sample(found.sample)
    assert body["metadata"]["labels"] == {
        "kueue.x-k8s.io/priority-class": "interactive",
        "kueue.x-k8s.io/queue-name": "gpu",
    }


@pytest.mark.parametrize("name", ["site-queue", "gpu"])
def test_a_queue_keeps_the_name_by_which_it_is_asked_for(name: str, of_a_site: Tenant) -> None:
    found = find(Asked(TRAIN, queue=name), of_a_site)

    labels = render_sample(found.sample)["metadata"]["labels"]
    assert labels["kueue.x-k8s.io/queue-name"] == name
    reason = f"queue {name}: as you asked for; it leads to gpu nodes"
    assert [line for line in found.reasons if line.startswith("queue")] == [reason]


def test_sources_of_data_are_left_to_the_reader(tenant: Team) -> None:
    found = find(Asked(TRAIN, "finetune"), tenant("nlp", "prod-east"))

    assert any(reason.startswith("storageUri: ") for reason in found.reasons)


def test_test_has_two_nodes_and_the_runtime_that_shows_most(tenant: Team) -> None:
    found = find(Asked((), test="nccl"), tenant("nlp", "prod-east"))

    assert (found.sample.launch.runtime.name, found.sample.nodes) == ("openmpi-cuda", 2)
    assert found.sample.prefix == "test-nccl-"
    assert found.reasons[0].endswith(": the one with the most GPUs and rails")
    assert "threshold of one node: 460 GB/s, of Azure's health checks" in found.reasons
    assert not any(reason.startswith("volumes: ") for reason in found.reasons)
    body = render_sample(found.sample)
    assert body["spec"]["trainer"]["command"] == ["/bin/bash"]
    assert "podTemplateOverrides" not in body["spec"]


def test_test_of_a_runtime_and_size_is_as_asked(tenant: Team) -> None:
    asked = Asked((), "deepspeed", nodes=4, test="ranks")
    found = find(asked, tenant("nlp", "prod-east"))

    assert (found.sample.launch.runtime.name, found.sample.nodes) == ("deepspeed", 4)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            Asked(TRAIN, gpus=16),
            "no node of a runtime has 16 GPUs; *, *; `--gpus` *: try `--nodes 2 --gpus 8`",
        ),
        (Asked(TRAIN, nodes=5), "no job may have 5 nodes; the runtimes of "),
        (
            Asked(TRAIN, "openmpi-cuda", nodes=1),
            "a job with a launcher has more than 1 node; the runtimes of ",
        ),
        (Asked(TRAIN, "torch"), "no runtime is torch; the runtimes of "),
        (
            Asked(("torchrun", "a")),
            "no runtime starts its ranks with torchrun; there is: horovod*. Ask the platform team ",
        ),
        (Asked(("srun", "a")), "`srun` looks for hosts of its own: give the program that each"),
        (Asked(TRAIN, queue="cpu"), "the team has no queue `cpu`; there is: gpu, default"),
        (Asked(TRAIN, namespace="x"), "the team has no namespace `x`; there is: team-vision"),
        (Asked(TRAIN, priority="x"), "the team has no priority `x`; there is: batch, interactive"),
    ],
)
def test_refusal_says_what_there_is(asked: Asked, message: str, tenant: Team) -> None:
    with pytest.raises(Refused) as refused:
        find(asked, tenant("vision", "prod-east"))

    assert fnmatch(str(refused.value), f"{message}*")


def test_refused_test_says_what_each_runtime_lacks(tenant: Team) -> None:
    with pytest.raises(Refused) as refused:
        find(Asked((), test="fabric"), tenant("science", "lab"))

    assert str(refused.value).startswith("no runtime can run the test fabric: intel-mpi-v1-cpu")
    assert " lacks rails. Ask the platform team" in str(refused.value)


def test_team_without_mpirun_can_run_no_test(tenant: Team) -> None:
    """The message is about the test, as nobody asked for mpirun."""
    found = tenant("nlp", "prod-east")
    (space,) = found.spaces
    grants = tuple(each for each in space.grants if each.launch.runtime.name == "torchrun")
    only = replace(found, spaces=(replace(space, grants=grants),))
    with pytest.raises(Refused) as refused:
        find(Asked((), test="ranks"), only)

    assert str(refused.value) == (
        "no runtime can run the test ranks: torchrun-v1-dgx-h100 lacks mpirun. "
        "Ask the platform team for what is missing"
    )


PLATFORMS = {
    "repository": REPOSITORY / "profiles",
    **{
        path.parent.parent.name: path.parent
        for path in sorted(REPOSITORY.glob("examples/*/profiles/trainyard.yaml"))
    },
}


@pytest.mark.thorough
@pytest.mark.parametrize("profiles", PLATFORMS.values(), ids=PLATFORMS)
def test_fit_admits_what_is_found_and_refuses_what_is_refused(profiles: Path) -> None:
    """For each runtime of each team, and each number of nodes up to one too many."""
    platform = check(profiles).platform
    assert platform is not None
    for site in platform.sites:
        manifests = render_site(site)
        for tenant in site.tenants:
            bodies = [*_bodies(tenant), *_tests(tenant)]
            standings = _standings(site, tenant, manifests, [body for body, _ in bodies])
            for (body, expected), standing in zip(bodies, standings, strict=True):
                admitted = standing in {Standing.ADMITTED, Standing.IN_PART}
                # The queues of an observed team are held.
                starts = expected and not tenant.team.stage.observes
                assert admitted == starts, (tenant.name, body)


def _bodies(tenant: Tenant) -> Iterator[tuple[dict[str, Any], bool]]:
    for space in tenant.spaces:
        for grant in space.grants:
            for nodes in {1, 2, 3, grant.nodes - 1, grant.nodes, grant.nodes + 1} - {0}:
                yield _body(tenant, space, grant, nodes)


def _tests(tenant: Tenant) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield the acceptance tests of the tree, and as somebody asks for them."""
    for space in tenant.spaces:
        for sample in space.tests:
            yield render_sample(sample), True
            asked = Asked((), test=sample.test, namespace=space.namespace)
            yield render_sample(find(asked, tenant).sample), True


def _body(tenant: Tenant, space: Space, grant: Grant, nodes: int) -> tuple[dict[str, Any], bool]:
    """Return a job, and whether it was found; else as it would have been."""
    asked = Asked(TRAIN, grant.launch.name, nodes, namespace=space.namespace)
    try:
        return render_sample(find(asked, tenant).sample), True
    except Refused:
        return render_sample(Sample(space, grant, nodes)), False


def _standings(
    site: Site, tenant: Tenant, manifests: tuple[Manifest, ...], bodies: list[dict[str, Any]]
) -> list[Standing]:
    ground = ground_of(site, tenant, manifests, None)
    return [each.verdict.standing for each in judge(ground, bodies)]
