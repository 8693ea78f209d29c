"""What happens when nodes have another GPU than their profile."""

from __future__ import annotations

OTHER_NODES = (
    "Jobs run slower or run out of GPU memory, because quota and runtimes are computed for another "
    "GPU. Where no node matches, they wait permanently: `no topology domains at level: <label>` "
    "(seen with Kueue 0.19.2)."
)
