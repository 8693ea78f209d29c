"""What answers each measure of a regulation for a team: a sentence, a state, and the objects behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from trainyard.model import names
from trainyard.model.launch import Launch
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.pool import Pool
from trainyard.model.queue import Queue
from trainyard.model.tenant import Tenant
from trainyard.render.markdown import code, text

ANSWERED = "answered"
OPEN = "not answered"
NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True)
class Answer:
    """What answers a measure for a team.

    Args:
        how: Markdown; each sentence follows from the objects, or names the profile that states it.
        objects: of the cluster's tree.
        state: ``answered``, ``not answered`` or ``not applicable``.
    """

    how: str
    objects: Sequence[Manifest] = ()
    state: str = ANSWERED


@dataclass(frozen=True, slots=True)
class SiteObjects:
    """A site with its objects."""

    site: Site
    manifests: Sequence[Manifest]

    def of(self, kind: str, names: set[str] | None = None) -> list[Manifest]:
        """Return the objects of a kind, of all names or of some."""
        found = (each for each in self.manifests if each.kind.name == kind)
        return [each for each in found if names is None or each.name in names]

    def own(self, tenant: Tenant, kind: str) -> list[Manifest]:
        """Return the objects of a kind in a team's unit."""
        return [each for each in self.of(kind) if each.unit == f"teams/{tenant.name}"]


def _listed(words: Iterable[str]) -> str:
    """Return words of profiles or objects as Markdown, sorted."""
    return ", ".join(text(word) for word in sorted(set(words)))


def _access(tenant: Tenant, place: SiteObjects) -> Answer:
    """The roles that are bound in the team's namespaces, and those that reach into them from the whole cluster."""
    bound = place.own(tenant, "RoleBinding")
    bindings = [each for each in bound if each.body["roleRef"]["name"] != names.FINISHED_JOBS_ROLE]
    subjects = {_subject(subject) for each in bindings for subject in each.body["subjects"]}
    wide = [each for each in place.of("ClusterRoleBinding") if each.unit == "platform"]
    own = [
        each
        for each in wide
        if any(_subject(subject) in subjects for subject in each.body["subjects"])
    ]
    kinds = " and ".join(sorted({_SUBJECTS[kind] for kind, _, _ in subjects}))
    how = f"the team's {kinds} have roles in its own namespaces: {_listed(_roles(bindings))}"
    if own:
        how += f"; and in the whole cluster: {_listed(_roles(own))}"
    if others := [each for each in wide if each not in own]:
        how += f"; the platform's groups have roles in every namespace: {_listed(_roles(others))}"
    if len(bound) > len(bindings):
        how += f"; the platform's account {names.FINISHED_JOBS} lists and deletes TrainJobs there"
    roles = {*_roles(bound), *_roles(wide)}
    return Answer(how, [*place.of("ClusterRole", roles), *wide, *bound])


def _subject(subject: Mapping[str, str]) -> tuple[str, str, str]:
    return subject["kind"], subject["name"], subject.get("namespace", "")


def _roles(bindings: Sequence[Manifest]) -> list[str]:
    return [each.body["roleRef"]["name"] for each in bindings]


def _audit(tenant: Tenant, place: SiteObjects) -> Answer:
    """The policy, which somebody else installs; OpenShift takes no policy, but has a profile that records as much."""
    owner = _listed(
        [who for what, who in place.site.cluster.external.items() if what.startswith("AuditLog/")]
    )
    if "audit-policy" not in place.site.cluster.release.features:
        how = (
            "OpenShift records each write with its content under the audit profile "
            f"{code('WriteRequestBodies')}"
        )
        return Answer(
            f"{how}; in force once set on {code('APIServer/cluster')}; the log is kept by: {owner}"
        )
    namespaces = {space.namespace for space in tenant.spaces}
    policies = [each for each in place.manifests if each.path == "operators/audit-policy.yaml"]
    covered = {
        name
        for each in policies
        for rule in each.body["rules"]
        for name in rule.get("namespaces", ())
    }
    if not namespaces <= covered:
        return Answer(f"no audit policy covers {_listed(sorted(namespaces - covered))}", state=OPEN)
    how = f"rules that record who did what in {_listed(sorted(namespaces))}"
    return Answer(
        f"{how}; in force once installed in the API server; the log is kept by: {owner}", policies
    )


def _nodes(tenant: Tenant, place: SiteObjects) -> Answer:
    """Who has quota on the team's pools, and what keeps other pods away."""
    own = {flavor.name: flavor.pool for queue in tenant.queues for flavor in queue.flavors}
    holders = [other for other in place.site.tenants for queue in other.queues if _on(queue, own)]
    quotas = [
        flavor.quota for other in holders for queue in other.queues for flavor in queue.flavors
    ]
    shared = [quota for quota in quotas if quota.pool in own and (quota.lend or quota.borrow)]
    foreign = [other for other in holders if other.team.compliance != tenant.team.compliance]
    queues = place.of("ClusterQueue", {queue.name for queue in tenant.queues})
    how = f"quota on {_listed(own)} is held by: {_listed(other.name for other in holders)}"
    if shared or foreign or not all(pool.hardware.taint for pool in own.values()):
        how += "; the nodes are not dedicated"
        return Answer(how, [*queues, *place.of("ResourceFlavor", set(own))], OPEN)
    others = [
        pool for pool in place.site.cluster.pools if pool.name not in own and _tolerates(pool, own)
    ]
    kept, state = _kept_away(list(own.values()), others)
    flavors = place.of("ResourceFlavor", {*own, *(pool.name for pool in others)})
    return Answer(
        f"{how}, all under the regulation; none is lent or borrowed; {kept}",
        [*queues, *flavors],
        state,
    )


def _on(queue: Queue, pools: Mapping[str, Pool]) -> bool:
    return any(flavor.name in pools for flavor in queue.flavors)


def _tolerates(other: Pool, pools: Mapping[str, Pool]) -> bool:
    """Tell whether pods that are admitted to a pool tolerate the taint of another: it is the same."""
    return any(pool.hardware.taint == other.hardware.taint for pool in pools.values())


def _kept_away(own: Sequence[Pool], others: Sequence[Pool]) -> tuple[str, str]:
    """Return what keeps other pods off tainted nodes, and the state that follows.

    Args:
        own: the pools.
        others: pools with one of their taints: pods that are admitted to them tolerate it.
    """
    taints = _listed(pool.hardware.taint for pool in own)
    how = (
        f"the taint {taints}, which the nodes' owner sets, keeps away pods that do not tolerate it"
    )
    if not others:
        return how, ANSWERED
    how += f"; pods that are admitted to {_listed(pool.name for pool in others)} tolerate it"
    if reaching := [
        other.name for other in others if not all(_excludes(other, pool) for pool in own)
    ]:
        return (
            f"{how}, and the node selector of {_listed(reaching)} does not exclude these nodes",
            OPEN,
        )
    return f"{how}; the node selector that Kueue adds to them keeps them away", ANSWERED


def _excludes(other: Pool, pool: Pool) -> bool:
    """Tell whether the labels that a pool's pods are sent to contradict those of another pool's nodes."""
    labels = pool.hardware.labels
    return any(labels.get(key, value) != value for key, value in other.hardware.labels.items())


def _storage(tenant: Tenant, place: SiteObjects) -> Answer:
    """Claims and buckets; their encryption is a statement of the cluster's profile."""
    wanted = {name for space in tenant.spaces for name in space.profile.storage}
    wanted |= {each.storage.name for space in tenant.spaces for each in space.allowances}
    used = [each for each in place.site.cluster.storage if each.name in wanted]
    made = {claim.volume for claim in tenant.made_volumes}
    buckets = {secret.name for space in tenant.spaces for secret in space.buckets}
    secrets = [each for each in place.own(tenant, "ExternalSecret") if each.name in buckets]
    objects = [
        *place.of("PersistentVolume", made),
        *secrets,
        *place.own(tenant, "PersistentVolumeClaim"),
    ]
    if not used:
        return Answer("the team has no claim and no bucket", state=NOT_APPLICABLE)
    plain = [each.name for each in used if not each.encrypted]
    if plain:
        return Answer(
            f"storage that is not stated to be encrypted: {_listed(plain)}", objects, OPEN
        )
    stated = _listed([each.name for each in used])
    how = (
        f"{code(place.site.cluster.at.file)} states `encrypted: true` of the team's storage: "
        f"{stated}"
    )
    policies = place.of("ValidatingAdmissionPolicy", {names.TENANT_OBJECTS})
    return Answer(
        f"{how}; admission refuses its admins' claims of any other class", [*policies, *objects]
    )


def _launches(tenant: Tenant) -> list[Launch]:
    return list(
        {launch.name: launch for space in tenant.spaces for launch in space.launches}.values()
    )


def _transit(tenant: Tenant, place: SiteObjects) -> Answer:
    """How the ranks of each runtime talk between nodes, and what starts them."""
    launches = _launches(tenant)
    if not launches:
        return Answer("the team can start no job", state=NOT_APPLICABLE)
    ways = sorted({_way(launch, encrypted=place.site.cluster.encrypts_pods) for launch in launches})
    if any(launch.runtime.launcher.mpi for launch in launches):
        ways.append("ssh, which starts MPI ranks, is encrypted")
    stated = "required" if tenant.team.encrypts_transit else "not required"
    how = f"{code(tenant.team.at.file)} states that encryption is {stated}; {'; '.join(ways)}"
    return Answer(how, place.of("ClusterTrainingRuntime", {launch.name for launch in launches}))


def _way(launch: Launch, *, encrypted: bool) -> str:
    if launch.fabric and launch.rails:
        return (
            f"data between nodes goes by RDMA over {launch.fabric.link.name}, which nothing "
            "encrypts"
        )
    how = "is stated to encrypt between nodes" if encrypted else "does not encrypt"
    return f"data between nodes goes over the pod network, which {how}"


def _fips(tenant: Tenant, place: SiteObjects) -> Answer:
    """The mode of the nodes is a statement; the algorithms of ssh are in the runtimes."""
    if not place.site.cluster.fips:
        return Answer(
            f"{code(place.site.cluster.at.file)} does not state that the nodes run in FIPS mode",
            state=OPEN,
        )
    how = f"{code(place.site.cluster.at.file)} states that the nodes run in FIPS mode"
    mpi = {launch.name for launch in _launches(tenant) if launch.runtime.launcher.mpi}
    if mpi:
        how += "; sshd and ssh of MPI jobs take approved algorithms only"
    return Answer(how, place.of("ClusterTrainingRuntime", mpi))


def _network(tenant: Tenant, place: SiteObjects) -> Answer:
    """Policies of each namespace, and what separates the team on a fabric, if it is on one."""
    policies = place.own(tenant, "NetworkPolicy")
    denied = {each.namespace for each in policies if each.name == "default-deny"}
    missing = {space.namespace for space in tenant.spaces} - denied
    if missing:
        return Answer(f"no policy denies by default in {_listed(sorted(missing))}", policies, OPEN)
    attached = {network.name for space in tenant.spaces for network in space.networks}
    networks = [
        *place.own(tenant, "NetworkAttachmentDefinition"),
        *place.of("SriovNetwork", attached),
    ]
    rails = [pool for pool in tenant.address_pools if pool.rail == 0]
    told = [
        f"{pool.fabric.link.segment} {pool.fabric.link.display(pool.allocation.segment)} of the "
        f"team's own on fabric {pool.fabric.name}"
        for pool in rails
    ]
    how = "ingress and egress are denied by default in each of its namespaces; "
    how += "; ".join(told) if told else "no fabric: its jobs use the pod network only"
    return Answer(how, [*policies, *networks])


_SUBJECTS = {"Group": "groups", "ServiceAccount": "service accounts"}
MEASURES: Mapping[str, tuple[str, Callable[[Tenant, SiteObjects], Answer]]] = {
    "accessControl": ("access control", _access),
    "audit": ("audit", _audit),
    "dedicatedNodes": ("dedicated nodes", _nodes),
    "encryptedStorage": ("encrypted storage", _storage),
    "encryptionInTransit": ("encryption in transit", _transit),
    "fips": ("FIPS mode", _fips),
    "networkIsolation": ("network isolation", _network),
}
OUTSIDE = {
    "accessControl": "the members of the identity provider's groups",
    "audit": "the installation of the audit policy, and the log",
    "dedicatedNodes": "the taints and labels of the nodes",
    "encryptedStorage": "the encryption of the storage, and that of the nodes' own disks",
    "encryptionInTransit": "the encryption of the pod network",
    "fips": "the installation of the nodes in FIPS mode",
    "networkIsolation": "partitions and VLANs in the subnet manager and the switches",
}
