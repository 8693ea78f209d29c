"""Find what a job fetches from the internet, which most jobs do not reach."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trainyard.model.cluster import Cluster
from trainyard_jobs.convert.shell import script_of

_FETCHES = re.compile(
    r"\b(pip3? install|conda install|from_pretrained|huggingface-cli|hf download|git clone|wget|"
    r"curl|load_dataset|wandb)\b"
)
MEANING = (
    "jobs have no internet, so it waits until a time-out: put what it fetches into the image or a "
    "claim, or name a mirror that the egress rules permit"
)


def fetch_in(words: Sequence[str], cluster: Cluster) -> str:
    """Return what a job fetches in vain; empty for nothing.

    Args:
        words: command and arguments.
        cluster: its egress rules say what jobs reach.
    """
    at = script_of(list(words))
    found = _FETCHES.search(words[at] if at else " ".join(words))
    return found[0] if found and not _reaches_internet(cluster) else ""


def _reaches_internet(cluster: Cluster) -> bool:
    """Return whether an egress rule permits jobs any address."""
    for rule in cluster.egress:
        if rule.source in {"all", "jobs"} and "0.0.0.0/0" in rule.cidrs:
            return True
    return False
