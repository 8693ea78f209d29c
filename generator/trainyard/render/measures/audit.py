"""Audit: the policy of the API server, and the owner of its log."""

from __future__ import annotations

from collections.abc import Iterable

from trainyard.model.manifest import Manifest
from trainyard.model.monitoring import AUDIT_LOG
from trainyard.model.tenant import Tenant
from trainyard.model.unavailable import API_SERVER_FLAGS
from trainyard.render.markdown import code
from trainyard.render.measures.answer import OPEN, Answer, SiteObjects, listed


def audit(tenant: Tenant, place: SiteObjects) -> Answer:
    """Answer with the audit policy, which the owner of the API server installs.

    OpenShift takes no policy, but has an audit profile that records as much.
    """
    cluster = place.site.cluster
    owners = (who for what, who in cluster.external.items() if what.startswith(f"{AUDIT_LOG}/"))
    log = f"the log is kept by: {listed(owners)}"
    if API_SERVER_FLAGS in cluster.unavailable:
        how = "nobody at the site sets what the API server records, and no profile states it"
        return Answer(f"{how}; {log}", state=OPEN)
    if "audit-policy" not in cluster.release.features:
        profile = code("WriteRequestBodies")
        how = f"OpenShift records each write with its content under the audit profile {profile}"
        return Answer(f"{how}; in force once set on {code('APIServer/cluster')}; {log}")
    policies = [manifest for manifest in place.manifests if manifest.path == _POLICY]
    missing = set(tenant.namespaces) - _covered(policies)
    if missing:
        return Answer(f"no audit policy covers {listed(missing)}", state=OPEN)
    how = f"rules that record who did what in {listed(tenant.namespaces)}"
    return Answer(f"{how}; in force once installed in the API server; {log}", policies)


_POLICY = "operators/audit-policy.yaml"


def _covered(policies: Iterable[Manifest]) -> set[str]:
    """Return the namespaces that rules of the audit policy name."""
    namespaces: set[str] = set()
    for policy in policies:
        for rule in policy.body.get("rules", ()):
            namespaces.update(rule.get("namespaces", ()))
    return namespaces
