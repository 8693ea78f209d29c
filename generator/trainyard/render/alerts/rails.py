"""Alerts of rails: the ports that jobs use, by the profiles' devices and rates.

Node exporter reads a port's counters from the host. They hold for RoCE too, except for the errors
of symbols, which only InfiniBand has.
"""

from __future__ import annotations

from trainyard.model.link import INFINIBAND
from trainyard.render.alerts.alert import RESTART, TAKE_OUT, Alert, outside_maintenance

_NODES = ("kube-state-metrics", "node-exporter")
_PORT = "port {{ $labels.device }} of {{ $labels.node }} (pool {{ $labels.pool }})"
_LOOK = (
    "`{node_shell} chroot /host cat /sys/class/infiniband/DEVICE/ports/1/phys_state`",
    "The counters of the switch's port.",
)
_FIX = (
    TAKE_OUT,
    (
        "Clean or replace the cable or transceiver. The table of rails above has the port's PCI "
        "address and its GPU."
    ),
)


def of_rail(expr: str) -> str:
    """Return an expression by instance and device, of rails only, with node and pool."""
    return (
        f"({expr}) * on (instance) group_left (node, pool) trainyard:instance:pool "
        "and on (instance, device) trainyard:rail:bytes_per_second"
    )


_RAIL = "trainyard:rail:bytes_per_second"
_SHOWN = "on (instance, device) node_infiniband_state_id"
_NAMED = f"count by (pool, device) ({_RAIL} and {_SHOWN})"
"""Devices of each pool's profile that some node of the pool has."""

NO_LINK = (
    f"{of_rail('node_infiniband_state_id != 4')} "
    f"or {_RAIL} unless {_SHOWN} and on (pool, device) {_NAMED}"
)
"""Rails without a link. Of a card that the kernel does not have, the exporter shows nothing.

If no node of the pool shows a device, its name is another one, or the exporter's metrics are
missing: those are other alerts.
"""


RATE = (
    "node_infiniband_rate_bytes_per_second * on (instance) group_left (node, pool) "
    "trainyard:instance:pool"
)
"""Rate of each port of a pool's nodes, with node and pool."""
PROMISED_RATE = "on (instance, device) group_left () trainyard:rail:bytes_per_second"
"""The rate of its hardware profile, as the right side of a comparison or division."""

ALERTS = (
    Alert(
        name="TrainyardRailDown",
        sources=_NODES,
        expr=outside_maintenance(f"({NO_LINK})"),
        hold="5m",
        severity="critical",
        summary=f"{_PORT} is not active",
        meaning="A port that jobs use has no link, or node exporter runs on the node and does not "
        "show the port. A job on the node hangs or fails, and one that starts there does not find "
        "its peers.",
        look=("`{node_shell} chroot /host ls /sys/class/infiniband`: the devices.", *_LOOK),
        fix=(
            *_FIX,
            (
                f"If the device is missing, restart the node: {RESTART}. If it stays away, replace "
                "its card."
            ),
            "If node exporter shows no port of the node, see prometheus/node_exporter#3265.",
        ),
    ),
    Alert(
        name="TrainyardRailNamesDiffer",
        sources=_NODES,
        expr=f"count by (pool) (count by (pool, device) ({_RAIL}) "
        f"unless on (pool, device) {_NAMED} and on () node_infiniband_state_id)",
        hold="5m",
        severity="warning",
        summary="No node of pool {{ $labels.pool }} has {{ $value }} of the RDMA devices that its "
        "hardware profile names",
        meaning="The kernel of these nodes gives the ports other names than the hardware profile "
        "states. No alert or panel sees these ports, and jobs don't mind: they find theirs by PCI "
        "address. In a pool of one node the card can be gone instead.",
        look=(
            "`{cli} get nodes --selector SELECTOR`: the table above has that of the pool.",
            "`{node_shell} chroot /host ls -l /sys/class/infiniband`: devices by PCI address.",
            "The table of rails above: the device that the profile has for each PCI address.",
        ),
        fix=("Correct `device` of each port in the hardware profile of the pool.",),
    ),
    Alert(
        name="TrainyardRailSlow",
        sources=_NODES,
        expr=outside_maintenance(f"{RATE} < {PROMISED_RATE}"),
        hold="15m",
        severity="warning",
        summary=f"{_PORT} is slower than its rate",
        meaning="The link came up with fewer lanes or a lower speed than the hardware profile "
        "states. The whole job waits for this port.",
        look=_LOOK,
        fix=_FIX,
    ),
    Alert(
        name="TrainyardRailFlaps",
        sources=_NODES,
        expr=outside_maintenance(of_rail("increase(node_infiniband_link_downed_total[1h]) > 0")),
        severity="warning",
        summary=f"{_PORT} lost its link within 1 h",
        meaning="The link went down and came back. A job that used it in that moment failed or "
        "waited.",
        look=_LOOK,
        fix=_FIX,
    ),
    Alert(
        name="TrainyardRailErrors",
        sources=_NODES,
        expr=outside_maintenance(of_rail("increase(node_infiniband_symbol_error_total[1h]) > 10")),
        severity="warning",
        summary=f"{_PORT} has symbol errors",
        meaning="More than 10 symbols within an hour were received with errors that the link could "
        "not correct. Packets are sent again, and the job gets slower.",
        look=_LOOK,
        fix=_FIX,
        link=INFINIBAND.name,
    ),
)
