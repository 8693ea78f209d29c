from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from trainyard.diagnostics import ToolError
from trainyard.model.release import Release
from trainyard.profiles.read import plurals, releases
from trainyard.resolve.release import resolve_release
from trainyard_rehearsal.control_plane.components import (
    KIND,
    PROCESSES,
    Components,
    Program,
    components_of,
    queueing,
    read_components,
)

RELEASES = sorted(
    path.parent.name for path in REPOSITORY.glob("generator/trainyard/releases/*/components.toml")
)
MODULES = REPOSITORY / "generator" / "trainyard_rehearsal" / "control_plane" / "modules"
_NEEDED = {
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubectl",
    "kwok",
    "argocd",
}
_STANDS_IN = {("openshift-ai-3.4", "argocd"), ("openshift-ai-3.5", "argocd")}
"""Programs that a rehearsal runs in another version than the release demands."""
_REQUIRED = re.compile(r"^(?:require )?\s*(\S+) v(\S+?)(?:\s*// indirect)?$", re.MULTILINE)


@pytest.fixture(params=RELEASES)
def components(request: pytest.FixtureRequest) -> Components:
    """Components of a release."""
    return read_components(request.param)


def _programs() -> Iterator[Program]:
    for name in RELEASES:
        for on in (PROCESSES, KIND):
            yield from read_components(name, on).programs.values()


def _required(folder: Path) -> dict[str, str]:
    """Return the versions that a go.mod requires."""
    return dict(_REQUIRED.findall((folder / "go.mod").read_text(encoding="utf-8")))


def _release(components: Components) -> Release:
    name = components.folder.name
    return resolve_release(name, releases()[name], plurals()[name])


def _own(**versions: str) -> Release:
    """Return a release of a repository that extends the newest one."""
    base = _release(read_components("kubernetes-1.36"))
    schemas = replace(base.schemas, digest="sha256:0")
    return replace(base, name="site", schemas=schemas, versions={**base.versions, **versions})


@pytest.mark.parametrize(
    ("versions", "wanted"),
    [
        ({}, {"kueue-0.19.2", "trainer-2.3.0", "jobset-0.12.0", "kubernetes-1.36.3"}),
        ({"kueue": "0.19.9"}, {"kueue-0.19.9", "trainer-2.3.0"}),
        ({"kueue": "0.16"}, {"kueue-0.16.2", "kubernetes-1.36.3"}),
        ({"kueue": "0.18.3", "jobset": "0.11.1"}, {"kueue-0.18.3", "jobset-0.11.1"}),
        ({"kubernetes": "1.37.2"}, {"kubernetes-1.37.2", "kueue-0.19.2"}),
        ({"argocd": "3.4.4", "sriovNetworkOperator": "1.5.1"}, {"argo-cd-3.5.7"}),
    ],
    ids=["same", "patch", "minor", "shipped-and-not", "kubernetes", "stand-in"],
)
def test_release_of_a_repository_runs_its_own_versions(
    versions: dict[str, str], wanted: set[str]
) -> None:
    """A minor version stands for the patch that is shipped; controllers are the base's."""
    base, found = read_components("kubernetes-1.36"), components_of(_own(**versions))
    modules = {program.module for program in found.programs.values()}
    assert wanted <= modules
    assert len(modules) == len({program.module for program in base.programs.values()})
    assert found.controllers == base.controllers
    assert components_of(_release(base)) == base


def test_minor_version_that_is_not_shipped_is_refused() -> None:
    """No patch of it is chosen: what ran is what the release states."""
    with pytest.raises(ToolError, match=r"no program of kueue 0\.21 is shipped; state its patch"):
        components_of(_own(kueue="0.21"))


def test_kind_has_an_image_for_each_shipped_kubernetes() -> None:
    image = read_components("kubernetes-1.34", KIND).node_image
    assert components_of(_own(kubernetes="1.34.9"), KIND).node_image == image
    assert not components_of(_own(kubernetes="1.37.2")).node_image
    with pytest.raises(ToolError, match=r"no image of Kubernetes 1\.37 is pinned; leave out"):
        components_of(_own(kubernetes="1.37.2"), KIND)


def test_every_release_can_be_rehearsed() -> None:
    releases = REPOSITORY.glob("generator/trainyard/releases/*/release.yaml")
    assert sorted(path.parent.name for path in releases) == RELEASES


def test_release_has_all_programs_of_a_control_plane(components: Components) -> None:
    """There is a program for each controller, with its manifests."""
    assert components.programs.keys() == _NEEDED | components.controllers.keys()
    assert components.controllers.keys() == {"jobset", "kueue", "trainer"}
    assert all(
        components.programs[name].manifests for name in (*components.controllers, "argocd", "kwok")
    )
    for controller in components.controllers.values():
        kept = components.programs[controller.name].manifests
        assert all(
            folder.startswith(f"{kept}/")
            for folder in (controller.crds, controller.roles, controller.webhooks)
        )
        assert bool(controller.configuration) + bool(controller.settings) <= 1


@pytest.mark.parametrize("release", RELEASES)
def test_kind_brings_its_own_control_plane(release: str) -> None:
    """On kind the control plane's own programs are not built; all others are the same."""
    ours, on_kind = read_components(release), read_components(release, KIND)
    own = {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"}
    assert on_kind.programs.keys() == ours.programs.keys() - own | {"kind"}
    assert on_kind.controllers == ours.controllers
    assert not ours.node_image


def test_modules_are_pinned() -> None:
    """Each go.mod requires its module in the version of the folder's name, with a checksum."""
    for program in _programs():
        versions = _required(program.folder)
        (module,) = (
            name
            for name in versions
            if f"{program.package}/".startswith(f"{name}/") and name != "k8s.io/kubernetes/api"
        )
        assert versions[module] == program.version
        sums = (program.folder / "go.sum").read_text(encoding="utf-8")
        assert f"{module} v{program.version} h1:" in sums


def test_every_module_is_used() -> None:
    found = {path.name for path in MODULES.iterdir() if not path.name.startswith("kubeflow-")}
    assert found == {program.module for program in _programs()}


def test_versions_are_those_of_the_release(components: Components) -> None:
    """Programs have the versions of the release and of the modules of its schemas."""
    release = _release(components)
    schemas = _required(components.folder)
    for program in components.programs.values():
        component = {"argo-cd": "argocd"}.get(
            program.module.rpartition("-")[0], program.module.rpartition("-")[0]
        )
        if (release.name, component) in _STANDS_IN:
            _is_said(release, component, program)
            continue
        if component in release.versions:
            assert program.version.startswith(f"{release.versions[component]}.")
        for module, version in schemas.items():
            if f"{program.package}/".startswith(f"{module}/"):
                assert version == program.version


def _is_said(release: Release, component: str, program: Program) -> None:
    """The page of releases has the version that is demanded, and the one that runs."""
    page = (REPOSITORY / "docs/explanation/releases.md").read_text(encoding="utf-8")
    assert not program.version.startswith(f"{release.versions[component]}.")
    assert (
        f"`{release.name}` names Argo CD {release.versions[component]}, "
        f"and a [rehearsal] of it runs {program.version}"
    ) in page


def test_controllers_have_the_accounts_that_policies_exempt(components: Components) -> None:
    """Exactly the controllers that write jobs are exempted by the release."""
    release = _release(components)
    accounts = {controller.account for controller in components.controllers.values()}
    exempted = {
        account
        for account in release.controllers
        if not account.startswith("system:serviceaccount:kube-")
    }

    assert exempted <= accounts
    assert {components.controllers[name].account for name in ("kueue", "trainer")} == exempted
    assert all(
        controller.account.split(":")[2] == controller.namespace
        for controller in components.controllers.values()
    )


def test_kueue_queues_the_kinds_of_the_tree() -> None:
    """Where its operator configures it, the rehearsal does as the operator would."""
    operated, own = map(read_components, ("openshift-ai-3.5", "kubernetes-1.36"))
    kinds = ["kubeflow.org/mpijob", "trainer.kubeflow.org/trainjob"]

    settings = queueing(operated, kinds).controllers["kueue"].settings
    assert settings["integrations"] == {"frameworks": kinds}
    assert settings["clientConnection"] == {"qps": 100, "burst": 200}
    assert queueing(own, kinds) is own
