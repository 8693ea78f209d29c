"""Rules on teams that end, are renamed, lose a namespace, or get an object of a new name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from trainyard.change.history.replacement import Replacement, open_queues
from trainyard.change.objects import Objects
from trainyard.diagnostics import Diagnostic, Note, Pointer
from trainyard.model import names
from trainyard.model.identity import Identity, identity, team_of
from trainyard.model.storage import Claim
from trainyard.model.team import TeamSpace
from trainyard.model.tenant import Tenant
from trainyard.rules.change.claim_left_behind import RULE as CLAIM_LEFT_BEHIND
from trainyard.rules.change.folder_left_behind import RULE as FOLDER_LEFT_BEHIND
from trainyard.rules.change.name_not_reserved import RULE as NAME_NOT_RESERVED
from trainyard.rules.change.namespace_left_behind import RULE as NAMESPACE_LEFT_BEHIND
from trainyard.rules.change.renamed_without_draining import RULE as RENAMED_WITHOUT_DRAINING
from trainyard.rules.change.retired_without_draining import RULE as RETIRED_WITHOUT_DRAINING


def retired_without_draining(replacement: Replacement) -> Iterator[Diagnostic]:
    """Find teams that are retired though a committed queue of theirs lets jobs run."""
    queues: dict[str, list[str]] = defaultdict(list)
    for queue in replacement.open_queues():
        queues[team_of(queue)].append(queue.name)
    for team in replacement.platform.teams:
        state = team.state_on(replacement.site.name)
        if state.word == "retired" and team.name in queues:
            where = f"{', '.join(queues[team.name])} of cluster `{replacement.site.name}`"
            message = (
                f"team {team.name} would be retired while jobs may run in ClusterQueue {where}"
            )
            yield RETIRED_WITHOUT_DRAINING.at(state.at, message)


def cluster_retired_without_draining(cluster: str, before: Objects) -> Iterator[Diagnostic]:
    """Find that a cluster is retired though a committed queue of it lets jobs run.

    Args:
        cluster: a retired one.
        before: objects of the committed tree.
    """
    if queues := sorted(queue.name for queue in open_queues(before)):
        at = Pointer(f"profiles/clusters/{cluster}.yaml") / "state"
        message = (
            f"cluster `{cluster}` would be retired while jobs may run in ClusterQueue "
            f"{', '.join(queues)}"
        )
        yield RETIRED_WITHOUT_DRAINING.at(at, message)


def renamed_without_draining(replacement: Replacement) -> Iterator[Diagnostic]:
    """Find renamed teams with a committed queue that lets jobs run."""
    for queue in replacement.open_queues():
        if team := replacement.renamed.get(team_of(queue)):
            message = (
                f"team {team.renamed_from} would be renamed to {team.name} while jobs may run in "
                f"ClusterQueue {queue.name} of cluster `{replacement.site.name}`"
            )
            yield RENAMED_WITHOUT_DRAINING.at(team.at / "renamedFrom", message)


def claim_left_behind(replacement: Replacement) -> Iterator[Diagnostic]:
    """Find committed claims in renamed namespaces whose volume a storage class makes."""
    spaces, moved = _spaces(replacement), replacement.moved
    for claim in replacement.old("PersistentVolumeClaim"):
        new = moved.get(claim.namespace)
        if new and not claim.body["spec"].get("volumeName"):
            message = (
                f"claim `{claim.name}` of namespace `{claim.namespace}` on cluster "
                f"`{replacement.site.name}` can't move to namespace `{new}`"
            )
            note = Note("the claim in the committed tree", claim.at)
            team = replacement.renamed.get(team_of(claim))
            at = team.at / "renamedFrom" if team else spaces[new].namespace_at
            yield CLAIM_LEFT_BEHIND.at(at, message, notes=[note])


def _spaces(replacement: Replacement) -> dict[str, TeamSpace]:
    """Return the spaces of the cluster's teams now, by their namespaces."""
    return {space.namespace: space.profile for space in replacement.site.spaces}


def folder_left_behind(replacement: Replacement) -> Iterator[Diagnostic]:
    """Compare the folder of each volume of a renamed team with that of the committed volume."""
    renamed = {team.name for team in replacement.renamed.values()}
    for tenant in replacement.site.tenants:
        if tenant.name in renamed:
            for claim in tenant.made_volumes:
                yield from _folder_moved(replacement, tenant, claim)


def _folder_moved(replacement: Replacement, tenant: Tenant, claim: Claim) -> Iterator[Diagnostic]:
    """Yield that a volume of a renamed team would be another folder than before."""
    team = tenant.team
    old_names = {new: old for old, new in replacement.moved.items()}
    namespace = old_names.get(claim.namespace, claim.namespace)
    former = names.volume(claim.cluster, namespace, claim.name)
    old = replacement.before.get(Identity("PersistentVolume", "", former))
    path = old.body["spec"]["nfs"]["path"] if old else claim.path
    if path != claim.path:
        folder = path.rpartition("/")[2]
        message = (
            f"volume `{claim.volume}` would be folder {claim.path}, and the files of team "
            f"{team.renamed_from} are in {path}"
        )
        hint = f"Add `folder: {folder}` to {team.at.file}, and keep it as long as the team exists."
        yield FOLDER_LEFT_BEHIND.at(team.at / "renamedFrom", message, hint=hint)


def namespace_left_behind(replacement: Replacement) -> Iterator[Diagnostic]:
    """Find namespaces that a team loses or renames while its jobs may run."""
    site, moved, spaces = replacement.site, replacement.moved, _spaces(replacement)
    places = {tenant.name: tenant.team.at for tenant in site.tenants}
    running = replacement.running
    for namespace in replacement.old("Namespace"):
        team = team_of(namespace)
        if team not in places or team not in running:
            continue
        if new := moved.get(namespace.name):
            message = (
                f"namespace `{namespace.name}` of cluster `{site.name}` would be renamed to "
                f"`{new}` while jobs of team `{team}` may run in it"
            )
            yield NAMESPACE_LEFT_BEHIND.at(spaces[new].namespace_at, message)
        elif identity(namespace) not in replacement.after:
            message = (
                f"team `{team}` loses namespace `{namespace.name}` of cluster `{site.name}` while "
                "its jobs may run"
            )
            yield NAMESPACE_LEFT_BEHIND.at(places[team] / "spaces", message)


_POLICY = Identity("ValidatingAdmissionPolicy", "", names.TENANT_OBJECTS)
_VARIABLES = {"ConfigMap": "reservedConfigMaps", "PersistentVolumeClaim": "reservedClaims"}
_NAME = re.compile("'([^']*)'")


def name_not_reserved(replacement: Replacement) -> Iterator[Diagnostic]:
    """Compare names in namespaces that exist with those that the committed policy reserves."""
    present = {namespace.name for namespace in replacement.old("Namespace")}
    for tenant in replacement.site.tenants:
        for kind, namespace, name, at in _new_names(tenant):
            if namespace in present and not _is_reserved(replacement, kind, name):
                message = (
                    f"{kind} `{name}` is new in namespace `{namespace}` of cluster "
                    f"`{replacement.site.name}`, and a tenant may have taken the name"
                )
                yield NAME_NOT_RESERVED.at(at, message)


def _is_reserved(replacement: Replacement, kind: str, name: str) -> bool:
    known = _reserved(replacement, _VARIABLES[kind])
    return known is None or name in known or name.startswith(names.RESERVED_PREFIX)


def _reserved(replacement: Replacement, variable: str) -> frozenset[str] | None:
    """Return the names that the committed policy reserves; None if it is older than the list."""
    policy = replacement.before.get(_POLICY)
    variables = policy.body["spec"].get("variables", []) if policy else []
    for own in variables:
        if own["name"] == variable:
            return frozenset(_NAME.findall(own["expression"]))
    return None


def _new_names(tenant: Tenant) -> Iterator[tuple[str, str, str, Pointer]]:
    """Yield kind, namespace, name and place of what tenants could make too.

    A claim that is adopted exists: its name was given by whoever moved it here.
    """
    for space in tenant.spaces:
        for claim in space.claims:
            if claim.storage.kind != "adopted":
                yield "PersistentVolumeClaim", claim.namespace, claim.name, claim.request.at.key()
    for component in tenant.components:
        for at, _, body in component.each():
            if body["kind"] == "ConfigMap":
                metadata = body["metadata"]
                place = at / "metadata" / "name"
                yield "ConfigMap", metadata.get("namespace", ""), metadata["name"], place
