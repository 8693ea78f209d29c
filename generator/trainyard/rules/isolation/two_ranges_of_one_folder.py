"""Find folders of an NFS export that a namespace mounts on two clusters with two ranges of ids."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Rule, Severity
from trainyard.model.platform import Platform
from trainyard.model.space import Space
from trainyard.model.storage import Claim
from trainyard.rules._check import Check

RULE = Rule(
    id="isolation/two-ranges-of-one-folder",
    severity=Severity.WARNING,
    summary="""
        A namespace that mounts one folder of an NFS export on two clusters has one range of user
        ids on both.
    """,
    why="""
        The files of one cluster's pods belong to a user that the other cluster's pods are not: jobs
        that move to the other cluster end with `Permission denied`.
    """,
    fix="""
        Before the namespace is on the second cluster, give it the range and level of the first
        there, as `trainyard add allocation` does. Later the owner of the file server changes the
        files' owners, or the clusters get folders of their own.
    """,
)


def find(platform: Platform) -> Iterator[Diagnostic]:
    known: dict[tuple[str, str, str], tuple[Space, Claim]] = {}
    for space, claim in _exports(platform):
        folder = (claim.storage.server, claim.path, space.namespace)
        other, first = known.setdefault(folder, (space, claim))
        if other is not space and not _are_one(other, space):
            message = (
                f"namespace {space.namespace} mounts {claim.path} of {claim.storage.server} with "
                f"{_ids(other)} on {other.cluster.name} and {_ids(space)} on {space.cluster.name}"
            )
            notes = [Note(f"the folder on {other.cluster.name}", first.request.at)]
            at = space.ids.at if space.ids else None
            yield RULE.at(at or claim.request.at, message, notes=notes)


def _exports(platform: Platform) -> Iterator[tuple[Space, Claim]]:
    """Yield each claim of an NFS folder where namespaces have ranges, with its namespace."""
    for site in platform.sites:
        if site.cluster.release.job_scc:
            for tenant in site.tenants:
                for space in tenant.spaces:
                    exports = (each for each in space.claims if each.storage.kind == "nfs")
                    yield from ((space, each) for each in exports)


def _are_one(first: Space, second: Space) -> bool:
    """Whether two namespaces have one range; what OpenShift gives on two clusters is not one."""
    return bool(first.ids and second.ids and first.ids.value == second.ids.value)


def _ids(space: Space) -> str:
    return f"user ids {space.ids.range}" if space.ids else "user ids that OpenShift gives"


CHECK = Check(RULE, find)
