"""What a team's members write beside jobs, ConfigMaps and claims: nothing in it may steer a controller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from trainyard.diagnostics import Pointer
from trainyard.model.space import Space
from trainyard_rehearsal.checks.admission import Tries, Try, config_map
from trainyard_rehearsal.checks.attempts import claim_spec
from trainyard_rehearsal.checks.hostile import RESERVED
from trainyard_rehearsal.checks.jobs import as_user
from trainyard_rehearsal.checks.steering import STEERING
from trainyard_rehearsal.checks.variants import shown, with_change
from trainyard_rehearsal.control_plane.api import Api, Body
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.outcome import Outcome

_BYTES = "may hold 256 KiB"
_CLASS = "spec.storageClassName must be one of"
_VOLUME = "a claim must not choose its volume"
_COUNT = "exceeded quota"

_CLAIMS: tuple[tuple[Body, str], ...] = (
    ({"spec": {"storageClassName": None}}, _CLASS),
    ({"spec": {"storageClassName": ""}}, _CLASS),
    ({"spec": {"storageClassName": "of-nobody"}}, _CLASS),
)
_CLAIMS_OF_A_CLASS: tuple[tuple[Body, str], ...] = (
    ({"spec": {"volumeName": "of-another-team"}}, _VOLUME),
    (
        {"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "of-nobody"}}},
        _VOLUME,
    ),
    ({"metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}}, _VOLUME),
    ({"spec": {"resources": {"requests": {"storage": "900Pi"}}}}, _COUNT),
)


def check_tenant_objects(lab: Lab, spaces: Sequence[Space]) -> Iterator[Outcome]:
    """Try what a member of each namespace could write, and a ConfigMap and a claim as they should be.

    Args:
        lab: with the tree applied.
        spaces: whose members try.
    """
    bad, good = Tries(), Tries()
    for space in spaces:
        bad.make(_config_maps(lab, space))
        bad.make(_claims(lab, space))
        good.make(_good(lab, space))
    yield bad.outcome("hostile objects refused")
    yield good.outcome("a member's own objects pass")


def _config_maps(lab: Lab, space: Space) -> Iterator[Try]:
    """Yield ConfigMaps that are new, and changes to one that stands: it has the namespace's certificates."""
    user, at, plain = as_user(lab.api, space), space.team.at, config_map(space)
    stands = config_map(space, "kube-root-ca.crt")
    for metadata, words in STEERING:
        change = {"metadata": metadata}
        yield _create(user, with_change(plain, change), words, at)
        yield Try(
            f"{space.namespace}: {shown(change)}",
            partial(user.patch, stands, change, dry_run=True),
            at,
            words,
        )
    for ending in space.cluster.release.reserved_config_maps:
        yield _create(user, config_map(space, f"job{ending}"), RESERVED, at)
    yield _create(user, {**plain, "data": {"a": "x" * 200_000, "b": "x" * 100_000}}, _BYTES, at)
    yield _create(user, {**plain, "binaryData": {"a": "AAAA" * 90_000}}, _BYTES, at)


def _claims(lab: Lab, space: Space) -> Iterator[Try]:
    if not space.team.groups.get("admin"):
        return
    admin, at = as_user(lab.api, space, "admin"), space.team.at
    for change, words in _CLAIMS:
        yield _create(admin, with_change(_claim(space, ""), change), words, at)
    for name in space.claimable_classes:
        for change, words in _CLAIMS_OF_A_CLASS:
            yield _create(admin, with_change(_claim(space, name), change), words, at)
        for metadata, words in STEERING:
            yield _create(
                admin, with_change(_claim(space, name), {"metadata": metadata}), words, at
            )


def _good(lab: Lab, space: Space) -> Iterator[Try]:
    user, at = as_user(lab.api, space), space.team.at
    yield _create(user, {**config_map(space), "data": {"script": "x" * 200_000}}, "", at)
    if space.team.groups.get("admin"):
        admin = as_user(lab.api, space, "admin")
        yield from (_create(admin, _claim(space, name), "", at) for name in space.claimable_classes)


def _create(api: Api, body: Body, words: str, at: Pointer) -> Try:
    what = shown({key: value for key, value in body.items() if key in {"metadata", "spec"}})
    return Try(f"{body['kind']} {what}"[:200], partial(api.create, body, dry_run=True), at, words)


def _claim(space: Space, storage_class: str) -> Body:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "rehearsal", "namespace": space.namespace},
        "spec": claim_spec(storage_class),
    }
