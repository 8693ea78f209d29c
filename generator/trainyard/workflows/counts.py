"""Count what was verified of a cluster, and compare the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trainyard.diagnostics import Diagnostic
from trainyard.model.platform import Site
from trainyard.rules.delivery.objects_lost import RULE as OBJECTS_LOST
from trainyard.verify.kubeconform import Report
from trainyard.workflows.committed import Committed


@dataclass(frozen=True, slots=True)
class Count:
    """Numbers of what was verified of one cluster.

    Args:
        objects: listed by kustomizations, those of hand-written components included.
        valid: of them, against the release's strict schemas, read back from the tree.
        built: objects in what kustomize builds.
        conform: of them, valid in kubeconform.
        skipped: objects that kubeconform passed over.
        units, units_built: sync units there, and those that build.
        samples: jobs to copy; checked, never synced.
        artifacts: files that Argo CD does not apply, of a kind with a schema; checked too.
        others: all other files: kustomizations, lockfile, README, fragments.
        by_unit: objects of each sync unit.
        left_out: sync units that a commit has already, so that they are not verified again.
        files_left_out: samples and artifacts that the commit has already.
    """

    cluster: str
    objects: int
    valid: int
    built: int
    conform: int
    skipped: int
    units: int
    units_built: int
    samples: int
    artifacts: int
    others: int
    by_unit: dict[str, int]
    left_out: tuple[str, ...] = ()
    files_left_out: int = 0


def count_objects(
    committed: Committed, valid: Sequence[str], built: Mapping[str, int], report: Report
) -> Count:
    """Return the numbers of what was verified.

    Args:
        committed: the files.
        valid: path of each object that fits the release's schemas.
        built: how many objects kustomize built of each unit that it builds.
        report: of kubeconform.
    """
    unlisted = committed.unlisted.keys()
    by_unit = {unit: committed.listed(unit) for unit in committed.units}
    rejected = {finding.stream for finding in report.rejected}
    return Count(
        cluster=committed.site.name,
        objects=sum(by_unit.values()),
        valid=sum(path not in unlisted for path in valid),
        built=sum(built.values()),
        conform=report.valid - len(unlisted - rejected),
        skipped=report.skipped,
        units=len(by_unit),
        units_built=len(built),
        samples=committed.samples,
        artifacts=len(unlisted) - committed.samples,
        others=len(committed.texts) - len(committed.manifests),
        by_unit=by_unit,
    )


def check_count(site: Site, count: Count) -> Iterator[Diagnostic]:
    """Yield a finding when the numbers of a cluster differ: some object was not looked at."""
    if count.skipped or len({count.objects, count.valid, count.built, count.conform}) > 1:
        message = (
            f"the kustomizations list {count.objects} objects, kustomize builds {count.built}; "
            f"{count.valid} are valid against the schemas, {count.conform} in kubeconform, which "
            f"skipped {count.skipped}"
        )
        yield OBJECTS_LOST.at(site.cluster.at, message)
