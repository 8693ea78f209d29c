"""`fit` says of each variant of a sample that a rehearsal sends what the rehearsal expects.

`trainyard rehearse` sends the same variants to real API servers; here no control plane runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.pages import ROOT
from trainyard.generation.generate import Generation, generate
from trainyard.generation.objects import component_manifests
from trainyard.model.manifest import Manifest
from trainyard.model.space import Sample
from trainyard_jobs.fit.case import Ground
from trainyard_jobs.fit.verdict import Link, Standing, Verdict
from trainyard_jobs.fit.walk import judge
from trainyard_jobs.workflows.fit import ground_of
from trainyard_rehearsal.checks.harmless import harmless_jobs
from trainyard_rehearsal.checks.hostile import hostile_jobs, jobs_over_limits
from trainyard_rehearsal.checks.variants import Variant, with_change
from trainyard_rehearsal.publication import sample_jobs

pytestmark = pytest.mark.e2e
COMPONENTS = "../profiles/components"


@pytest.fixture(scope="module")
def generation() -> Generation:
    """This repository's tree."""
    return generate(ROOT / "profiles", COMPONENTS)


def variants(sample: Sample, manifest: Manifest) -> Iterator[Variant]:
    for kind in (harmless_jobs, jobs_over_limits, hostile_jobs):
        yield from kind(sample, manifest.body)


def problem(variant: Variant, verdict: Verdict) -> str:
    """Return how a verdict differs from what a rehearsal expects; empty when it does not."""
    said = "; ".join(f"{each.link}: {each.message}" for each in verdict.checks)
    if (verdict.standing is Standing.NEVER) != bool(variant.refusal):
        return f"{variant.display[:200]}: {verdict.standing} ({said}), expected {variant.refusal!r}"
    early = {Link.FORM, Link.RUNTIME} & {each.link for each in verdict.deciding}
    if not early and variant.refusal not in said:
        return f"{variant.display[:200]}: {said}, without {variant.refusal!r}"
    return ""


def ground(generation: Generation, sample: Sample) -> Ground:
    assert generation.checked.platform is not None
    cluster = sample.space.cluster.name
    (site,) = (each for each in generation.checked.platform.sites if each.name == cluster)
    (tenant,) = (each for each in site.tenants if each.name == sample.space.team.name)
    manifests = (*generation.manifests[cluster], *component_manifests(site))
    found = ground_of(site, tenant, manifests, None)
    assert found.judge is not None, "build the evaluator: python -m tests.e2e.engines"
    return found


@pytest.mark.parametrize(("cluster", "least"), [("prod-east", 1000), ("lab", 1000)])
def test_variants_of_samples_are_judged_as_a_rehearsal_expects(
    generation: Generation, cluster: str, least: int
) -> None:
    assert generation.checked.platform is not None
    (site,) = (each for each in generation.checked.platform.sites if each.name == cluster)
    tried, problems = 0, []
    for sample, manifest in sample_jobs(site, generation.manifests[cluster], ""):
        found = list(variants(sample, manifest))
        judged = judge(ground(generation, sample), [each.body for each in found])
        tried += len(found)
        problems += [
            f"{manifest.name}: {words}"
            for each, one in zip(found, judged, strict=True)
            if (words := problem(each, one.verdict))
        ]
    assert not problems, f"{len(problems)} of {tried}:\n" + "\n".join(problems)
    assert tried > least


@pytest.mark.parametrize("cluster", ["prod-east", "lab"])
@pytest.mark.parametrize(
    "metadata",
    [
        {"labels": {"bad label!": "x"}},
        {"labels": {"a/b/c": "x"}},
        {"labels": {"x": "-"}},
        {"annotations": {"bad key!": "x"}},
        {"finalizers": ["no domain"]},
    ],
)
def test_metadata_that_the_api_server_refuses_is_named(
    generation: Generation, cluster: str, metadata: dict[str, Any]
) -> None:
    assert generation.checked.platform is not None
    (site,) = (each for each in generation.checked.platform.sites if each.name == cluster)
    sample, manifest = sample_jobs(site, generation.manifests[cluster], "")[0]
    on = ground(generation, sample)
    fine, refused = judge(on, [manifest.body, with_change(manifest.body, {"metadata": metadata})])

    assert fine.verdict.standing is Standing.ADMITTED
    assert [each.link for each in refused.verdict.deciding] == [Link.FORM]
