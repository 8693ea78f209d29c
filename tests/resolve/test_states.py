"""The state of a team on a cluster: of what is stated, the nearest to the end."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from tests.rules.cases import platform_of

_STATES = ("active", "held", "draining", "retired")
CLUSTER, NLP, VISION = "clusters/prod-east.yaml", "teams/nlp.yaml", "teams/vision.yaml"


@pytest.mark.parametrize(("team", "there", "cluster"), [*product(_STATES, _STATES, _STATES)])
def test_furthest_state_counts(team: str, there: str, cluster: str) -> None:
    """A retired cluster is not a site; a team that is retired there is no tenant of it."""
    states: dict[str, Any] = {} if there == "active" else {"states": {"prod-east": there}}
    platform = platform_of({CLUSTER: {"state": cluster}, NLP: {"state": team, **states}})
    furthest = max(team, there, cluster, key=_STATES.index)

    assert platform.clusters == {"prod-east"}
    assert platform.retired == (("prod-east",) if cluster == "retired" else ())
    (nlp,) = (each for each in platform.teams if each.name == "nlp")
    assert (nlp.state, nlp.state_on("prod-east").word) == (team, furthest)
    here = {tenant.name: tenant.team.state for site in platform.sites for tenant in site.tenants}
    assert here.get("nlp", "retired") == furthest
    assert here.get("vision", "retired") == cluster


def test_names_of_a_cluster_that_was_left_are_not_looked_up() -> None:
    """Its pools may be gone, and the quota and the time for MPIJobs may stay."""
    gone = {
        "quota": {"prod-east": {"dgx-h100": None, "gone": {"nodes": 2}}},
        "mpiJobs": {"prod-east": {"until": "2027-01-31"}},
    }
    (nlp, _) = platform_of({NLP: {**gone, "states": {"prod-east": "retired"}}}).teams

    assert (nlp.quotas, nlp.mpi_jobs) == ((), {})
