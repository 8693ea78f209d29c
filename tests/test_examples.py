"""The examples do what their READMEs say."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.architectures import NAMES, PAGE, picture, read_architecture, table, with_figures
from tests.pages import ROOT, type_page
from tests.rules.cases import TODAY
from trainyard.diagnostics import Diagnostic, has_errors
from trainyard.generation.generate import Target, check, generate
from trainyard.rulebook import all_rules
from trainyard.tree.write import write
from trainyard.workflows.verify import verify

pytestmark = pytest.mark.thorough

EXAMPLES = ROOT / "examples"

PROVIDERS = (
    "amd-roce",
    "aws-efa",
    "azure-infiniband",
    "coreweave-infiniband",
    "flat-sriov",
    "gb200-nvlink",
    "gke-rdma",
    "oci-rdma",
)
"""Examples of networks that are not ours alone, and of accelerators of another maker."""


def line(diagnostic: Diagnostic) -> str:
    """Return a diagnostic as one line of the example's file."""
    path = ".".join(map(str, diagnostic.at.path))
    return (
        f"{diagnostic.severity} {diagnostic.rule} {diagnostic.at.file} {path}: {diagnostic.message}"
    )


def test_seed_architecture_is_refused_as_its_readme_says(update_golden: bool) -> None:
    """Each defect that can be written is found, and the README names exactly the rules that find
    one."""
    folder = EXAMPLES / "seed-architecture"
    diagnostics = check(folder / "profiles").diagnostics
    text = "".join(f"{line(each)}\n" for each in diagnostics)
    if update_golden:
        (folder / "diagnostics.txt").write_text(text, encoding="utf-8")
    ids = {rule.id for rule in all_rules()}
    named = (
        set(
            re.findall(r"`([a-z]+/[a-z0-9-]+)`", (folder / "README.md").read_text(encoding="utf-8"))
        )
        & ids
    )

    assert (folder / "diagnostics.txt").read_text(encoding="utf-8") == text
    assert named == {each.rule for each in diagnostics} - {
        "capacity/idle-nodes",
        "delivery/placeholder-left",
    }


@pytest.mark.parametrize(
    "example",
    [
        "smallest",
        "two-fabrics",
        "two-generations",
        "from-mpijobs",
        *PROVIDERS,
        *NAMES,
    ],
)
def test_example_generates_and_verifies(example: str, tmp_path: Path) -> None:
    """What an example shows can be used as it stands, and nothing of it is passed over."""
    profiles, target = EXAMPLES / example / "profiles", tmp_path / "overlays"
    generation = generate(profiles, "../profiles/components", today=TODAY)
    assert not has_errors(generation.diagnostics)
    write(target, generation.files)
    verification = verify(Target(profiles, target, "../profiles/components"))

    assert not has_errors(verification.diagnostics)
    (count,) = verification.counts
    assert count.objects == count.valid == count.built == count.conform > 30
    assert (count.skipped, count.units_built) == (0, count.units)


def test_smallest_platform_is_small() -> None:
    """Twenty lines are enough to begin with."""
    files = sorted((EXAMPLES / "smallest" / "profiles").rglob("*.yaml"))

    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) <= 20


def test_two_fabrics_share_the_names_of_their_rails() -> None:
    """A queue covers 13 resources; the networks of each fabric stay its own, and each runtime has
    those of one."""
    generation = generate(EXAMPLES / "two-fabrics" / "profiles", "../profiles/components")
    bodies = {manifest.name: manifest.body for manifest in generation.manifests["south"]}
    (group,) = bodies["climate-gpu"]["spec"]["resourceGroups"]

    assert [flavor["name"] for flavor in group["flavors"]] == ["dgx-h100", "dgx-a100"]
    assert len(group["coveredResources"]) == 13
    assert (
        bodies["dgx-h100-rail-3"]["spec"]["resourceName"]
        == bodies["dgx-a100-rail-3"]["spec"]["resourceName"]
    )
    for node, own, other in (("dgx-h100", "ndr", "hdr"), ("dgx-a100", "hdr", "ndr")):
        runtime = str(bodies[f"openmpi-v1-{node}"])
        assert f"{own}-rail-7" in runtime
        assert f"{other}-rail" not in runtime


@pytest.mark.parametrize(
    ("example", "cluster", "team", "devices", "number"),
    [
        ("aws-efa", "east", "language", "vpc.amazonaws.com/efa", 32),
        ("azure-infiniband", "west", "climate", "rdma/ib", 8),
        ("oci-rdma", "south", "physics", "nvidia.com/rdma-vf", 16),
        ("flat-sriov", "lab", "chemistry", "example.com/ib-vf", 8),
    ],
)
def test_devices_of_others_go_with_whole_nodes(
    example: str, cluster: str, team: str, devices: str, number: int
) -> None:
    """Every pod of a runtime requests those of its node, and the queue covers those of its nodes;
    the tree has no network of them."""
    profiles = EXAMPLES / example / "profiles"
    generation = generate(profiles, "../profiles/components", today=TODAY)
    manifests = generation.manifests[cluster]
    runtimes = [each for each in manifests if each.kind.name == "ClusterTrainingRuntime"]
    (queue,) = [each.body for each in manifests if each.name == f"{team}-gpu"]
    (group,) = queue["spec"]["resourceGroups"]
    (flavor,) = group["flavors"]
    counted = [each for each in flavor["resources"] if "/" in each["name"]]
    quota = {each["name"]: int(each["nominalQuota"]) for each in counted}

    assert {each.rule for each in generation.diagnostics} <= {
        "capacity/no-reserve",
        "delivery/placeholder-left",
    }
    assert runtimes
    assert all(f"'{devices}': '{number}'" in str(each.body) for each in runtimes)
    assert quota[devices] * 8 == quota["nvidia.com/gpu"] * number
    kinds = {each.kind.name for each in manifests}
    assert not {kind for kind in kinds if "Sriov" in kind or "NetworkAttachment" in kind}


def test_gpus_of_amd_get_nothing_of_nvidia() -> None:
    """Resource, transports and prerequisites are AMD's; what reads NVIDIA's exporter is left out.

    The network cards stay NVIDIA's, and jobs set no variable of its container runtime.
    """
    profiles = EXAMPLES / "amd-roce" / "profiles"
    generation = generate(profiles, "../profiles/components", today=TODAY)
    bodies = {each.name: each.body for each in generation.manifests["north"]}
    (flavor,) = bodies["chemistry-gpu"]["spec"]["resourceGroups"][0]["flavors"]
    quota = {each["name"]: each["nominalQuota"] for each in flavor["resources"]}
    texts = {path: content.decode() for path, content in generation.files.items()}
    samples = sorted(path for path in texts if "/samples/chemistry/" in path)
    readme = next(text for path, text in texts.items() if path.endswith("north/README.md"))
    runbooks = next(text for path, text in texts.items() if path.endswith("RUNBOOKS.md"))

    assert {each.rule for each in generation.diagnostics} == {"delivery/placeholder-left"}
    assert quota["amd.com/gpu"] == "32"
    for name, transports in (("openmpi", "rc,sm,self,rocm_copy,rocm_ipc"), ("torchrun", "")):
        runtime = str(bodies[f"{name}-v1-mi300x-chemistry"])
        assert "'amd.com/gpu': '8'" in runtime
        assert transports in runtime
    assert not [path for path, text in texts.items() if "nvidia.com/gpu'" in text]
    assert not [path for path, text in texts.items() if re.search("DCGM_|dcgm|cuda_copy", text)]
    assert [Path(path).name for path in samples] == [
        "README.md",
        "openmpi.yaml",
        "test-storage.yaml",
        "torchrun.yaml",
    ]
    assert "`/dev/kfd`" in readme
    assert "deviceconfigs.amd.com" in readme
    assert "GPU operator" in readme
    assert "NVIDIA GPU operator" not in readme
    assert "`rocm-smi` numbers it" in runbooks


def test_slot_goes_with_each_pod_and_never_limits() -> None:
    """Whatever the number of ports; the queue covers all slots of its nodes."""
    profiles = EXAMPLES / "coreweave-infiniband" / "profiles"
    generation = generate(profiles, "../profiles/components", today=TODAY)
    (manifests,) = generation.manifests.values()
    runtimes = [each for each in manifests if each.kind.name == "ClusterTrainingRuntime"]
    (queue,) = [each.body for each in manifests if each.name == "speech-gpu"]
    (flavor,) = queue["spec"]["resourceGroups"][0]["flavors"]
    quota = {each["name"]: each["nominalQuota"] for each in flavor["resources"]}

    assert {each.rule for each in generation.diagnostics} == {"delivery/placeholder-left"}
    assert runtimes
    assert all("'rdma/ib': '1'" in str(each.body) for each in runtimes)
    assert (quota["nvidia.com/gpu"], quota["rdma/ib"]) == ("48", "378")


@pytest.mark.parametrize(
    ("example", "network", "number"),
    [("oci-rdma", "default/rdma-vf", 16), ("flat-sriov", "default/ib-flat", 8)],
)
def test_pods_attach_to_the_network_of_others_once_for_each_device(
    example: str, network: str, number: int
) -> None:
    """Multus gives a pod one device for each name."""
    profiles = EXAMPLES / example / "profiles"
    generation = generate(profiles, "../profiles/components", today=TODAY)
    (manifests,) = generation.manifests.values()
    runtimes = [each for each in manifests if each.kind.name == "ClusterTrainingRuntime"]

    assert runtimes
    assert all(f"'{','.join([network] * number)}'" in str(each.body) for each in runtimes)


def test_devices_may_have_the_prefix_of_virtual_functions(tmp_path: Path) -> None:
    """That of the release is NVIDIA's too; no policy of the tree makes such a device."""
    shutil.copytree(EXAMPLES / "azure-infiniband" / "profiles", tmp_path / "profiles")
    for path in tmp_path.rglob("*.yaml"):
        text = path.read_text(encoding="utf-8").replace("rdma/ib", "nvidia.com/hostdev")
        path.write_text(text, encoding="utf-8")
    generation = generate(tmp_path / "profiles", "../profiles/components", today=TODAY)

    assert not has_errors(generation.diagnostics), generation.diagnostics
    assert generation.files


def test_pools_of_two_generations_are_tried_in_order() -> None:
    """The newer nodes first; each job names its generation, as launcher and nodes are not placed as
    one there."""
    generation = generate(EXAMPLES / "two-generations" / "profiles", "../profiles/components")
    bodies = {manifest.name: manifest.body for manifest in generation.manifests["north"]}
    (group,) = bodies["climate-gpu"]["spec"]["resourceGroups"]

    assert [flavor["name"] for flavor in group["flavors"]] == ["dgx-h200", "dgx-h100"]
    assert bodies["climate-gpu"]["spec"]["flavorFungibility"]["whenCanBorrow"] == "TryNextFlavor"
    assert "openmpi-v1-gpu" not in bodies
    assert all(
        "nodeSelector" in str(bodies[f"openmpi-v1-{node}"]) for node in ("dgx-h100", "dgx-h200")
    )


@pytest.mark.parametrize("name", NAMES)
def test_commands_of_a_reference_architecture_run(name: str, tmp_path: Path) -> None:
    """In a copy of its own, and the tree that they write is the one of the profiles."""
    shutil.copytree(EXAMPLES / name / "profiles", tmp_path / "examples" / name / "profiles")
    type_page(EXAMPLES / name / "README.md", tmp_path)

    assert (tmp_path / "platform" / "overlays").is_dir()


def test_commands_of_the_upgrade_run(tmp_path: Path) -> None:
    """Each commit's tree is generated, `diff` says what it does, and the revert changes nothing."""
    shutil.copytree(EXAMPLES / "two-nodes", tmp_path / "examples" / "two-nodes")
    type_page(EXAMPLES / "upgrade" / "README.md", tmp_path)


def test_figures_of_the_reference_architectures_are_those_of_their_profiles(
    update_golden: bool,
) -> None:
    """The table of the page, and the picture and table of each README."""
    architectures = [read_architecture(name) for name in NAMES]
    figures = {PAGE: table(architectures)}
    for each in architectures:
        figures[EXAMPLES / each.name / "README.md"] = f"{picture(each)}\n{table([each])}"
    for page, text in figures.items():
        written = with_figures(page, text)
        if update_golden:
            page.write_text(written, "utf-8")
        assert page.read_text("utf-8") == written


@pytest.mark.parametrize(
    ("name", "warnings"),
    [
        ("two-nodes", {"capacity/no-reserve", "scheduling/job-on-borrowed-nodes"}),
        ("eight-nodes", {"scheduling/job-on-borrowed-nodes"}),
        ("sixteen-nodes", set[str]()),
    ],
)
def test_reference_architecture_warns_of_what_its_readme_explains(
    name: str, warnings: set[str]
) -> None:
    """And of the values that a site replaces."""
    found = {each.rule for each in check(EXAMPLES / name / "profiles", TODAY).diagnostics}
    readme = (EXAMPLES / name / "README.md").read_text(encoding="utf-8")

    assert found - {"delivery/placeholder-left"} == warnings
    assert not [rule for rule in warnings if f"`{rule}`" not in readme]


def test_smallest_platform_warns_of_exactly_what_its_readme_names() -> None:
    found = {each.rule for each in check(EXAMPLES / "smallest" / "profiles", TODAY).diagnostics}
    readme = (EXAMPLES / "smallest" / "README.md").read_text(encoding="utf-8")

    assert {*re.findall(r"`([a-z]+/[a-z-]+)`", readme)} == found
