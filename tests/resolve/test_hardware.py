"""A hardware profile with what it extends: merged, complete, and its origin kept."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.resolve.changes import HARDWARE, hardware, reported
from tests.rules.cases import merged
from trainyard.diagnostics import Pointer
from trainyard.model.hardware import Share
from trainyard.rules.shape.incomplete_hardware import RULE as INCOMPLETE_HARDWARE

GI = 1 << 30
FULL: dict[str, Any] = {
    "cpu": {"sockets": 2, "cores": 8, "threads": 16},
    "memory": "64Gi",
    "ephemeralStorage": "100Gi",
    "pods": 110,
    "labels": {"kind": "small"},
    "system": {"cpu": 2, "memory": "4Gi", "ephemeralStorage": "10Gi", "pods": 10},
    "kubelet": {"cpu": 1, "memory": "2Gi", "ephemeralStorage": "5Gi"},
    "numaNodes": 2,
    "gpu": {"product": "NVIDIA-H100-80GB-HBM3", "count": 1},
    "nic": {"vendor": "15b3", "device": "1021", "rate": 400, "virtualFunctions": 8},
    "nics": [{"pci": "0000:18:00.0", "role": "rail", "gpu": 0}],
}


def alone(**changes: Any) -> dict[str, Any]:
    """Return a change after which the full profile, changed, is the only hardware."""
    return {"hardware/dgx-h100.yaml": None, "hardware/full.yaml": merged(FULL, changes)}


def test_full_profile_needs_no_preset() -> None:
    """Each field arrives in the base unit of the model; what may be left out has its default."""
    known, found = hardware(alone())
    full = known["full"]

    assert found == []
    assert full.total == Share(16_000, 64 * GI, 100 * GI, 110)
    assert full.system == Share(2_000, 4 * GI, 10 * GI, 10)
    assert full.kubelet == Share(1_000, 2 * GI, 5 * GI, 0)
    assert (full.sockets, full.cores, full.threads, full.numa_nodes) == (2, 8, 16, 2)
    assert full.gpu is not None
    assert (full.gpu.resource, full.gpu.minimum_cuda) == ("nvidia.com/gpu", "11.8")
    assert (full.taint, full.files) == ("", ("profiles/hardware/full.yaml",))
    assert [(nic.pci, nic.gpu, nic.interface) for nic in full.nics] == [("0000:18:00.0", 0, "")]


FIELDS = [
    *("cpu", "numaNodes", "memory", "ephemeralStorage", "pods", "system", "kubelet"),
    *("cpu.sockets", "cpu.cores", "cpu.threads"),
    *("system.cpu", "system.memory", "system.ephemeralStorage", "system.pods"),
    *("kubelet.cpu", "kubelet.memory", "kubelet.ephemeralStorage"),
    *("gpu.product", "gpu.count"),
    *("nic.vendor", "nic.device", "nic.rate", "nic.virtualFunctions"),
]


@pytest.mark.parametrize("field", FIELDS)
def test_missing_field_is_the_only_finding(field: str) -> None:
    """Each field that quota is computed from is missed by its name, once, and the profile is left
    out."""
    group, _, inner = field.partition(".")
    known, found = hardware(alone(**{group: {inner: None} if inner else None}))

    assert known == {}
    assert [each.rule for each in found] == [INCOMPLETE_HARDWARE.id]
    assert reported(found) == [("hardware/full.yaml", "", f"`{field}` is not given")]


@pytest.mark.parametrize(
    "changes", [{"gpu": None}, {"nics": None, "nic": None}, {"nics": [], "nic": None}]
)
def test_node_needs_neither_gpu_nor_rails(changes: dict[str, Any]) -> None:
    """A node without accelerators or rails is complete without what belongs to them."""
    known, found = hardware(alone(**changes))

    assert found == []
    assert known["full"].gpus == (1 if "nics" in changes else 0)
    assert len(known["full"].rails) == (0 if "nics" in changes else 1)


def test_ports_other_than_rails_need_no_card() -> None:
    """Storage and management ports become no virtual functions, so nothing is asked of them."""
    nics = [{"pci": "0000:18:00.0", "role": role} for role in ("storage", "management")]
    known, found = hardware(alone(nics=nics, nic=None))

    assert found == []
    assert (known["full"].rails, known["full"].virtual_functions, known["full"].link_rate) == (
        (),
        0,
        0,
    )


Levels = dict[str, int]
SHARES = ("cpu", "memory", "ephemeralStorage", "pods")


@given(
    st.lists(st.dictionaries(st.sampled_from(SHARES), st.integers(1, 99)), min_size=1, max_size=4)
)
def test_most_specific_profile_that_gives_a_nested_field_wins(levels: list[Levels]) -> None:
    """Over a chain of any length each nested field comes from the nearest profile that gives it,
    whatever else does."""
    known, found = hardware(
        {"hardware/dgx-h100.yaml": None, **_chain([_system(level) for level in levels])}
    )
    nearest: Levels = {"cpu": 2, "memory": 4, "ephemeralStorage": 10, "pods": 10}
    for level in levels:
        nearest |= level

    assert found == []
    assert known[f"p{len(levels)}"].system == Share(
        nearest["cpu"] * 1000,
        nearest["memory"] * GI,
        nearest["ephemeralStorage"] * GI,
        nearest["pods"],
    )


def _system(level: Levels) -> dict[str, Any]:
    sizes = ("memory", "ephemeralStorage")
    return {
        "system": {name: f"{value}Gi" if name in sizes else value for name, value in level.items()}
    }


def _chain(levels: list[dict[str, Any]]) -> dict[str, Any]:
    """Return p0, which is complete, and each level as a profile that extends the one before."""
    extended = {
        f"hardware/p{i}.yaml": {"extends": f"p{i - 1}", **level}
        for i, level in enumerate(levels, 1)
    }
    return {"hardware/p0.yaml": FULL, **extended}


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abcd"), st.sampled_from("xyz"), min_size=1),
        min_size=1,
        max_size=3,
    )
)
def test_labels_are_replaced_and_never_merged(labels: list[dict[str, str]]) -> None:
    """Labels select nodes: one that an ancestor gives would narrow the selection unseen. They are
    sorted."""
    known, _ = hardware(_chain([{"labels": each} for each in labels]))
    last = known[f"p{len(labels)}"].labels

    assert last == labels[-1]
    assert list(last) == sorted(last)


def test_profile_without_labels_has_those_it_extends() -> None:
    """Only labels of its own take the place of the others."""
    known, _ = hardware(_chain([{}]))

    assert known["p1"].labels == {"kind": "small"}


def test_lists_are_replaced() -> None:
    """Ports of an ancestor are never added to a profile's own; a port is shown in the file that
    gives the list."""
    own = [{"pci": "0000:99:00.0", "role": "rail", "gpu": 0}]
    known, found = hardware(_chain([{"nics": own}, {"pods": 99}]))

    assert found == []
    assert [nic.pci for nic in known["p2"].nics] == ["0000:99:00.0"]
    assert known["p2"].nics[0].at == Pointer("profiles/hardware/p1.yaml", ("nics", 0))
    assert known["p0"].nics[0].pci == "0000:18:00.0"


def test_chain_is_most_specific_first() -> None:
    """The files that made a node type begin with its own and end with the preset."""
    known, found = hardware(
        {"hardware/mid.yaml": {"extends": "nvidia-dgx-h100"}, HARDWARE: {"extends": "mid"}}
    )

    assert found == []
    assert known["dgx-h100"].files == (
        "profiles/hardware/dgx-h100.yaml",
        "profiles/hardware/mid.yaml",
        "trainyard:presets/nvidia-dgx-h100.yaml",
    )


@pytest.mark.parametrize("length", [1, 2, 5])
def test_profile_that_extends_itself_is_reported_and_ends(length: int) -> None:
    """Each profile of a circle is reported once, at the `extends` that closes it, and
    none is taken."""
    circle = {
        f"hardware/p{i}.yaml": {**FULL, "extends": f"p{(i + 1) % length}"} for i in range(length)
    }
    known, found = hardware({"hardware/dgx-h100.yaml": None, **circle})
    closes = [(f"hardware/p{(i - 1) % length}.yaml", "extends") for i in range(length)]

    assert {each.rule for each in found} == {INCOMPLETE_HARDWARE.id}
    assert [(file, path) for file, path, _ in reported(found)] == closes
    names = [f"`p{i % length}`" for i in range(length + 1)]
    assert found[0].message == f"{' extends '.join(names)}, and no preset"
    assert known == {}


def test_profile_is_preferred_to_a_preset_of_its_name() -> None:
    """The repository's own word counts: a preset can be replaced by a profile of the same name."""
    known, found = hardware({"hardware/nvidia-dgx-h100.yaml": {**FULL, "pods": 77}})

    assert found == []
    assert known["dgx-h100"].total.pods == 77


def test_profile_may_have_the_name_of_the_preset_that_it_extends() -> None:
    """A site that calls its nodes what the preset calls them gets the preset, with its own fields
    over it."""
    known, found = hardware(
        {"hardware/nvidia-dgx-h100.yaml": {"extends": "nvidia-dgx-h100", "pods": 77}}
    )

    assert found == []
    assert known["nvidia-dgx-h100"].total.pods == 77
    assert known["nvidia-dgx-h100"].gpus == 8
