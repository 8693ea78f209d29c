"""The policies of each cluster refuse the names that its own objects and controllers need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from trainyard.model import names, reserved
from trainyard.model.admission import Answer, Request
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.space import Space
from trainyard.profiles.read import load
from trainyard.render.site import render_site
from trainyard.resolve.platform import resolve
from trainyard.schema.defaults import filled
from trainyard.yaml_io.emitter import emit
from trainyard_jobs.admission.evaluator import judge_of
from trainyard_jobs.fit.form import defaulted
from trainyard_rehearsal.checks.jobs import member, with_name
from trainyard_rehearsal.checks.refusals import TRAINER_ONLY
from trainyard_rehearsal.checks.taken_names import JOB_NAME, RESERVED

Body = dict[str, Any]

pytestmark = pytest.mark.e2e


def sites() -> list[Site]:
    """Return the clusters of this repository."""
    platform, _ = resolve(filled(load(Path("profiles"))[0]))
    return list(platform.sites)


def asked(space: Space, body: Body, resource: str) -> Request:
    """Return the creation of an object by an admin of a team."""
    user, groups = member(space, "admin")
    return Request(body, resource, user, tuple(groups))


def objects(space: Space) -> Iterator[tuple[Body, str, str]]:
    """Yield ConfigMaps and claims with their expected refusals; empty for an ordinary name."""
    site = next(each for each in sites() if each.name == space.cluster.name)
    for name in (*reserved.config_maps(site), f"{names.RESERVED_PREFIX}x"):
        yield plain("ConfigMap", name, space), "configmaps", RESERVED
    yield plain("ConfigMap", "solver", space), "configmaps", ""
    for row in site.cluster.release.derived_names:
        if row.of == "TrainJob" and row.kind == "ConfigMap":
            body = plain("ConfigMap", row.name.replace("*", "x"), space)
            yield body, "configmaps", TRAINER_ONLY
    for storage_class in space.claimable_classes:
        spec = {"storageClassName": storage_class}
        for name in (*reserved.claims(site), f"{names.RESERVED_PREFIX}x"):
            yield plain("PersistentVolumeClaim", name, space) | {"spec": spec}, CLAIMS, RESERVED
        yield plain("PersistentVolumeClaim", "mine", space) | {"spec": spec}, CLAIMS, ""


CLAIMS = "persistentvolumeclaims"


def plain(kind: str, name: str, space: Space) -> Body:
    """Return an object without content."""
    metadata = {"name": name, "namespace": space.namespace}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata}


def judged(site: Site, manifests: tuple[Manifest, ...], requests: list[Request]) -> list[Answer]:
    """Return the answers of a cluster's policies."""
    judge = judge_of(site.cluster.release.versions["kubernetes"], manifests)
    assert judge is not None, "build the evaluator: python -m tests.e2e.engines"
    return list(judge(requests))


@pytest.mark.parametrize("site", sites(), ids=lambda site: site.name)
def test_members_can_not_take_names_of_the_tree(site: Site) -> None:
    """Neither those that are there nor those that begin as later ones may."""
    # The evaluator knows no parameters that are not ConfigMaps; this policy judges no name.
    manifests = tuple(each for each in render_site(site) if "object-count" not in each.name)
    cases = [
        (space, *case)
        for tenant in site.tenants
        for space in tenant.spaces
        for case in objects(space)
    ]
    requests = [asked(space, body, resource) for space, body, resource, _ in cases]
    for (_, body, _, refusal), answer in zip(cases, judged(site, manifests, requests), strict=True):
        text = emit(body).decode()
        assert bool(refusal) == bool(answer.error), (text, answer)
        assert refusal in answer.error, (text, answer)
    assert {refusal for *_, refusal in cases} >= {RESERVED, TRAINER_ONLY, ""}


@pytest.mark.parametrize("site", sites(), ids=lambda site: site.name)
def test_no_job_can_have_a_name_that_a_controller_gives(site: Site) -> None:
    """Each NetworkPolicy of a namespace, each pattern of another controller, and a plain name."""
    manifests = render_site(site)
    policies = {each.name for each in manifests if each.body["kind"] == "NetworkPolicy"}
    release = site.cluster.release
    wrong = {pattern.replace("*", "x") for pattern in reserved.job_names(site)}
    wrong |= policies if release.isolates_jobs else set()
    spaces = {space.namespace: space for tenant in site.tenants for space in tenant.spaces}
    samples = {each.namespace: each.body for each in manifests if each.body["kind"] == "TrainJob"}
    assert samples
    cases = [
        (name, spaces[namespace], with_name(body, name))
        for namespace, body in samples.items()
        for name in (*sorted(wrong), body["metadata"]["name"])
    ]
    patches = release.patches_runtimes
    requests = [
        asked(space, defaulted(body, patches_runtimes=patches, has_default_queue=True), "trainjobs")
        for _, space, body in cases
    ]
    for (name, *_), answer in zip(cases, judged(site, manifests, requests), strict=True):
        assert (JOB_NAME in answer.error) == (name in wrong), (name, answer)
        assert name in wrong or answer.admitted, (name, answer)
