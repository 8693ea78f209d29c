"""Volumes with data of a team, and claims that wait for one."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.objects import identity_of
from tests.e2e.setup import bad
from tests.e2e.stage import Stage
from trainyard_rehearsal.control_plane.api import Body

VOLUME = "e2e-volume"
"""A volume of these tests: those of the pages may be in the tree, whose claims would lose them."""
PROJECT = "e2e-project"
_PAGES = Path(__file__).parents[2] / "docs" / "how-to"
_GONE = "00000000-0000-4000-8000-000000000000"


def claimable_adopted_class(stage: Stage) -> None:
    """A small claim of a project gets the volume that nobody reserved."""
    scene = stage.deploy(bad("isolation/claimable-adopted-class"))
    (adopted,) = (each for each in scene.site.cluster.storage if each.name == "models")
    lucky = claim(PROJECT, "lucky", adopted.storage_class)
    with there(stage, namespace(PROJECT), volume(adopted.storage_class), lucky):
        assert stage.until(lambda: bound_to(stage) == (PROJECT, "lucky"))


def namespace(name: str) -> Body:
    """Return a namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def volume(storage_class: str, **spec: object) -> Body:
    """Return a volume of 20Ti."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": VOLUME},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "capacity": {"storage": "20Ti"},
            "hostPath": {"path": "/fake"},
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": storage_class,
            **spec,
        },
    }


def storage_class(name: str) -> Body:
    """Return a storage class whose claims may grow."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": "example.com/none",
        "allowVolumeExpansion": True,
    }


def released(storage_class: str) -> Body:
    """Return a volume whose claim is deleted."""
    old = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": "x", "namespace": "gone"}
    return volume(storage_class, claimRef={**old, "uid": _GONE})


def claim(place: str, name: str, storage_class: str | None, **spec: object) -> Body:
    """Return a claim of 1Mi."""
    named = {} if storage_class is None else {"storageClassName": storage_class}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": place},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "resources": {"requests": {"storage": "1Mi"}},
            **named,
            **spec,
        },
    }


@contextmanager
def there(stage: Stage, *bodies: Body) -> Iterator[None]:
    """Create objects as an administrator, and delete them in the end."""
    try:
        for body in bodies:
            stage.api.apply(body)
        yield
    finally:
        for body in reversed(bodies):
            stage.delete(*identity_of(body))
        assert stage.until(lambda: all(stage.is_gone(*identity_of(body)) for body in bodies))


def bound_to(stage: Stage) -> tuple[str, str]:
    """Return namespace and name of the claim that the volume is bound to; empty if to none."""
    body = stage.api.get("v1", "PersistentVolume", VOLUME)
    if body["status"].get("phase") != "Bound":
        return ("", "")
    reference = body["spec"]["claimRef"]
    return (reference["namespace"], reference["name"])


def patches(page: str) -> list[list[str]]:
    """Return the commands of a how-to that patch volumes."""
    text = (_PAGES / page).read_text(encoding="utf-8")
    pattern = r"^\$ (kubectl patch persistentvolume .*?)\n(?=\$|```)"
    found = re.findall(pattern, text, re.MULTILINE | re.DOTALL)
    return [shlex.split(each.replace("\\\n", " ")) for each in found]


def run(stage: Stage, command: list[str]) -> None:
    """Run a command of kubectl as the administrator."""
    kubectl = stage.lab.built.programs["kubectl"]
    environment = {"KUBECONFIG": str(stage.lab.kubeconfig), "HOME": "/nonexistent"}
    subprocess.run([kubectl, *command[1:]], env=environment, check=True, capture_output=True)
