"""Encryption in transit and FIPS mode, which both depend on the team's runtimes."""

from __future__ import annotations

from trainyard.model.launch import Launch
from trainyard.model.named import by_name
from trainyard.model.tenant import Tenant
from trainyard.render.markdown import code
from trainyard.render.measures.answer import NOT_APPLICABLE, OPEN, Answer, SiteObjects

_RUNTIME = "ClusterTrainingRuntime"


def transit(tenant: Tenant, place: SiteObjects) -> Answer:
    """Answer with the network between the ranks of each runtime, and with what starts them."""
    used = tenant.launches
    if not used:
        return Answer("the team can start no job", state=NOT_APPLICABLE)
    encrypted = place.site.cluster.encrypts_pods
    networks = sorted({_network(launch, encrypted=encrypted) for launch in used})
    if any(launch.runtime.launcher.mpi for launch in used):
        networks.append("ssh, which starts MPI ranks, is encrypted")
    stated = "required" if tenant.team.encrypts_transit else "not required"
    profile = code(tenant.team.at.file)
    how = f"{profile} states that encryption is {stated}; {'; '.join(networks)}"
    return Answer(how, place.of(_RUNTIME, by_name(used)))


def _network(launch: Launch, *, encrypted: bool) -> str:
    if fabric := launch.rdma:
        name = fabric.provider.name
        return f"data between nodes goes by RDMA over {name}, which nothing encrypts"
    how = "is stated to encrypt between nodes" if encrypted else "does not encrypt"
    return f"data between nodes goes over the pod network, which {how}"


def fips(tenant: Tenant, place: SiteObjects) -> Answer:
    """Answer with the stated mode of the nodes, and the algorithms of ssh in the runtimes."""
    profile = code(place.site.cluster.at.file)
    if not place.site.cluster.fips:
        how = f"{profile} does not state that the nodes run in FIPS mode"
        return Answer(how, state=OPEN)
    how = f"{profile} states that the nodes run in FIPS mode"
    mpi = {launch.name for launch in tenant.launches if launch.runtime.launcher.mpi}
    if mpi:
        how += "; sshd and ssh of MPI jobs take approved algorithms only"
    return Answer(how, place.of(_RUNTIME, mpi))
