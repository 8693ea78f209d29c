"""The verdict about a TrainJob: what each link of the way to its nodes says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from trainyard.diagnostics import Pointer
from trainyard_jobs.fit.pods import Pods


class Standing(StrEnum):
    """Whether a job starts, and the answer of one link."""

    ADMITTED = "admitted"
    IN_PART = "admitted as far as judged"
    WAITS = "waits"
    NEVER = "never"
    UNJUDGED = "not judged"


class Link(StrEnum):
    """A link of the way from a TrainJob to its nodes, in this order."""

    NAMESPACE = "namespace"
    FORM = "form"
    RUNTIME = "runtime"
    POLICIES = "admission policies"
    OBJECT_QUOTA = "ResourceQuota"
    QUEUE = "queue"
    COVERAGE = "coverage"
    LIMIT_RANGE = "LimitRange"
    FLAVOR = "flavor"
    QUOTA = "quota"
    NODES = "nodes"
    TOPOLOGY = "topology"
    POD_SECURITY = "Pod Security"
    VOLUMES = "volumes"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class Check:
    """The answer of one link.

    Args:
        message: what was compared, with its values.
        at: place in a profile that decides it.
        limit: what the platform permits.
        usage: what is in use now, by a snapshot.
        available: what is left of the limit, by a snapshot.
        repair: what the job or the platform can change.
    """

    link: Link
    standing: Standing
    message: str
    at: Pointer | None = None
    limit: str = ""
    usage: str = ""
    available: str = ""
    repair: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a job.

    Args:
        podsets: its pods by role; none when the job has no usable runtime.
        checks: the answer of each link that was judged, in order.
        change: a change of a job that helps: a waiting one is then admitted, one
            that never starts is admitted or waits. Empty when none was found or is needed.
    """

    job: str
    namespace: str
    podsets: tuple[Pods, ...]
    checks: tuple[Check, ...]
    change: tuple[str, ...] = ()

    @property
    def standing(self) -> Standing:
        """The worst answer of a link.

        Where the quota was not judged, the snapshot does not show it; where policies were not, the
        evaluator is not built.
        """
        answers = {check.standing for check in self.checks}
        for worst in (Standing.NEVER, Standing.WAITS):
            if worst in answers:
                return worst
        unjudged = {check.link for check in self.unjudged}
        if Link.QUOTA in unjudged:
            return Standing.UNJUDGED
        policies = {Link.POLICIES, Link.POD_SECURITY}
        return Standing.IN_PART if unjudged & policies else Standing.ADMITTED

    @property
    def deciding(self) -> tuple[Check, ...]:
        """The links that refuse a job or let it wait; none when it is admitted or not judged."""
        decides = self.standing in {Standing.NEVER, Standing.WAITS}
        return self._checks(self.standing) if decides else ()

    @property
    def unjudged(self) -> tuple[Check, ...]:
        """The links that were not judged."""
        return self._checks(Standing.UNJUDGED)

    def _checks(self, standing: Standing) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.standing is standing)
