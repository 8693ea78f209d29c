"""Whatever a job or a snapshot holds, there is a verdict or a named error."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.jobs.fit.setting import ground, sample, verdict
from tests.jobs.fit.test_usage import workload
from trainyard_jobs.fit.usage import snapshot_of
from trainyard_jobs.fit.verdict import Standing

TEXTS = st.sampled_from(["", "x", "0", "-1", "1e9999", "1E", "999999999999Ei", "\x1b[2J", "Ü", "٣"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)


def places(body: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value."""
    inner = body.items() if isinstance(body, dict) else enumerate(body)
    found = [path] if path else []
    for key, value in inner if isinstance(body, dict | list) else ():
        found += places(value, (*path, key)) if isinstance(value, dict | list) else [(*path, key)]
    return found


@st.composite
def spoilt(draw: st.DrawFn, body: dict[str, Any]) -> dict[str, Any]:
    """Return an object of which one or two values are anything."""
    result = copy.deepcopy(body)
    for _ in range(draw(st.integers(1, 2))):
        *above, last = draw(st.sampled_from(places(result)))
        inside: Any = result
        for step in above:
            inside = inside[step]
        inside[last] = draw(VALUES)
    return result


AMOUNTS = {"requests": {"cpu": "2"}, "limits": {"cpu": "2"}}
PATCH = {"targetJobs": [{"name": "node"}], "spec": {"volumes": [{"name": "x", "emptyDir": {}}]}}
JOB = sample({}, resourcesPerNode=AMOUNTS, env=[{"name": "A", "value": "b"}])
JOB["spec"]["podTemplateOverrides"] = [PATCH]
ON = ground({})


@given(spoilt(JOB))
def test_any_job_has_a_verdict(job: dict[str, Any]) -> None:
    assert verdict(ON, job).standing in {Standing.ADMITTED, Standing.NEVER}


@given(spoilt(workload()))
def test_any_snapshot_is_read_or_refused(body: dict[str, Any]) -> None:
    try:
        snapshot = snapshot_of([body])
    except (LookupError, TypeError, ValueError):
        return
    assert verdict(ground({}, snapshot=snapshot), sample({})).podsets
