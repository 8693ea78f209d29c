"""Text of `change/rails-renamed`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="change/rails-renamed",
    severity=Severity.ERROR,
    summary="The rails of a pool keep their resource names as long as jobs may run on it.",
    why="""
        The SR-IOV operator advertises the virtual functions of running pods under the new name, as
        free: kubelet counts each resource name separately
        (k8s.io/kubernetes:pkg/kubelet/cm/devicemanager/manager.go). A new pod is given a function
        that another pod holds, and stays in ContainerCreating. Pending jobs request a resource that
        their queue no longer covers, and are never admitted.
    """,
    fix="""
        Restore `resources`. If two fabrics must share names, set it on the new fabric before a team
        has quota there. To rename rails in use, also by the prefix of another release, first merge
        only `state: draining` for the teams of the pool.
    """,
)
