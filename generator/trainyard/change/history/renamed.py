"""Rules on renamed teams: no job runs meanwhile, and no data stays in the old namespace."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.change.history.replacement import Replacement
from trainyard.diagnostics import Diagnostic, Note
from trainyard.model import names
from trainyard.model.identity import Identity, team_of
from trainyard.model.storage import Claim
from trainyard.model.tenant import Tenant
from trainyard.rules.change.claim_left_behind import RULE as CLAIM_LEFT_BEHIND
from trainyard.rules.change.folder_left_behind import RULE as FOLDER_LEFT_BEHIND
from trainyard.rules.change.renamed_without_draining import RULE as RENAMED_WITHOUT_DRAINING


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
    """Find committed claims of renamed teams whose volume a storage class makes."""
    for claim in replacement.old("PersistentVolumeClaim"):
        team = replacement.renamed.get(team_of(claim))
        if team and not claim.body["spec"].get("volumeName"):
            message = (
                f"claim `{claim.name}` of namespace `{claim.namespace}` on cluster "
                f"`{replacement.site.name}` can't move to team {team.name}"
            )
            note = Note("the claim in the committed tree", claim.at)
            yield CLAIM_LEFT_BEHIND.at(team.at / "renamedFrom", message, notes=[note])


def folder_left_behind(replacement: Replacement) -> Iterator[Diagnostic]:
    """Compare the folder of each volume of a renamed team with that of the committed volume."""
    renamed = {team.name for team in replacement.renamed.values()}
    for tenant in replacement.site.tenants:
        if tenant.name in renamed:
            for claim in tenant.made_volumes:
                yield from _moved(replacement, tenant, claim)


def _moved(replacement: Replacement, tenant: Tenant, claim: Claim) -> Iterator[Diagnostic]:
    """Yield that a volume of a renamed team would be another folder than before."""
    team = tenant.team
    suffix = claim.namespace.removeprefix(names.namespace(team.name))
    namespace = names.namespace(team.renamed_from) + suffix
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
