"""View of a site."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from itertools import chain
from typing import Any

from trainyard.model import names, reserved
from trainyard.model.held import held_queues
from trainyard.model.network import BESIDE_MPI_JOBS
from trainyard.model.people import is_user
from trainyard.model.platform import Site
from trainyard.model.team import Team
from trainyard.render.cel import text, text_list
from trainyard.render.views.cluster import ClusterView
from trainyard.render.views.counts import MOST_JOBS, MOST_OBJECTS
from trainyard.render.views.logs import Period, periods
from trainyard.render.views.network import selected
from trainyard.render.views.queue import FRAMEWORKS, kubeflow_jobs
from trainyard.render.views.space import Binding, listed, people_subjects
from trainyard.render.views.storage import PROPERTIES, StoreEntry
from trainyard.render.views.tenancy import Tenancy

_WITH_CONTENT = "WriteRequestBodies"
"""Profile of OpenShift that records writes with their content."""
_NOBODY = "trainyard-nobody"
"""Receiver of alerts that only tell: a job of a research team fails each hour."""


@dataclass(frozen=True, slots=True)
class SiteView:
    """A cluster with its teams, as templates read it."""

    site: Site

    @property
    def metrics_namespaces(self) -> list[str]:
        """Namespaces whose jobs have metrics of their own."""
        return [space.namespace for space in self.site.spaces if space.team.metrics]

    @property
    def alert_matchers(self) -> list[str]:
        """Matchers of Alertmanager: alerts of ours, and of no other cluster that sends some."""
        return ['alertname=~"Trainyard.+"', f'cluster="{self.site.name}"']

    @property
    def alert_routes(self) -> list[dict[str, Any]]:
        """Routes of Alertmanager: what a team fixes goes to its contact, and `info` to nobody."""
        routes = [
            {"matchers": [f'team=~"{"|".join(teams)}"'], "receiver": contact}
            for contact, teams in self._teams_by_contact.items()
        ]
        return [{"matchers": ['severity="info"'], "receiver": _NOBODY}, *routes]

    @property
    def alert_receivers(self) -> list[dict[str, Any]]:
        """Receivers of Alertmanager: one for each contact, and one that sends nothing."""
        contacts = [
            {"name": contact, "email_configs": [{"to": contact}]}
            for contact in self._teams_by_contact
        ]
        return [{"name": _NOBODY}, *contacts]

    @property
    def _teams_by_contact(self) -> dict[str, list[str]]:
        teams = defaultdict(list)
        for tenant in self.site.tenants:
            teams[tenant.team.contact].append(tenant.name)
        return dict(sorted(teams.items()))

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """Bindings of auditors and operators in the whole cluster."""
        cluster = self.site.cluster
        subjects = {
            "auditor": people_subjects(cluster.auditors),
            "operator": people_subjects(cluster.operators),
        }
        return tuple(
            Binding(role, f"trainyard-{role}", who) for role, who in subjects.items() if who
        )

    @property
    def framework_names(self) -> list[str]:
        """Job kinds that Kueue queues, as Kueue's Configuration names them, sorted."""
        return sorted(FRAMEWORKS[framework] for framework in self.site.frameworks)

    @property
    def kubeflow_jobs(self) -> list[str]:
        """Kubeflow's jobs whose pods get no node of a pool, as API paths name them."""
        return kubeflow_jobs(self.site.frameworks, has_mpi_jobs=bool(self.site.mpi_spaces))

    @property
    def rank_labels(self) -> str:
        """CEL: keys of the labels by which network policies tell pods of jobs from others."""
        source = BESIDE_MPI_JOBS if self.site.mpi_spaces else "workspaces"
        labels = selected(source)["matchExpressions"]
        return text_list(label["key"] for label in labels)

    @property
    def foreign_accounts(self) -> dict[str, str]:
        """Accounts with a role that an operator makes, as ``namespace:name``, with their owner."""
        owners = {}
        for space in self.site.spaces:
            for account in space.team.accounts:
                if account.owner:
                    owners[f"{space.namespace}:{account.name}"] = account.owner
        return owners

    @property
    def mpi_namespaces(self) -> str:
        """Namespaces that may have MPIJobs, as the admission policy splits them."""
        return listed(self.site.mpi_spaces)

    @property
    def own_runtime_namespaces(self) -> str:
        """Namespaces that may have TrainingRuntimes, as the admission policy splits them."""
        return listed(space for space in self.site.spaces if space.team.own_runtimes)

    @property
    def staged(self) -> list[Team]:
        """Teams that are not isolated yet."""
        teams = (tenant.team for tenant in self.site.tenants)
        return [team for team in teams if not team.stage.enforces]

    @property
    def observed_namespaces(self) -> str:
        """CEL: namespaces of teams whose jobs no policy refuses; empty where there is none."""
        observed = [space.namespace for space in self.site.spaces if space.team.stage.observes]
        return text_list(observed) if observed else ""

    @property
    def no_job_name(self) -> str:
        """CEL: a regular expression of the names that no job may have."""
        patterns = (job_name.replace("*", ".*") for job_name in reserved.job_names(self.site))
        return text(f"^({'|'.join(patterns)})$")

    @property
    def reserved_claims(self) -> str:
        """CEL: names of claims that only the delivery gives."""
        return text_list(reserved.claims(self.site))

    @property
    def reserved_config_maps(self) -> str:
        """CEL: names of ConfigMaps that only the delivery gives."""
        return text_list(reserved.config_maps(self.site))

    @property
    def reserved_secrets(self) -> str:
        """CEL: names of Secrets that only the delivery gives."""
        return text_list(reserved.secrets(self.site))

    @property
    def reserved_bindings(self) -> str:
        """CEL: names of RoleBindings that only the delivery gives."""
        return text_list(reserved.BINDINGS)

    @property
    def network_policies(self) -> str:
        """Name of the admission policy over the teams' NetworkPolicies."""
        return names.TEAM_NETWORK_POLICIES

    @property
    def reserved_prefix(self) -> str:
        """CEL: start of the names that only the delivery gives."""
        return text(names.RESERVED_PREFIX)

    @property
    def claimed_key(self) -> str:
        """CEL: annotation of a team's quota, what claims may have in sum."""
        return text(self.site.cluster.claimed_key)

    @property
    def claimable_key(self) -> str:
        """CEL: annotation that lists the storage classes of a team's namespace."""
        return text(ClusterView(self.site.cluster).claimable_key)

    @property
    def reserves_namespace(self) -> str:
        """CEL: the namespace has a name that no tenant may give."""
        shadowing = text_list(reserved.shadowing_namespaces(self.site))
        own = Tenancy(self.site.cluster).reserves_namespace
        return f"{own} || object.metadata.name in {shadowing}"

    @property
    def mpi_operator_version(self) -> str:
        """Version of the MPI operator that the release was tried with."""
        return self.site.cluster.versions["mpiOperator"]

    @property
    def admitted_namespaces(self) -> str:
        """Namespaces whose limits are in this tree, as the admission policy splits them."""
        return listed(self.site.spaces)

    @property
    def most_jobs(self) -> int:
        """TrainJobs that a namespace may hold, finished ones included."""
        return MOST_JOBS

    @property
    def most_objects(self) -> str:
        """CEL: by resource, its name in the quota and the number at which members make no more."""
        limits = (
            f"'{resource}': {{'key': '{key}', 'most': '{most}'}}"
            for resource, key, most in MOST_OBJECTS
        )
        return f"{{{', '.join(limits)}}}"

    @property
    def has_stopped_queue(self) -> bool:
        """Return whether some queue starts no job by a state."""
        queues = chain.from_iterable(tenant.queues for tenant in self.site.tenants)
        return not all(queue.state.is_open for queue in queues)

    @property
    def maintained(self) -> bool:
        """Return whether some node is in maintenance."""
        return any(pool.maintenance for pool in self.site.cluster.pools)

    @property
    def held_queues(self) -> list[str]:
        """Queues in which no job starts until nodes are back, sorted."""
        return sorted(held_queues(self.site))

    @property
    def has_samples(self) -> bool:
        """Return whether some team can copy a job."""
        return any(tenant.samples for tenant in self.site.tenants)

    @property
    def audited_namespaces(self) -> list[str]:
        """Namespaces of teams whose regulation demands an audit, and ours with their limits."""
        audited: list[str] = []
        for tenant in self.site.tenants:
            regulation = tenant.team.compliance
            if regulation and regulation.asks("audit"):
                audited += tenant.namespaces
        return [*audited, self.site.cluster.system_namespace] if audited else []

    @property
    def records_all_writes(self) -> bool:
        """Return whether OpenShift's API server records the content of each write."""
        return bool(self.audited_namespaces) or any(map(is_user, self.site.cluster.operators))

    @property
    def audit_profile(self) -> str:
        """What OpenShift's API server records, as a merge patch of ``APIServer/cluster``.

        A profile applies to a whole cluster or to the members of a group (github.com/openshift/api:
        config/v1/types_apiserver.go), so for an operator by name it is that of the cluster.
        """
        audit: dict[str, object] = {"profile": _WITH_CONTENT}
        if not self.records_all_writes:
            groups = self.site.cluster.operators
            rules = [{"group": group, "profile": _WITH_CONTENT} for group in groups]
            audit = {"profile": "Default", **({"customRules": rules} if rules else {})}
        return json.dumps({"spec": {"audit": audit}}, separators=(",", ":"))

    @property
    def log_periods(self) -> tuple[Period, ...]:
        """How long the lines of which namespaces are kept; empty where no profile states it."""
        monitoring = self.site.cluster.monitoring
        logs = monitoring.logs if monitoring else None
        return tuple(periods(self.site, logs)) if logs else ()

    @property
    def has_debuggers(self) -> bool:
        """Return whether somebody may run commands in the pods of a team's jobs."""
        return any(tenant.team.debuggers for tenant in self.site.tenants)

    @property
    def nfs_folders(self) -> dict[str, list[str]]:
        """Each NFS folder, as ``server:path``, with the namespaces whose volumes mount it."""
        folders = defaultdict(list)
        for tenant in self.site.tenants:
            for claim in tenant.made_volumes:
                folders[f"{claim.storage.server}:{claim.path}"].append(claim.namespace)
        return dict(sorted(folders.items()))

    @property
    def store_entries(self) -> dict[StoreEntry, list[str]]:
        """Each entry of a secret store, with the namespaces that get a Secret from it."""
        secrets = list(chain.from_iterable(space.secrets for space in self.site.spaces))
        cleanup = self.site.cluster.finished_jobs
        if cleanup and cleanup.pull_secret:
            secrets.append(cleanup.pull_secret)
        entries = defaultdict(list)
        for secret in secrets:
            entry = StoreEntry(secret.store, secret.key, PROPERTIES[secret.kind])
            entries[entry].append(secret.namespace)
        return dict(sorted(entries.items()))

    @property
    def has_job_folders_on_nfs(self) -> bool:
        """Return whether a runtime's steps write to NFS, where kubelet makes folders as root."""
        folders = {kept.name for kept in self.site.cluster.storage if kept.kind == "nfs"}
        return not folders.isdisjoint(launch.volume for launch in self.site.launches)
