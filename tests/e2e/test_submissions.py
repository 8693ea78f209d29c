"""The time of 100 submissions at once, with the policies of the tree and without them.

The API server, Kueue's and Trainer's webhooks and the controllers are real. Rounds with and without
policies alternate, so that other work on the machine makes both slower. It does not change the
seconds that the API server computes, its controllers' requests meanwhile included.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from statistics import median, quantiles
from threading import Barrier

import pytest

from tests.e2e.setup import NEW, OLD
from tests.e2e.stage import Scene, Stage
from trainyard.programs import run
from trainyard_rehearsal.checks.jobs import as_user, member
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.fakes import settle
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.refusal import Refused

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.parametrize("stage", [OLD, NEW], indirect=True, ids=[OLD.name, NEW.name]),
]
TEAMS = ("nlp", "vision")
AT_ONCE = 100
ROUNDS = 3
"""Rounds of each kind that are measured."""
_BINDINGS = ("MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicyBinding")
_TOO_MANY = 99
"""Nodes of a job that the policies refuse."""


@dataclass(frozen=True, slots=True)
class Round:
    """Submissions at once.

    Args:
        times: start and end of each request, in seconds.
        computed: seconds of all cores that the API server computed meanwhile.
    """

    times: Sequence[tuple[float, float]]
    computed: float

    @property
    def whole(self) -> float:
        """Seconds from the first start until the last answer."""
        return max(end for _, end in self.times) - min(start for start, _ in self.times)


def figures(rounds: Sequence[Round]) -> str:
    """Return the figures for ``docs/benchmarks.md``."""
    hundredths = quantiles([end - start for each in rounds for start, end in each.times], n=100)
    return (
        f"p50 {hundredths[49]:.2f} s, p99 {hundredths[98]:.2f} s, "
        f"all {AT_ONCE} after {max(each.whole for each in rounds):.2f} s, "
        f"{median(each.computed for each in rounds):.2f} CPU seconds of the API server"
    )


def test_hundred_submissions_at_once_are_all_accepted(
    stage: Stage, record_property: Callable[[str, object], None]
) -> None:
    scene = stage.deploy({})
    assert not scene.refused
    settle(stage.lab)
    assert all(map(scene.queues_are_known, TEAMS))
    # The first requests open connections and compile expressions.
    rounds: dict[bool, list[Round]] = {True: [], False: []}
    submitted(scene)
    for _ in range(ROUNDS):
        assert refuses_too_many(scene)
        rounds[True].append(submitted(scene))
        with without_policies(scene):
            rounds[False].append(submitted(scene))

    for kept, name in ((True, "with"), (False, "without")):
        record_property(
            "table", f"{stage.setup.name}, {name} the policies: {figures(rounds[kept])}"
        )


def submitted(scene: Scene) -> Round:
    """Submit jobs at once, of which none may be refused."""
    bodies = [scene.body(TEAMS[number % 2], 2) for number in range(AT_ONCE)]
    barrier = Barrier(AT_ONCE)

    def submit(number: int) -> tuple[float, float]:
        body = bodies[number]
        _, groups = member(scene.space(body["metadata"]["namespace"]))
        person = scene.api.acting(f"person-{number}", groups)
        barrier.wait()
        start = time.monotonic()
        person.create(body)
        return start, time.monotonic()

    before = computed(scene.lab)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        times = list(pool.map(submit, range(AT_ONCE)))
    found = Round(times, computed(scene.lab) - before)
    scene.stage.delete_jobs()
    return found


def computed(lab: Lab) -> float:
    """Return how many seconds of all cores the API server has computed since its start."""
    kubectl = str(lab.built.programs["kubectl"])
    raw = ["--kubeconfig", str(lab.kubeconfig), "get", "--raw", "/metrics"]
    metrics = run([kubectl, *raw], timeout=60).stdout
    (found,) = re.findall(r"^process_cpu_seconds_total (\S+)$", metrics, re.MULTILINE)
    return float(found)


@contextmanager
def without_policies(scene: Scene) -> Iterator[None]:
    """Take the policies' bindings away for some time."""
    bindings = [each.body for each in scene.manifests if each.body["kind"] in _BINDINGS]
    for body in bindings:
        scene.api.delete(body)
    try:
        assert scene.stage.until(lambda: not refuses_too_many(scene))
        yield
    finally:
        for body in bindings:
            scene.api.apply(body)
        assert scene.stage.until(partial(refuses_too_many, scene))


def refuses_too_many(scene: Scene) -> bool:
    """Return whether the policies refuse a job with more nodes than its team has."""
    return refused(as_user(scene.api, scene.space("team-nlp")), scene.body("nlp", _TOO_MANY))


def refused(user: Api, body: Body) -> bool:
    """Return whether a job is refused, which is not created."""
    try:
        user.create(body, dry_run=True)
    except Refused:
        return True
    return False
