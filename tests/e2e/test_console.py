"""Argo CD refuses what OpenShift's console reads: beside it are certificates of the cluster."""

from __future__ import annotations

import pytest

from tests.e2e.git import delivered
from tests.e2e.setup import CLUSTER, GITOPS
from tests.e2e.stage import Stage
from trainyard.model.monitoring import CONSOLE_NAMESPACE
from trainyard.yaml_io.emitter import emit
from trainyard.yaml_io.reader import read

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.parametrize("stage", [GITOPS], indirect=True, ids=[GITOPS.name], scope="session"),
]

_PLATFORM = f"{CLUSTER}-platform"
_REFUSED = f"namespace {CONSOLE_NAMESPACE} is not permitted in project '{_PLATFORM}'"


def test_platform_may_not_write_where_the_console_looks(stage: Stage) -> None:
    """Somebody merges a ConfigMap with the name of kubelet's authorities into `platform/`."""
    metadata = {"name": "kubelet-serving-ca", "namespace": CONSOLE_NAMESPACE}
    authority = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"ca": "x"}}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": CONSOLE_NAMESPACE}}
    stage.api.apply(namespace)
    with delivered(stage) as git:
        folder = git.site.folder("platform")
        listed = read("kustomization", git.files[f"{folder}/kustomization.yaml"])[0].value
        merged = {**listed, "resources": [*listed["resources"], "authority.yaml"]}
        git.publish(
            {
                **git.files,
                f"{folder}/kustomization.yaml": emit(merged),
                f"{folder}/authority.yaml": emit(authority),
            }
        )

        def is_refused() -> bool:
            git.delivery.refresh((_PLATFORM,), "normal")
            return _REFUSED in str(git.delivery.application(_PLATFORM).get("status"))

        assert git.delivery.wait(is_refused), git.delivery.application(_PLATFORM).get("status")
        assert stage.is_gone("v1", "ConfigMap", CONSOLE_NAMESPACE, "kubelet-serving-ca")
