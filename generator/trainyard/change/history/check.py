"""Run every rule about a change of the committed tree."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.change.history import (
    allocations,
    claims,
    domains,
    fields,
    flavors,
    ids,
    namespaces,
    rails,
    renamed,
    reserved,
    runtimes,
    teams,
    units,
)
from trainyard.change.history.replacement import Replacement
from trainyard.diagnostics import Diagnostic

CHECKS = (
    runtimes.runtime_edited_in_place,
    fields.immutable_field,
    claims.claim_grows_too_far,
    flavors.flavor_leaves_queue,
    rails.rails_renamed,
    namespaces.namespace_left_behind,
    allocations.allocation_moved,
    allocations.allocation_given_away,
    ids.uids_gone,
    ids.uids_moved,
    ids.uids_left_behind,
    ids.uids_given_away,
    teams.retired_without_draining,
    renamed.renamed_without_draining,
    renamed.claim_left_behind,
    renamed.folder_left_behind,
    reserved.name_not_reserved,
    units.object_changes_unit,
)


def check_replacement(replacement: Replacement) -> Iterator[Diagnostic]:
    """Yield what breaks when a cluster's committed objects are replaced."""
    # With another domain every object differs, and other findings would hide the cause.
    if moved := list(domains.domain_moved(replacement)):
        yield from moved
        return
    for check in CHECKS:
        yield from check(replacement)
