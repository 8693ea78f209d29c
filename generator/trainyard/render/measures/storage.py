"""Encrypted storage: claims and buckets, whose encryption the cluster's profile states."""

from __future__ import annotations

from trainyard.model import names
from trainyard.model.manifest import Manifest
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
    plain = [each.name for each in used if not each.encrypted]
    if plain:
        how = f"storage that is not stated to be encrypted: {listed(plain)}"
        return Answer(how, objects, OPEN)
    stated = listed(each.name for each in used)
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
    return [each for each in place.site.cluster.storage if each.name in wanted]


def _objects(tenant: Tenant, place: SiteObjects) -> list[Manifest]:
    volumes = {claim.volume for claim in tenant.made_volumes}
    buckets = {secret.name for space in tenant.spaces for secret in space.buckets}
    secrets = [each for each in place.own(tenant, "ExternalSecret") if each.name in buckets]
    claims = place.own(tenant, "PersistentVolumeClaim")
    return [*place.of("PersistentVolume", volumes), *secrets, *claims]
