"""*Add a release*, followed in a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recipes.checkout import FRESH, Checkout
from tests.recipes.modules import need_modules

pytestmark = pytest.mark.thorough

RELEASES = "generator/trainyard/releases"
NEW = f"{RELEASES}/kubernetes-1.37"
ROW = "| `kubernetes-1.36` | Kubernetes 1.36"
TESTS = (
    *FRESH,
    "tests/test_golden.py",
    "tests/releases",
    "tests/schema/test_manifests.py",
    "tests/rehearsal/control_plane/test_components.py",
    "tests/test_docs.py::test_every_release_is_explained",
)


def test_release_is_added_as_its_recipe_says(tmp_path: Path) -> None:
    """A new repository may have it at once, and gets a tree that is valid.

    It pins the modules of its neighbour: tests download nothing.
    """
    need_modules()
    copy = Checkout(tmp_path, "Add a release")
    _made_in_a_repository(copy)
    copy.leave_out("cd generator/trainyard/releases")
    copy.leave_out("mkdir kubernetes-1.37")
    (copy.folder / NEW).mkdir()
    copy.type("cp kubernetes-1.36/go.mod kubernetes-1.37", folder=RELEASES)
    copy.replace(f"{NEW}/go.mod", "kubernetes-1.36", "kubernetes-1.37")
    copy.write(f"{NEW}/release.yaml", "tested: schemas\nextends: kubernetes-1.36\n")
    copy.leave_out(
        "grep -rn features generator/trainyard/model generator/trainyard/render templates"
    )
    assert "kubernetes-1.37/schemas/kueue.x-k8s.io/clusterqueue" in copy.type("make schemas")
    compared = copy.type(
        "diff -rq kubernetes-1.36/schemas kubernetes-1.37/schemas", folder=RELEASES
    )
    assert compared == ""
    copy.type("trainyard init --release kubernetes-1.37", folder="build")
    tree = copy.type(
        "trainyard add team nlp --nodes 2 && trainyard generate && trainyard verify",
        folder="build",
    )
    assert "0 skipped" in tree
    copy.write(f"{NEW}/components.toml", 'extends = "kubernetes-1.36"\n')
    row = f"{ROW.replace('1.36', '1.37')} |"
    copy.replace("docs/explanation/releases.md", ROW, f"{row}\n{ROW}")
    copy.type("make golden docs test", TESTS)
    copy.done(
        most=4,
        but=[
            "cd ../../trainyard_rehearsal/control_plane/modules/kueue-0.18.3",
            "go mod edit -tool=sigs.k8s.io/kueue/cmd/kueue",
            "go mod tidy",
            "trainyard rehearse --build",
            "trainyard rehearse",
            "make e2e RELEASES=all",
        ],
    )


def _made_in_a_repository(copy: Checkout) -> None:
    """Make the release in an empty folder first, which shows what differs."""
    (copy.folder / "build" / "first").mkdir(parents=True)
    copy.type("trainyard init --release kubernetes-1.36", folder="build/first")
    copy.type(
        "trainyard release new next --from kubernetes-1.36 --set kubernetes=1.36.3",
        folder="build/first",
    )
    compared = copy.type("trainyard release diff kubernetes-1.36 next", folder="build/first")
    assert "kubernetes 1.36 -> 1.36.3" in compared
