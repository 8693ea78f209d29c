"""Alerts of GPUs: what the driver reports of them."""

from __future__ import annotations

from trainyard.render.alerts.alert import (
    BRING_BACK,
    RESTART,
    TAKE_OUT,
    Alert,
    outside_maintenance,
    with_node,
)
from trainyard.render.alerts.record import Record

_DCGM = ("dcgm-exporter",)
_GPU = "GPU {{ $labels.gpu }} of {{ $labels.node }}"
_BY = "by (node, UUID, gpu)"
_LAST = "DCGM_FI_DEV_XID_ERRORS"
_AGAIN = "If it comes back, have the GPU replaced."
_REBOOT = "Restart the node."

_XIDS = {
    48: f"two bits of the memory were wrong. {_REBOOT} {_AGAIN}",
    64: f"memory failed, and no spare row took its place. {_REBOOT} If "
    "[TrainyardGpuRowRemapFailed](#trainyardgpurowremapfailed) fires, have it replaced.",
    74: f"NVLink failed. {_REBOOT} {_AGAIN}",
    79: f"the GPU is off the bus. Switch the node off and on. {_AGAIN}",
    95: f"memory failed, and each program on the GPU may have read it. {_REBOOT} {_AGAIN}",
    119: f"the GPU's firmware did not answer the driver. {_REBOOT} {_AGAIN}",
    120: f"the GPU's firmware failed. {_REBOOT} {_AGAIN}",
}
"""XID -> what it means, and what to do at once, as repositories that quote NVIDIA's catalog say.

Those that a program causes are left out. So are 63 and 94: there the driver has contained the
error, and a counter of the rows that it replaced shows it.
"""

_TO_RESTART = (
    f"To restart the node, when no job is left on it: {RESTART}. This resets its GPUs. A reset of "
    "one GPU fails under the GPU operator, whose exporter and plugin hold it."
)
# The commands of NVIDIA/gpu-operator:hack/must-gather.sh@1fc7c1d.
_REPORT = (
    (
        "Before a GPU is replaced, NVIDIA's support asks for a report of the node, made before it "
        "restarts. `{cli} get pods --all-namespaces --field-selector spec.nodeName=NODE` shows the "
        "pod of the driver."
    ),
    (
        "`{cli} -n NAMESPACE exec POD -- sh -c 'cd /tmp && nvidia-bug-report.sh'`, then "
        "`{cli} -n NAMESPACE exec POD -- cat /tmp/nvidia-bug-report.log.gz > report.log.gz`. If "
        "the driver is on the node itself: `{node_shell} chroot /host nvidia-bug-report.sh`."
    ),
)

_KEPT = " or ".join(f"{_LAST} == {number}" for number in (0, *_XIDS))

XID = Record("trainyard:gpu:xid", f"max {_BY} ({with_node(f'({_KEPT})')})")
"""The last XID without harmless ones, which follow others; 0 again after a reset of the GPU."""


def _remapped(field: str) -> tuple[str, ...]:
    """Return the steps that show a field of the remapped rows, in a pod that sees the GPUs."""
    query = f"nvidia-smi --query-remapped-rows=gpu_uuid,remapped_rows.{field} --format=csv"
    return (
        "`{cli} get pods --all-namespaces --field-selector spec.nodeName=NODE`: DCGM exporter's.",
        f"`{{cli}} -n NAMESPACE exec POD -- {query}`",
    )


ALERTS = (
    Alert(
        name="TrainyardGpuXid",
        sources=_DCGM,
        expr=outside_maintenance(f"last_over_time({XID.name}[1d]) > 0"),
        severity="critical",
        summary=f"{_GPU} reports XID {{{{ $value }}}}",
        meaning="The driver reported an error of the GPU, its memory or its NVLink, by a number "
        "that NVIDIA calls XID. Jobs on the node fail or hang. The alert ends when the node is in "
        "maintenance, when the exporter shows 0 (after a reset of the GPU, or a restart of the "
        "node or of the exporter), or a day after the exporter last showed the XID.",
        look=(
            "`{node_shell} chroot /host dmesg | grep -i xid`: the first one is often the cause.",
            "NVIDIA's Xid catalog has the meaning of each.",
        ),
        fix=(
            TAKE_OUT,
            *_REPORT,
            *(f"XID {number}: {text}" for number, text in _XIDS.items()),
            _TO_RESTART,
            BRING_BACK,
        ),
    ),
    Alert(
        name="TrainyardGpuRowRemapFailed",
        sources=_DCGM,
        expr=outside_maintenance(f"max {_BY} ({with_node('DCGM_FI_DEV_ROW_REMAP_FAILURE')}) > 0"),
        severity="critical",
        summary=f"{_GPU} has memory that can't be remapped",
        meaning="The GPU has no spare memory left for a row that failed. It has to be replaced.",
        look=_remapped("failure"),
        fix=(TAKE_OUT, *_REPORT, "Have the GPU replaced.", BRING_BACK),
    ),
    Alert(
        name="TrainyardGpuUncorrectableErrors",
        sources=_DCGM,
        expr=outside_maintenance(
            f"sum {_BY} ("
            + with_node("increase(DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS[1d])")
            + ") > 0"
        ),
        severity="warning",
        summary=f"Memory of {_GPU} had an uncorrectable error",
        meaning="A row of the memory failed and was replaced by a spare one. The job that had the "
        "error is lost. The spare row is used after a reset, and until then jobs may run. The "
        "kernel's log has XID 63, and 94 if only one program had read the row. The alert ends a "
        "day after the error.",
        look=_remapped("pending"),
        fix=(
            "Restart the node when it is next empty: cordon it, wait for its last job to end.",
            _TO_RESTART,
            "Then uncordon it.",
        ),
    ),
)
