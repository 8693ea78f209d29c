"""Alerts of admission: the API server refuses objects because what judges them is broken."""

from __future__ import annotations

from trainyard.model.monitoring import API_SERVER
from trainyard.render.alerts.alert import Alert

_SOURCES = (API_SERVER,)


def _grows(by: str, metric: str, matchers: str) -> str:
    """Return a counter's increase; one event alone is forgotten before it has been held."""
    return f"sum by ({by}) (increase({metric}{{{matchers}}}[10m])) > 0"


ALERTS = (
    Alert(
        name="TrainyardWebhookFails",
        sources=_SOURCES,
        expr=_grows(
            "name", "apiserver_admission_webhook_rejection_count", 'error_type!="no_error"'
        ),
        hold="10m",
        severity="critical",
        summary="The API server can't ask webhook {{ $labels.name }}, and refuses what it judges",
        meaning="The API server does not reach the webhook, does not trust its certificate, or "
        "can't read its answer. With one of Kueue, JobSet or Trainer, no team can submit a job, "
        "and jobs that were admitted get no pods.",
        look=(
            (
                "`{cli} get mutatingwebhookconfigurations,validatingwebhookconfigurations`: whose "
                "webhook it is, and with `-o yaml` its Service and `caBundle`."
            ),
            "`{cli} get events --all-namespaces`: `failed calling webhook` has the reason.",
            "`{cli} get pods --all-namespaces`: the pods of that Service.",
        ),
        fix=(
            "If its pods do not run, see [TrainyardControllerDown](#trainyardcontrollerdown).",
            "If the certificate is not trusted, restart the controller's deployment.",
            "If it is of another operator, tell its owner.",
        ),
    ),
    Alert(
        name="TrainyardPolicyFails",
        sources=_SOURCES,
        # `invalid_error` is what the API server counts for each object that a policy refuses too
        # (pkg/admission/plugin/policy/validating/errors.go of k8s.io/apiserver).
        expr=_grows(
            "policy",
            "apiserver_validating_admission_policy_check_total",
            'error_type=~"compile_error|out_of_budget",policy=~"trainyard-.+"',
        ),
        hold="10m",
        severity="critical",
        summary="The API server can't evaluate the admission policy {{ $labels.policy }}",
        meaning="An expression of the policy does not compile, or costs more than the API server "
        "grants. The API server refuses each object that the policy is about: mostly jobs, of all "
        "teams.",
        look=(
            "`{cli} get validatingadmissionpolicies -o yaml`: `status.typeChecking` of the policy.",
            "`{cli} get events --all-namespaces`: what was refused, and the API server's words.",
        ),
        fix=(
            "If only one job is refused, it is too large to be judged: its owner makes it smaller.",
            "After an upgrade of the cluster, compare the versions with the README.",
            "If somebody changed the policy, sync `platform/`.",
        ),
    ),
)
