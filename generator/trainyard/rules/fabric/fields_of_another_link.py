"""Text of `fabric/fields-of-another-link`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

RULE = Rule(
    id="fabric/fields-of-another-link",
    severity=Severity.ERROR,
    summary="""
        A fabric has the fields of its link: `addresses` and a range where the tree makes rails and
        networks, `devices` or `networks` where the cluster's owner names what pods get.
    """,
    why="""
        The field has no effect, or pods would request nothing and fall back to TCP: ranges,
        addresses and MTU are of networks that the tree makes, and others make these.
    """,
    fix="""
        Remove the field, or change `link`. `infiniband` and `roce` need `addresses`;
        `exclusive-devices` and `shared-device` need `devices`, e.g. `devices: rdma/ib`; `gke-rdma`
        needs `networks`; `efa` needs none of them.
    """,
)
