"""Setups of control planes, and the changes of a rule's bad case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.rules.cases import HERE, read_case

CLUSTER = "prod-east"
FILE = f"clusters/{CLUSTER}.yaml"


@dataclass(frozen=True, slots=True, eq=False)
class Setup:
    """Setup of a control plane: the release, and the settings that Kueue reads when it starts.

    Compared by identity: pytest keeps a fixture for the tests after this one only where its
    parameter has a hash.

    Args:
        settings: of the cluster, over those of the cases' base.
        argocd: whether Argo CD runs too.
        kueue: release whose Kueue runs, where it is another one.
        mpi_operator: whether the MPI operator runs too.
        kinds: whether the kinds of the MPI operator and of the training operator are there, whose
            operators do not run.
        audit: release whose audit policy the API server has, where its own has none.
    """

    name: str
    settings: Mapping[str, Any]
    argocd: bool = False
    kueue: str = ""
    mpi_operator: bool = False
    kinds: bool = False
    audit: str = ""

    def with_settings(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Return changes of the cases' base, with this setup's settings of the cluster."""
        return {**changes, FILE: {**self.settings, **changes.get(FILE, {})}}


NEW = Setup("kueue-0.19.2", {"release": "kubernetes-1.36", "sharing": "classical"})
FAIR = Setup("kueue-0.19.2-fair", {"release": "kubernetes-1.36"})
BLIND = Setup(
    "kueue-0.19.2-blind", {"release": "kubernetes-1.36", "frameworks": ["BatchJob", "JobSet"]}
)
GITOPS = Setup("argocd-3.5.7", {"release": "kubernetes-1.36", "sharing": "classical"}, argocd=True)
OLD = Setup("kueue-0.16.2", {"release": "openshift-ai-3.5", "sharing": "classical"})

_QUEUED = ["BatchJob", "JobSet", "MPIJob", "TrainJob"]
NEW_MPI = Setup("mpi-operator", {**NEW.settings, "frameworks": _QUEUED}, mpi_operator=True)
OLD_MPI = Setup("mpi-operator", {**OLD.settings, "frameworks": _QUEUED}, mpi_operator=True)
"""One name, so that one worker runs both in turn: the MPI operator listens on a fixed port."""

_ALL = [*_QUEUED, "PyTorchJob"]
NEW_KINDS = Setup("kinds-of-a-site", {**NEW.settings, "frameworks": _ALL}, kinds=True)
OLD_KINDS = Setup("old-kinds-of-a-site", {**OLD.settings, "frameworks": _ALL}, kinds=True)

OLD_AUDITED = Setup("kubernetes-1.34-audited", OLD.settings, audit="kubernetes-1.36")
PAIR = Setup("kueue-0.19.2-trainer-2.1.0", OLD.settings, kueue="kubernetes-1.36")


_STACKS = {
    "kubernetes-1.36": {"stack": "prometheus-operator", "labels": {"release": "prometheus"}},
    "openshift-ai-3.5": {"stack": "openshift"},
}

REALITY = Setup(
    "reality-0.19.2",
    {**NEW.settings, "monitoring": _STACKS["kubernetes-1.36"]},
    argocd=True,
)
REALITY_OLD = Setup("reality-0.16.2", OLD.settings, argocd=True)
"""Clusters that each change leaves as it is."""


SPARE = "spare"
"""The node that `monitored` has in maintenance."""


def monitored(setup: Setup) -> dict[str, Any]:
    """Return the change of a setup's cluster that gives it the Prometheus of its release.

    A node is in maintenance, so that each fact of the rules has a series.
    """
    stack = _STACKS[setup.settings["release"]]
    out = {"nodes": [SPARE], "until": "2099-12-31", "reason": "a test"}
    cluster = {
        "monitoring": stack,
        "pools": {"dgx-h100": {"maintenance": [out]}},
        "external": {"Metrics/apiserver": "me"},
    }
    return {FILE: cluster}


def bad(rule: str, **more: Any) -> dict[str, Any]:
    """Return the changes of a rule's bad case, with further changes merged over them."""
    return _case(f"{rule}/bad.yaml", more)


def good(rule: str, **more: Any) -> dict[str, Any]:
    """Return the changes of a rule's good case, with further changes merged over them."""
    return _case(f"{rule}/good.yaml", more)


def _case(file: str, more: dict[str, Any]) -> dict[str, Any]:
    changes, _ = read_case(HERE / file)
    result: dict[str, Any] = over(changes, more)
    return result


def over(changes: Any, more: Any) -> Any:
    """Return changes with further ones merged over them; a removal (None) stays a removal."""
    if not isinstance(changes, dict) or not isinstance(more, dict):
        return more
    return {**changes, **{key: over(changes.get(key), value) for key, value in more.items()}}
