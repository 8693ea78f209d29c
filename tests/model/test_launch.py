"""A runtime on a node type: cores of each rank, annotations, name, and what a pod asks for."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.shapes import PREFIX, fabric, launch, node, nodes, pool
from trainyard.model.fabric import Fabric
from trainyard.model.hardware import Gpu, Hardware, Share
from trainyard.model.launch import Launch
from trainyard.model.launcher import INTEL_MPI, LAUNCHERS, TORCHRUN
from trainyard.model.link import ROCE
from trainyard.model.runtime import INITIALIZERS, Step
from trainyard.render.views.launch import LaunchView
from trainyard.render.views.runtime import RuntimeView

RACK = "example.com/rack"
PREFERRED, GROUP = "kueue.x-k8s.io/podset-preferred-topology", "kueue.x-k8s.io/podset-group-name"
NETWORKS, OFFSET = "k8s.v1.cni.cncf.io/networks", "kueue.x-k8s.io/pod-index-offset"
SCC = "openshift.io/required-scc"
MODES = ("gpudirect", "rdma", "tcp", "isolated")


@pytest.mark.parametrize(
    ("rails", "levels", "groups"), list(product((False, True), (None, (), (RACK,)), (False, True)))
)
def test_annotations_follow_rails_topology_and_release(
    rails: bool, levels: tuple[str, ...] | None, groups: bool
) -> None:
    """Each annotation is there exactly when it means something, sorted; a group needs topology and
    release."""
    on = None if levels is None else fabric()
    each = launch(node() if rails else node(nics=()), on=on, levels=levels or (), groups=groups)
    expected = {SCC: "restricted-v2"}
    if rails and on:
        expected[NETWORKS] = "ib-rail-0,ib-rail-1"
    if on:
        expected[PREFERRED] = RACK if levels else "kubernetes.io/hostname"
    if on and groups:
        expected[GROUP] = "job"
    offset = {OFFSET: "-1"} if on and groups else {}

    assert LaunchView(each).launcher_annotations == expected
    assert LaunchView(each).node_annotations == expected | offset
    assert list(LaunchView(each).launcher_annotations) == sorted(expected)
    assert list(LaunchView(each).node_annotations) == sorted(expected | offset)


def test_ranks_talk_below_the_lowest_switch() -> None:
    """Of several levels the last is asked for: the nearer the nodes, the fewer switches between
    them."""
    each = launch(on=fabric(), levels=("example.com/spine", RACK))

    assert LaunchView(each).launcher_annotations[PREFERRED] == RACK


def test_pods_of_torchrun_are_no_group() -> None:
    """They are one set of pods already: an offset would begin their count below 0."""
    each = launch(on=fabric(), levels=(RACK,), groups=True, launcher=TORCHRUN)

    assert LaunchView(each).node_annotations.keys() & {GROUP, OFFSET} == set()
    assert LaunchView(each).node_annotations[PREFERRED] == RACK


@pytest.mark.parametrize("mode", MODES)
def test_only_runtimes_that_use_rdma_take_rails(mode: str) -> None:
    """Whoever talks over sockets attaches to no network and asks for no virtual function; topology
    helps it too."""
    each = launch(on=fabric(), levels=(RACK,), fabric=mode)
    uses = mode in {"gpudirect", "rdma"}

    assert (NETWORKS in LaunchView(each).launcher_annotations) is uses
    assert len([name for name in each.per_node if name.startswith(PREFIX)]) == (2 if uses else 0)
    assert LaunchView(each).launcher_annotations[PREFERRED] == RACK


@given(nodes())
def test_ranks_share_the_cores(hardware: Hardware) -> None:
    """One rank a GPU, or one a core; each has as many cores as all can have, and never one too
    many."""
    each = launch(hardware)

    assert each.ranks == (hardware.gpus or hardware.promised_cores)
    assert (
        each.cores_per_rank * each.ranks
        <= hardware.promised_cores
        < (each.cores_per_rank + 1) * each.ranks
    )
    assert each.cores_per_rank >= 1


@given(nodes(), st.sampled_from(["cores", "none"]), st.sampled_from(sorted(LAUNCHERS)))
def test_threads_of_all_ranks_are_in_the_pod(
    hardware: Hardware, binding: str, launcher: str
) -> None:
    """What the ranks are bound to is never more than the pod asks for; an unbound rank needs one
    thread."""
    each = launch(hardware, binding=binding, launcher=LAUNCHERS[launcher])
    smt = hardware.threads // hardware.cores
    bound = binding == "cores" and launcher != "torchrun"

    assert each.threads_per_rank == (each.cores_per_rank * smt if bound else 1)
    assert each.threads_per_rank * each.ranks * 1000 <= each.per_node["cpu"]


def steps(*cpus: int) -> tuple[Step, ...]:
    """Return initializers that ask for so many cpus each."""
    return tuple(
        Step(name, "x", "home", cpu * 1000, 1 << 30)
        for name, cpu in zip(INITIALIZERS.values(), cpus, strict=False)
    )


@given(st.integers(0, 3), st.integers(0, 3), st.sampled_from(["cores", "none"]))
def test_steps_and_ranks_share_what_a_node_gives(one: int, two: int, binding: str) -> None:
    """Kueue counts steps beside the ranks: together they are a node, and the ranks still find their
    threads."""
    each = launch(initializers=steps(one, two), binding=binding)
    whole = launch()

    assert each.per_node["cpu"] + (one + two) * 1000 == whole.per_node["cpu"]
    assert each.per_node["memory"] + 2 * (1 << 30) == whole.per_node["memory"]
    assert each.threads_per_rank * each.ranks * 1000 <= each.per_node["cpu"]


@pytest.mark.parametrize(
    ("launcher", "most", "initializers"), list(product(LAUNCHERS, (1, 10, 1000), (0, 1, 2)))
)
def test_longest_name_of_a_job_leaves_room_for_its_pods(
    launcher: str, most: int, initializers: int
) -> None:
    """The name that JobSet and the random end make of a job's is a label for each of its pods, and
    not one shorter."""
    runtime = launch(
        launcher=LAUNCHERS[launcher], max_nodes=most, initializers=steps(*[1] * initializers)
    )
    job = "j" * runtime.longest_job_name
    roles = {"launcher"} & set(runtime.runtime.roles) | set(
        list(INITIALIZERS.values())[:initializers]
    )
    pods = [f"{job}-{role}-0-0-xxxxx" for role in roles] + [f"{job}-node-0-{most - 1}-xxxxx"]

    assert max(map(len, pods)) == 63


def test_pod_is_guaranteed() -> None:
    """Requests are the limits, for the ranks and the init container, and in the form that the API
    server stores."""
    each = launch(on=fabric())
    for resources in (LaunchView(each).resources, LaunchView(each).account_resources):
        assert resources["limits"] == resources["requests"]
    assert LaunchView(each).resources["limits"] == {
        "cpu": "14",
        "memory": "60Gi",
        "nvidia.com/gpu": "2",
        "openshift.io/ib_rail_0": "1",
        "openshift.io/ib_rail_1": "1",
        "ephemeral-storage": "90Gi",
    }


def test_pull_secret_is_named_only_where_there_is_one() -> None:
    """An empty name would be refused."""
    assert [
        LaunchView(each).image_pull_secrets
        for each in (launch(pull_secret="pull"), launch(pull_secret=""))
    ] == [
        [{"name": "pull"}],
        [],
    ]


def test_name_and_files_tell_runtime_and_hardware() -> None:
    """The version and the hardware are in the name; the runtime's file comes first among the
    origins."""
    each: Launch = launch(version=7)

    assert each.name == "openmpi-cuda-v7-small"
    assert each.files == ("profiles/runtimes/openmpi-cuda.yaml", "profiles/hardware/small.yaml")


def test_name_has_the_part_of_a_node_and_the_owner_of_networks() -> None:
    """The name of a share has its GPUs; where networks have their own names, each namespace has a
    runtime of its own."""
    names = [
        launch(part=Fraction(1, 2)).name,
        launch(owner="team-nlp", on=fabric(ROCE)).name,
        launch(owner="team-nlp-dev", part=Fraction(1, 2), on=fabric(ROCE)).name,
    ]

    assert names == [
        "openmpi-cuda-v1-small-1gpu",
        "openmpi-cuda-v1-small-nlp",
        "openmpi-cuda-v1-small-1gpu-nlp-dev",
    ]


@pytest.mark.parametrize(("name", "version"), [("openmpi-cuda-v2", 2), ("openmpi-cuda", 2)])
def test_older_version_has_the_name_of_its_family(name: str, version: int) -> None:
    """A file of an older version ends with it; its object is called as when the version was the
    newest."""
    each = launch(name=name, family="openmpi-cuda", version=version)

    assert each.name == "openmpi-cuda-v2-small"
    assert LaunchView(each).labels["ml.example.com/runtime"] == name


def test_networks_of_an_operator_are_called_by_their_namespace() -> None:
    """On RoCE the operator's objects are in one namespace, so the attachments are named after the
    team's."""
    each = launch(owner="team-nlp", on=fabric(ROCE, name="eth"))

    assert (
        LaunchView(each).launcher_annotations[NETWORKS] == "team-nlp-eth-rail-0,team-nlp-eth-rail-1"
    )


def test_annotations_list_the_libraries() -> None:
    """All of them, in one line; and the labels that SDKs list runtimes by."""
    each = launch(libraries={"cuda": "12.6", "openmpi": "4.1.6"}, framework="torch")

    assert LaunchView(each).annotations["ml.example.com/libraries"] == "cuda=12.6 openmpi=4.1.6"
    assert LaunchView(each).labels["trainer.kubeflow.org/framework"] == "torch"
    assert LaunchView(launch(shared_memory=64 << 30)).shared_memory == "64Gi"


def test_users_of_an_older_version_are_warned() -> None:
    """Trainer's webhook warns of what is labelled so; the last day is beside it."""
    newest, older = launch(end=""), launch(end="2027-03-31")

    assert LaunchView(newest).labels["trainer.kubeflow.org/support"] == "supported"
    assert LaunchView(older).labels["trainer.kubeflow.org/support"] == "deprecated"
    assert LaunchView(older).annotations["ml.example.com/deprecated-until"] == "2027-03-31"
    assert "ml.example.com/deprecated-until" not in LaunchView(newest).annotations


def test_pods_stay_on_the_nodes_of_their_kind() -> None:
    """A queue may have several kinds of node: the labels of the hardware keep a pod on the one it
    was sized for."""
    assert launch(node(labels={"kind": "small"})).node_selector == {"kind": "small"}
    assert launch(node(labels={})).node_selector == {}


def parts(hardware: Hardware) -> int:
    """Return the GPUs of a node, or its cores."""
    return hardware.units(hardware.parts)


PARTS = (
    st.integers(0, 8)
    .flatmap(nodes)
    .flatmap(lambda each: st.tuples(st.just(each), st.integers(1, parts(each))))
)
"""A node type, and GPUs or cores of it that a pod asks for."""


@given(PARTS)
def test_parts_of_a_node_fit_on_it_together(case: tuple[Hardware, int]) -> None:
    """As many pods as the parts allow find cpu, memory and disk too: a part is never larger than
    its share."""
    hardware, number = case
    each = launch(hardware, part=Fraction(number, parts(hardware)))
    share = {
        name: Fraction(amount * number, parts(hardware))
        for name, amount in pool(hardware).allocatable.items()
    }

    assert (each.gpus or each.cores) == number
    assert {name: amount for name, amount in each.per_node.items() if amount > share[name]} == {}
    assert all(
        share[name] - each.per_node[name] < 1
        for name in share.keys() & {"memory", "ephemeral-storage", "nvidia.com/gpu"}
    )


@given(PARTS)
def test_part_of_a_node_has_whole_cpus(case: tuple[Hardware, int]) -> None:
    """The CPU manager gives cores of its own only to a pod that asks for an integer of cpus."""
    hardware, number = case
    asked = launch(hardware, part=Fraction(number, parts(hardware))).per_node["cpu"]

    assert asked % 1000 == 0
    assert Fraction(pool(hardware).allocatable["cpu"] * number, parts(hardware)) - asked < 1000


@given(PARTS)
def test_ranks_of_a_part_share_its_cores(case: tuple[Hardware, int]) -> None:
    """One rank a GPU or core, bound to whole cores that the pod has: all of them but
    a rest."""
    hardware, number = case
    each = launch(hardware, part=Fraction(number, parts(hardware)))

    assert each.ranks == number
    assert each.cores_per_rank * each.ranks <= each.cores < (each.cores_per_rank + 1) * each.ranks
    assert each.cores * hardware.threads // hardware.cores * 1000 <= each.per_node["cpu"]
    assert each.threads_per_rank * each.ranks * 1000 <= each.per_node["cpu"]


@pytest.mark.parametrize(("ranks", "part", "started"), [(8, 8, 8), (8, 4, 4), (4, 1, 1), (2, 3, 1)])
def test_part_of_a_node_starts_its_part_of_the_ranks(ranks: int, part: int, started: int) -> None:
    """At least one, as a pod without ranks has nothing to do."""
    hardware = node(gpu=Gpu("X", 8, "nvidia.com/gpu", ""))

    assert launch(hardware, part=Fraction(part, 8), ranks=ranks).ranks == started


@pytest.mark.parametrize(
    ("gpus", "part", "name"), [(8, 2, "small-2gpu"), (None, 6, "small-6core"), (8, 8, "small")]
)
def test_pods_are_named_after_their_part(gpus: int | None, part: int, name: str) -> None:
    gpu = Gpu("X", gpus, "nvidia.com/gpu", "") if gpus else None
    hardware = node(gpu=gpu)

    assert launch(hardware, part=Fraction(part, parts(hardware))).nodes == name


@given(st.integers(1, 8))
def test_shared_memory_of_a_part_is_in_proportion(gpus: int) -> None:
    """It counts against the pod's memory, which is in proportion too; a whole node has what the
    profile says."""
    hardware = node(gpu=Gpu("X", 8, "nvidia.com/gpu", ""))

    assert (
        LaunchView(launch(hardware, part=Fraction(gpus, 8), shared_memory=8 << 30)).shared_memory
        == f"{gpus}Gi"
    )


@pytest.mark.parametrize(("name", "smallest"), [("openmpi", 2), ("intel-mpi", 2), ("torchrun", 1)])
def test_smallest_job_has_a_pod_of_each_role(name: str, smallest: int) -> None:
    """Trainer makes a launcher and a node even of `numNodes: 1`; torchrun's ranks start
    themselves."""
    runtime = launch(launcher=LAUNCHERS[name], max_nodes=4).runtime

    assert (runtime.launcher.name, runtime.smallest_job) == (name, smallest)
    assert runtime.roles == ("launcher", "node")[-smallest:]
    assert RuntimeView(runtime).targets == [{"name": role} for role in runtime.roles]


@pytest.mark.parametrize(("name", "role"), [("openmpi", "launcher"), ("torchrun", "node")])
def test_job_of_one_pod_has_all_ranks_in_it(name: str, role: str) -> None:
    """Trainer's MPI plugin starts no node beside the launcher where the runtime has none."""
    one = launch(on=fabric(), levels=(RACK,), groups=True, launcher=LAUNCHERS[name], max_nodes=1)

    assert (one.runtime.roles, one.runtime.smallest_job) == ((role,), 1)
    assert (one.is_grouped, one.is_placed_as_one) == (False, True)
    assert LaunchView(one).has_nodes == (role == "node")


SMALL = Share(2_000, 4 << 30)


@pytest.mark.parametrize(("name", "most"), list(product(("openmpi", "intel-mpi"), (1, 4))))
def test_small_launcher_is_none_of_the_nodes(name: str, most: int) -> None:
    """It has no ranks and no network, and a job of one node has it too."""
    on, runs = fabric(), LAUNCHERS[name]
    small = launch(
        node(launcher=SMALL),
        on=on,
        groups=True,
        launcher=runs,
        max_nodes=most,
        small_launcher=True,
    )
    view = LaunchView(small)

    assert (small.runtime.roles, small.runtime.rank_roles) == (("launcher", "node"), ("node",))
    assert (small.runtime.smallest_job, view.launcher_is_node, small.is_grouped) == (1, False, True)
    assert NETWORKS not in view.launcher_annotations
    assert NETWORKS in view.node_annotations
    assert view.launcher_annotations[GROUP] == view.node_annotations[GROUP]
    assert view.launcher_resources["limits"] == {"cpu": "2", "memory": "4Gi"}


@pytest.mark.parametrize(("on", "small"), list(product((None, fabric()), (False, True))))
def test_small_launcher_is_beside_its_own_nodes_where_kueue_does_not_place_it(
    on: Fabric | None, small: bool
) -> None:
    """Kueue takes the fullest node that has room; the scheduler would take an idle one."""
    view = LaunchView(launch(node(launcher=SMALL), on=on, small_launcher=small, max_nodes=4))

    assert bool(view.launcher_affinity) is (small and on is None)


@given(nodes(), st.integers(1, 4), st.integers(0, 3), st.booleans())
def test_ranks_of_each_runtime_leave_room_for_a_small_launcher(
    hardware: Hardware, cores: int, cpus: int, small: bool
) -> None:
    """Else a launcher would take a node from the ranks of another job. Its own pods and one of
    ranks together are a node, so a job with as many nodes as its quota fits it."""
    kept = Share(cores * 1000 * hardware.threads // hardware.cores, 4 << 30)
    each = launch(replace(hardware, launcher=kept), initializers=steps(cpus), small_launcher=small)
    whole = launch(hardware, initializers=steps(cpus))

    assert each.per_node["cpu"] + kept.cpu == whole.per_node["cpu"]
    assert each.per_node["memory"] + kept.memory == whole.per_node["memory"]
    assert each.hardware.rank_cores == whole.hardware.promised_cores - cores


@pytest.mark.parametrize(("initializers", "most"), [*product((0, 2), (1, 2))])
def test_launcher_waits_for_the_nodes_or_for_the_steps(initializers: int, most: int) -> None:
    """The steps come before the nodes, so a launcher waits for them only where it is alone."""
    found = LaunchView(launch(max_nodes=most, initializers=steps(*[1] * initializers)))
    ready = [{"name": "node", "status": "Ready"}]

    assert found.launcher_dependencies == (ready if most > 1 else found.node_dependencies)
    assert len(found.node_dependencies) == initializers


def test_version_of_the_launcher_is_that_of_its_library() -> None:
    """Each launcher looks at its own library, and at none where the profile states no version."""
    libraries = {"openmpi": "5.0.6", "intel-mpi": "2021.13", "torch": "2.6.0"}
    versions = {
        name: launch(launcher=each, libraries=libraries).runtime.launcher_version
        for name, each in LAUNCHERS.items()
    }

    assert versions == {"openmpi": "5.0.6", "intel-mpi": "2021.13", "torchrun": "2.6.0"}
    assert launch(launcher=INTEL_MPI, libraries={"openmpi": "5.0.6"}).runtime.launcher_version == ""
