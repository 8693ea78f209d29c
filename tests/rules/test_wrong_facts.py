"""Single mistakes in the profile of a server, as people make them: each is found by its rule."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import findings, merged

HARDWARE = "hardware/dgx-h100.yaml"
RUNTIME = "runtimes/openmpi-cuda.yaml"
BUSES = ("18", "40", "4f", "5e", "9a", "c0", "ce", "dc")
"""Of the rails, in the order of their GPUs; the second half is on the second CPU."""

SERVER: dict[str, Any] = {
    "extends": None,
    "cpu": {"sockets": 2, "cores": 112, "threads": 224},
    "numaNodes": 2,
    "memory": "2Ti",
    "ephemeralStorage": "1788Gi",
    "pods": 250,
    "gpu": {"product": "NVIDIA-B200", "count": 8},
    "nic": {"vendor": "15b3", "device": "1021", "rate": 400, "virtualFunctions": 8},
    "nics": [
        {
            "pci": f"0000:{bus}:00.0",
            "interface": f"ibp{int(bus, 16)}s0",
            "device": f"mlx5_{gpu}",
            "numa": gpu // 4,
            "role": "rail",
            "gpu": gpu,
        }
        for gpu, bus in enumerate(BUSES)
    ],
    "taint": "nvidia.com/gpu",
    "system": {"cpu": 16, "memory": "96Gi", "ephemeralStorage": "288Gi", "pods": 50},
    "kubelet": {"cpu": 8, "memory": "24Gi", "ephemeralStorage": "64Gi"},
}
"""A server with eight B200, written without a preset."""

BLACKWELL = {RUNTIME: {"libraries": {"cuda": "12.8"}}}


def server(**changes: Any) -> dict[str, Any]:
    """Return a change after which a server has the mistake, on a runtime that its GPUs run."""
    return {HARDWARE: merged(SERVER, changes) | {"extends": None}, **BLACKWELL}


def ports(index: int, **fields: Any) -> list[dict[str, Any]]:
    """Return the server's ports with other fields in one of them."""
    rails = SERVER["nics"]
    return [*rails[:index], {**rails[index], **fields}, *rails[index + 1 :]]


MISTAKES: list[tuple[str, dict[str, Any], str]] = [
    ("cores are threads", {"cpu": {"cores": 224}}, "node/no-hyper-threading"),
    ("threads of one socket", {"cpu": {"threads": 112}}, "node/no-hyper-threading"),
    ("cores of one socket", {"cpu": {"cores": 56}}, "node/impossible-cpu"),
    ("one socket", {"cpu": {"sockets": 1}}, "node/odd-sockets"),
    ("three sockets", {"cpu": {"sockets": 3}}, "node/impossible-cpu"),
    ("threads below cores", {"cpu": {"cores": 224, "threads": 112}}, "node/impossible-cpu"),
    ("NUMA nodes left out", {"numaNodes": None}, "shape/incomplete-hardware"),
    ("one NUMA node", {"numaNodes": 1}, "node/impossible-numa"),
    ("three NUMA nodes", {"numaNodes": 3}, "node/impossible-numa"),
    ("CUDA of Hopper", {"gpu": {"minimumCuda": "11.8"}}, "node/contradicting-cuda"),
    ("CUDA of the future", {"gpu": {"minimumCuda": "13.0"}}, "node/contradicting-cuda"),
    ("misspelt product", {"gpu": {"product": "NVIDIA-B2OO"}}, "shape/incomplete-hardware"),
    ("misspelt product with CUDA", {"gpu": {"product": "NVIDIA-B2OO", "minimumCuda": "12.8"}},
     "node/unknown-product"),
    ("product without maker", {"gpu": {"product": "B200"}}, "shape/incomplete-hardware"),
    ("product of AMD", {"gpu": {"product": "AMD_Instinct_MI300X_OAM"}}, "runtime/cuda-too-old"),
    ("product of Intel", {"gpu": {"product": "Gaudi3"}}, "node/unsupported-gpu"),
    ("resource of AMD", {"gpu": {"resource": "amd.com/gpu"}}, "node/unsupported-gpu"),
    ("one virtual function", {"nic": {"virtualFunctions": 1}}, "fabric/fewer-functions-than-gpus"),
    ("rate of a slower card", {"nic": {"rate": 50}}, "fabric/odd-rate"),
    ("rate of a faster card", {"nic": {"rate": 800}}, "fabric/odd-rate"),
    ("rate in Gigabytes", {"nic": {"rate": 48}}, "fabric/odd-rate"),
    ("half of the GPUs", {"gpu": {"count": 4}}, "fabric/invalid-rails"),
    ("GPUs of two nodes", {"gpu": {"count": 16}}, "fabric/invalid-rails"),
    ("port twice", {"nics": ports(1, pci="0000:18:00.0")}, "fabric/invalid-rails"),
    ("GPU twice", {"nics": ports(1, gpu=0)}, "fabric/invalid-rails"),
    ("GPU of another node", {"nics": ports(7, gpu=8)}, "fabric/invalid-rails"),
    ("interface twice", {"nics": ports(1, interface="ibp24s0")}, "fabric/invalid-rails"),
    ("RDMA device twice", {"nics": ports(1, device="mlx5_0")}, "fabric/invalid-rails"),
    ("bus in decimal", {"nics": ports(1, pci="0000:64:00.0")}, "node/contradicting-interface"),
    ("storage port as rail", {"nics": [*SERVER["nics"], {"pci": "0000:29:00.0", "role": "rail"}]},
     "fabric/invalid-rails"),
    ("port on the other socket", {"nics": ports(1, numa=1)}, "node/port-on-the-wrong-side"),
    ("maker of another card", {"nic": {"vendor": "8086"}}, "fabric/unsupported-nic"),
    ("id of virtual functions", {"nic": {"device": "101e"}}, "fabric/unsupported-nic"),
    ("card without InfiniBand", {"nic": {"device": "101d"}}, "fabric/unsupported-nic"),
    ("memory in Gi", {"memory": "2Gi"}, "capacity/system-share-exceeds-node"),
    ("disk in Mi", {"ephemeralStorage": "1788Mi"}, "capacity/system-share-exceeds-node"),
    ("pods of the system", {"pods": 50}, "capacity/system-share-exceeds-node"),
    ("all threads for the system", {"system": {"cpu": 224}}, "capacity/system-share-exceeds-node"),
    ("kubelet keeps more", {"kubelet": {"memory": "128Gi"}}, "node/kubelet-share-exceeds-system"),
    ("taint of Kubernetes", {"taint": "node.kubernetes.io/not-ready"}, "node/system-taint"),
    ("no taint", {"taint": None}, "node/no-taint"),
]  # fmt: skip


def test_server_without_a_mistake_breaks_nothing() -> None:
    """Each finding of a mistake comes from the mistake."""
    assert findings(server()) == []


@pytest.mark.parametrize(
    ("changes", "rule"), [pytest.param(*case, id=name) for name, *case in MISTAKES]
)
def test_mistake_is_found(changes: dict[str, Any], rule: str) -> None:
    assert rule in {each.rule for each in findings(server(**changes))}


OTHER = {"gpu": {"product": "NVIDIA-B200"}}
PORTS = {"nic": SERVER["nic"], "nics": SERVER["nics"]}
MEASURED = {key: SERVER[key] for key in ("cpu", "numaNodes", "memory", "ephemeralStorage")}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (OTHER, "`cpu.cores`, `numaNodes`, `memory`, `ephemeralStorage`, `nics`, `nic.device`"),
        (OTHER | PORTS, "`cpu.cores`, `numaNodes`, `memory`, `ephemeralStorage`"),
        (OTHER | MEASURED, "`nics`, `nic.device`"),
        (OTHER | MEASURED | {"nics": SERVER["nics"]}, "`nic.device`"),
        (OTHER | MEASURED | {"nics": []}, ""),
        (OTHER | MEASURED | PORTS, ""),
    ],
)
def test_other_product_keeps_no_fact_of_the_server_before(given: dict[str, Any], kept: str) -> None:
    """Each kept fact is named, once; CUDA follows from the product."""
    found = findings({HARDWARE: given, **BLACKWELL})
    other = "a server with NVIDIA-H100-80GB-HBM3"
    message = f"a `dgx-h100` has NVIDIA-B200, but keeps {kept} of {other}"

    assert [each.message for each in found if "keeps" in each.message] == (
        [message] if kept else []
    )


def test_stated_cuda_of_the_product_before_is_kept_by_none() -> None:
    """A version that an ancestor states for its own product is a fact of that product."""
    before = {"extends": "nvidia-dgx-h100", "gpu": {"minimumCuda": "11.8"}}
    after = {"extends": "before", **OTHER, **MEASURED, **PORTS}
    found = findings({"hardware/before.yaml": before, HARDWARE: after, **BLACKWELL})

    assert any("keeps `gpu.minimumCuda` of" in each.message for each in found)


@pytest.mark.parametrize(
    ("product", "hint"),
    [
        ("NVIDIA-B2OO", "Did you mean `NVIDIA-B200`? "),
        ("B200", "Did you mean `NVIDIA-B200`? "),
        ("H100-80GB-HBM3", "Did you mean `NVIDIA-H100-80GB-HBM3`? "),
        ("Voodoo", ""),
    ],
)
def test_unknown_product_is_asked_what_follows_from_a_known_one(product: str, hint: str) -> None:
    """The nearest known product is named, and no platform of another maker."""
    found = [
        each
        for each in findings(server(gpu={"product": product}))
        if each.rule == "shape/incomplete-hardware"
    ]

    assert found
    assert all(f"`{product}`. {hint}If it is right, give" in each.hint for each in found)


@pytest.mark.parametrize(
    ("libraries", "found"),
    [
        ({"rocm": "6.4"}, []),
        ({"rocm": "6.4", "cuda": "12.8"}, []),
        ({}, ["runtime `openmpi-cuda` runs on GPUs and does not state its ROCm version"]),
        (
            {"cuda": "12.8"},
            ["CUDA 12.8 does not support the GPUs of a `dgx-h100`, which need ROCm"],
        ),
    ],
)
def test_gpus_of_amd_need_an_image_with_rocm(libraries: dict[str, str], found: list[str]) -> None:
    """One finding says so, and no rule asks for CUDA."""
    changes = server(gpu={"product": "AMD_Instinct_MI300X_OAM"})
    changes[RUNTIME] = {"libraries": {"cuda": None} | libraries}

    assert [each.message for each in findings(changes)] == found


def test_gpus_of_nvidia_need_an_image_with_cuda() -> None:
    (found,) = findings({RUNTIME: {"libraries": {"cuda": None, "rocm": "6.4"}}})

    assert found.rule == "runtime/cuda-too-old"
    assert found.message == "ROCm 6.4 does not support the GPUs of a `dgx-h100`, which need CUDA"


@pytest.mark.parametrize(
    ("gpu", "makers"),
    [
        ({"resource": "amd.com/gpu"}, ("NVIDIA", "AMD")),
        ({"product": "MI325X", "resource": "nvidia.com/gpu"}, ("AMD", "NVIDIA")),
    ],
)
def test_product_and_resource_are_of_one_maker(
    gpu: dict[str, str], makers: tuple[str, str]
) -> None:
    found = findings(server(gpu=gpu))
    (message,) = [each.message for each in found if each.rule == "node/unsupported-gpu"]

    assert f"has GPUs of {makers[0]}, `" in message
    assert f"the resource of {makers[1]}, `" in message


def test_refused_accelerators_have_one_finding() -> None:
    """Neither a library nor a fabric makes up for what is missing."""
    changes = server(gpu={"product": "Gaudi3"}, nics=[])
    changes[RUNTIME] = {"libraries": {"cuda": None}}
    changes["clusters/prod-east.yaml"] = {"pools": {"dgx-h100": {"fabric": None}}, "fabrics": None}
    found = {each.rule for each in findings(changes)}

    assert "node/unsupported-gpu" in found
    assert not found & {"runtime/unstated-cuda", "fabric/gpu-jobs-without-rails"}


@pytest.mark.parametrize("product", ["Gaudi3", "HL-225"])
def test_other_makers_are_refused_by_name(product: str) -> None:
    """One finding has the maker and what is missing; nothing suggests a GPU of NVIDIA."""
    (found,) = findings(server(gpu={"product": product}))

    assert found.rule == "node/unsupported-gpu"
    assert f"`{product}` of a `dgx-h100` is of " in found.message
    assert "nvidia" not in f"{found.message} {found.hint}".lower()
