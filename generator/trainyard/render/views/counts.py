"""How many objects a team's namespace may hold."""

from __future__ import annotations

from typing import Final

MOST_JOBS: Final = 100
"""TrainJobs that a namespace may hold, finished ones included."""

_CONFIG_MAPS: Final = 300
_CLAIMS: Final = 50
MOST_OBJECTS: Final = (
    ("configmaps", "count/configmaps", _CONFIG_MAPS),
    ("persistentvolumeclaims", "persistentvolumeclaims", _CLAIMS),
)
"""Resources, their names in a quota, and how many let members of a namespace make no more."""

_FILES_OF_JOBS: Final = _CONFIG_MAPS + 2 * MOST_JOBS
_RACE: Final = 100
"""Objects that members make at a time before the policy sees them counted."""

_DELIVERED: Final = 50
"""Claims that the delivery may add to a namespace that is full of members' claims."""

COUNTS: Final = {
    "count/configmaps": str(_FILES_OF_JOBS + _RACE),
    "count/trainjobs.trainer.kubeflow.org": str(MOST_JOBS),
    "persistentvolumeclaims": str(_CLAIMS + _RACE + _DELIVERED),
    "services.loadbalancers": "0",
    "services.nodeports": "0",
}
"""Trainer keeps up to two ConfigMaps beside each job."""

MPI_COUNTS: Final = {
    "count/configmaps": str(_FILES_OF_JOBS + MOST_JOBS + _RACE),
    "count/mpijobs.kubeflow.org": str(MOST_JOBS),
}
"""The MPI operator keeps one ConfigMap beside each job."""
