"""Check that policies hold while controllers and tree are of two releases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from trainyard.model.manifest import Manifest
from trainyard.model.space import Sample
from trainyard_rehearsal.checks.jobs import as_user, with_name
from trainyard_rehearsal.checks.request_cases import RequestCase, RequestTally, refusal_of
from trainyard_rehearsal.checks.variants import FORMS, as_json, changed_job, with_change
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Outcome

_POLICY = "ValidatingAdmissionPolicy"
"""Part of each policy's refusal, whichever version of Trainyard wrote the policy."""

_PATIENCE = 60.0
"""Seconds until a plain job must be accepted after a step; it takes about two."""

_PODS: tuple[Body, ...] = (
    {"tolerations": [{"operator": "Exists"}]},
    {"nodeSelector": {"a": "b"}},
    {"serviceAccountName": "default"},
    {"volumes": [{"name": "y", "hostPath": {"path": "/"}}]},
    {"containers": [{"name": "node", "env": [{"name": "LD_PRELOAD", "value": "/x"}]}]},
    {"securityContext": {"runAsUser": 0}},
)
"""What no job may give its pods: nodes, an account, the node's files, root."""


class BetweenSteps:
    """Hostile jobs, tried after each step."""

    def __init__(self) -> None:
        self._tally = RequestTally()

    def look(self, lab: Lab, samples: Sequence[tuple[Sample, Manifest]], after: str) -> None:
        """Send a plain job, which must be accepted, and hostile ones in each form, as dry runs.

        Args:
            lab: the control plane.
            samples: jobs of its tree; the first of each namespace is changed.
            after: what was done last, for messages.
        """
        first = {sample.space.namespace: (sample, body) for sample, body in reversed(samples)}
        cases = [case for name in sorted(first) for case in _cases(lab, *first[name], after)]
        plain = [case for case in cases if not case.refusal]
        # A controller that has just started does not yet know the queues that it defaults to.
        lab.processes.waited(lambda: all(map(_is_accepted, plain)), _PATIENCE)
        self._tally.send(cases)

    @property
    def outcome(self) -> Outcome:
        """The outcome of all requests so far."""
        return self._tally.outcome("hostile jobs refused between")


def _is_accepted(case: RequestCase) -> bool:
    return refusal_of(case.request) is None


def _cases(lab: Lab, sample: Sample, manifest: Manifest, after: str) -> Iterator[RequestCase]:
    user, at, home = as_user(lab.api, sample.space), manifest.at, sample.space.namespace
    # Strict validation refuses the form that the Trainer of the moment does not have.
    plain = with_name(with_change(manifest.body, {"spec": dict.fromkeys(FORMS)}), "between")
    accepted = partial(user.create, plain, dry_run=True)
    yield RequestCase(f"after {after}: a plain job in {home}", accepted, at)
    for form, change in FORMS.items():
        for pod in _PODS:
            hostile = with_change(plain, {"spec": change(changed_job(sample), pod)})
            what = f"after {after}: {form} in {home} with {as_json(pod)}"
            yield RequestCase(what, partial(user.create, hostile, dry_run=True), at, _POLICY)
