"""What a release pins, and what differs between two."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import Ended
from tests.cli.fixtures import here, plain, trainyard  # noqa: F401
from trainyard.change.releases import compare
from trainyard.profiles.read import releases, shipped_only
from trainyard.workflows.known_releases import release_of

Call = Callable[..., Ended]
RELEASES = sorted(releases())


@pytest.mark.parametrize("name", RELEASES)
def test_shipped_release_is_shown_without_a_repository(
    here: Path,  # noqa: F811
    trainyard: Call,  # noqa: F811
    name: str,
) -> None:
    assert not list(here.iterdir())
    ended = trainyard("release", "show", name)
    assert ended.code == 0, ended
    for component, version in releases()[name].value["versions"].items():
        assert f"  {component} {version}\n" in ended.out
    assert "known to fail" not in ended.out


@pytest.mark.usefixtures("here")
def test_difference_names_what_upgrades_need(trainyard: Call) -> None:  # noqa: F811
    """Versions, features, fields; and that neither Kueue nor Trainer can be upgraded alone."""
    ended = trainyard("release", "diff", "kubernetes-1.34", "kubernetes-1.36")
    assert ended.code == 0, ended
    for line in (
        "  kueue 0.16 -> 0.19",
        "  + runtime-patches",
        "  flavors of a queue 16 -> 64",
        "  + ComputeDomain in resource.nvidia.com/v1beta1",
        "  - spec.podTemplateOverrides",
        "  + spec.runtimePatches",
        "  - spec.mlPolicy.torch.numProcPerNode",
        "known to fail: kueue 0.19 before the others are upgraded:",
        "known to fail: trainer 2.3 before the others are upgraded:",
    ):
        assert line in ended.out.splitlines(), line
    assert "jobset 0.12 before" not in ended.out


@pytest.mark.parametrize("one", RELEASES)
@pytest.mark.parametrize("other", RELEASES)
def test_difference_turned_around(one: str, other: str) -> None:
    """What one way gains, the other loses; a release does not differ from itself."""
    profiles = shipped_only()
    first, second = (release_of(profiles, each) for each in (one, other))
    there, back = compare(first, second), compare(second, first)
    assert [kind.gained for kind in there.kinds] == [kind.lost for kind in back.kinds]
    assert [kind.changed for kind in there.kinds] == [kind.changed for kind in back.kinds]
    assert there.new_kinds == back.lost_kinds
    assert bool(there.versions) is (first.versions != second.versions)


@pytest.mark.usefixtures("here")
def test_same_release_does_not_differ(trainyard: Call) -> None:  # noqa: F811
    ended = trainyard("release", "diff", "kubernetes-1.36", "kubernetes-1.36")
    assert ended.out == "kubernetes-1.36 and kubernetes-1.36 do not differ\n"
    ended = trainyard("release", "diff", "kubernetes-1.36", "kubernetes-1.36", "--format", "json")
    assert json.loads(ended.out)["result"]["kinds"] == {"gained": [], "lost": [], "changed": []}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", ["kubernetes-1.9", "openshift-ai-2.25", "../x"])
def test_unknown_release_is_wrong_use(trainyard: Call, name: str) -> None:  # noqa: F811
    """A version that no release is for is told with its reason."""
    ended = trainyard("release", "show", name)
    assert ended.code == 2
    assert f"there is no release `{name}`" in ended.err
    assert ("no Trainer" in ended.err) is (name == "openshift-ai-2.25")
