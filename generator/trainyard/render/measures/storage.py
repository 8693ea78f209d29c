"""Encrypted storage: claims and buckets, whose encryption the cluster's profile states."""

from __future__ import annotations

from itertools import chain

from trainyard.model import names
from trainyard.model.manifest import Manifest
from trainyard.model.named import by_name
from trainyard.model.storage import Storage
from trainyard.model.tenant import Tenant
from trainyard.render.markdown import code
from trainyard.render.measures.answer import NOT_APPLICABLE, OPEN, Answer, SiteObjects, listed


def storage(tenant: Tenant, place: SiteObjects) -> Answer:
    """Answer with the statements of the cluster's profile about the team's storage."""
    used = _used(tenant, place)
    if not used:
        return Answer("the team has no claim and no bucket", state=NOT_APPLICABLE)
    objects = _objects(tenant, place)
    plain = [kept.name for kept in used if not kept.encrypted]
    if plain:
        how = f"storage that is not stated to be encrypted: {listed(plain)}"
        return Answer(how, objects, OPEN)
    stated = listed(by_name(used))
    profile = code(place.site.cluster.at.file)
    policies = place.of("ValidatingAdmissionPolicy", {names.TENANT_OBJECTS})
    return Answer(
        f"{profile} states `encrypted: true` of the team's storage: {stated}; admission refuses "
        "its admins' claims of any other class",
        [*policies, *objects],
    )


def _used(tenant: Tenant, place: SiteObjects) -> list[Storage]:
    """Return the storage that the team asks for, or that its admins may claim."""
    wanted: set[str] = set()
    for space in tenant.spaces:
        wanted.update(space.profile.storage)
        wanted.update(allowance.storage.name for allowance in space.allowances)
    return [kept for kept in place.site.cluster.storage if kept.name in wanted]


def _objects(tenant: Tenant, place: SiteObjects) -> list[Manifest]:
    volumes = {claim.volume for claim in tenant.made_volumes}
    buckets = by_name(chain.from_iterable(space.buckets for space in tenant.spaces))
    own_secrets = place.own(tenant, "ExternalSecret")
    secrets = [secret for secret in own_secrets if secret.name in buckets]
    claims = place.own(tenant, "PersistentVolumeClaim")
    return [*place.of("PersistentVolume", volumes), *secrets, *claims]
