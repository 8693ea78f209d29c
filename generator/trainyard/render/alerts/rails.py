"""Alerts of rails: the ports that jobs use, by the profiles' devices and rates.

Node exporter reads a port's counters from the host. They hold for RoCE too, except for the errors
of symbols, which only InfiniBand has.
"""

from __future__ import annotations

from trainyard.model.link import INFINIBAND
from trainyard.render.alerts.alert import TAKE_OUT, Alert, outside_maintenance

_NODES = ("kube-state-metrics", "node-exporter")
_PORT = "port {{ $labels.device }} of {{ $labels.node }} (pool {{ $labels.pool }})"
_LOOK = (
    "`{node_shell} chroot /host cat /sys/class/infiniband/DEVICE/ports/1/phys_state`",
    "The counters of the switch's port.",
)
_FIX = (
    TAKE_OUT,
    "Clean or replace the cable or transceiver.",
)


def of_rail(expr: str) -> str:
    """Return an expression by instance and device, of rails only, with node and pool."""
    return (
        f"({expr}) * on (instance) group_left (node, pool) trainyard:instance:pool "
        "and on (instance, device) trainyard:rail:bytes_per_second"
    )


NO_LINK = (
    f"{of_rail('node_infiniband_state_id != 4')} "
    "or trainyard:rail:bytes_per_second unless on (instance, device) node_infiniband_state_id "
    "and on () node_infiniband_state_id"
)
"""Rails without a link. Of a card that the kernel does not have, the exporter shows nothing.

If no node shows any port, the exporter's metrics are missing, which is another alert.
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
            "If the device is missing, restart the node. If it stays away, replace its card.",
            "If the device has another name, correct the hardware profile.",
            "If node exporter shows no port of the node, see prometheus/node_exporter#3265.",
        ),
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
