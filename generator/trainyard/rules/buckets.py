"""Object storage: buckets, and the way to them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Note, Pointer, Rule, Severity
from trainyard.model.network import Egress
from trainyard.model.platform import Platform, Site
from trainyard.model.space import Space
from trainyard.model.storage import Storage
from trainyard.rules._check import Check

_SERVICE = re.compile(r"[^.]+[.]([^.]+)[.]svc([.]cluster[.]local)?")

BUCKET_WITHOUT_EGRESS = Rule(
    id="isolation/bucket-without-egress",
    severity=Severity.WARNING,
    summary="Where teams ask for buckets, a way out leads jobs to the object store.",
    why=(
        "Only what `egress` names is open: the job starts, and its first access to the bucket ends with a time-out."
        " Whether the addresses are those of the store can't be told here."
    ),
    fix="Add an `egress` to the store's addresses and port, or to its namespace, with `from: jobs` or without `from`.",
)
CLEAR_TEXT_ENDPOINT = Rule(
    id="isolation/clear-text-endpoint",
    severity=Severity.WARNING,
    summary="Object stores are reached over https.",
    why="Datasets and checkpoints pass in the clear, and whoever stands between may exchange a model for another.",
    fix="Use the store's https address.",
)
BUCKET_OF_TWO_TEAMS = Rule(
    id="isolation/bucket-of-two-teams",
    severity=Severity.WARNING,
    summary="A bucket belongs to one team.",
    why="Each may read, overwrite and delete the other's data: a job can go on from the other team's checkpoint.",
    fix="Make a bucket for each; waive this for one that both only read from.",
)


def bucket_without_egress(platform: Platform) -> Iterator[Diagnostic]:
    """Look for a way of jobs to each store that some team has a bucket in."""
    for site in platform.sites:
        for storage in _stores(site):
            host, port = _target(storage)
            if not any(_leads_to(egress, host, port) for egress in site.cluster.egress):
                message = f"no way out leads jobs to port {port} of {host}, where storage `{storage.name}` is"
                notes = [Note("ways out", site.cluster.at / "egress")]
                yield BUCKET_WITHOUT_EGRESS.at(storage.at / "s3" / "endpoint", message, notes=notes)


def _stores(site: Site) -> Iterator[Storage]:
    asked = {secret.name for tenant in site.tenants for space in tenant.spaces for secret in space.buckets}
    return (storage for storage in site.cluster.storage if storage.name in asked)


def _target(storage: Storage) -> tuple[str, int]:
    """Return host and port of a store's address."""
    scheme, _, rest = storage.endpoint.partition("://")
    host, _, port = rest.partition("/")[0].partition(":")
    return host, int(port or (80 if scheme == "http" else 443))


def _leads_to(egress: Egress, host: str, port: int) -> bool:
    """Tell whether jobs may go to a host by a way out.

    Of a service in the cluster only the namespace is known: the port that counts is that of its pods.
    """
    service = _SERVICE.fullmatch(host)
    there = service[1] in egress.namespaces if service else bool(egress.cidrs) and port in egress.ports
    return there and egress.source != "workspaces"


def clear_text_endpoint(platform: Platform) -> Iterator[Diagnostic]:
    """Find stores that are reached over http."""
    for site in platform.sites:
        for storage in site.cluster.storage:
            if storage.endpoint.startswith("http://"):
                message = f"storage `{storage.name}` is reached at {storage.endpoint}, in the clear"
                yield CLEAR_TEXT_ENDPOINT.at(storage.at / "s3" / "endpoint", message)


def bucket_of_two_teams(platform: Platform) -> Iterator[Diagnostic]:
    """Find buckets of an earlier team among those of a later one, whatever the clusters."""
    known: dict[tuple[str, str], dict[str, Pointer]] = {}
    for space in _spaces(platform):
        for secret in space.buckets:
            holders = known.setdefault((secret.endpoint, secret.bucket), {})
            holders.setdefault(space.team.name, space.profile.at / "storage" / secret.name)
    for (_, bucket), holders in known.items():
        (first, where), *others = holders.items()
        for team, at in others:
            message = f"bucket `{bucket}` is that of teams {first} and {team}"
            yield BUCKET_OF_TWO_TEAMS.at(at, message, notes=[Note(f"team {first}", where)])


def _spaces(platform: Platform) -> Iterator[Space]:
    return (space for site in platform.sites for tenant in site.tenants for space in tenant.spaces)


CHECKS = (
    Check(BUCKET_WITHOUT_EGRESS, bucket_without_egress),
    Check(CLEAR_TEXT_ENDPOINT, clear_text_endpoint),
    Check(BUCKET_OF_TWO_TEAMS, bucket_of_two_teams),
)
