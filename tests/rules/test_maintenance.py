"""Edges of the rules about nodes in maintenance, and what is left of quotas."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rules.cases import findings, platform_of
from trainyard.diagnostics import has_errors
from trainyard.model.held import held_queues
from trainyard.model.platform import Site
from trainyard.render.site import render_site

CLUSTER, NLP, VISION = "clusters/prod-east.yaml", "teams/nlp.yaml", "teams/vision.yaml"


def nodes(count: int) -> list[str]:
    return [f"gpu-{number}" for number in range(count)]


def pool(*entries: dict[str, Any], **fields: Any) -> dict[str, Any]:
    dated = [{"until": "2026-12-01", "reason": "new cables", **each} for each in entries]
    return {CLUSTER: {"pools": {"dgx-h100": {"maintenance": dated, **fields}}}}


def messages(changes: dict[str, Any]) -> set[str]:
    return {each.rule for each in findings(changes)}


def hints(changes: dict[str, Any], rule: str) -> list[str]:
    return [each.hint for each in findings(changes) if each.rule == f"capacity/{rule}"]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([{"nodes": nodes(1)}], set()),
        ([{"nodes": nodes(2)}], {"maintenance-exceeds-reserve"}),
        ([{"nodes": nodes(2), "from": {"nlp": 1}}], set()),
        ([{"nodes": nodes(2), "from": {"nlp": 2}}], {"maintenance-takes-too-much"}),
        # Each entry may give its part.
        (
            [{"nodes": ["a", "b"], "from": {"nlp": 1}}, {"nodes": ["c"], "from": {"vision": 1}}],
            set(),
        ),
        ([{"nodes": nodes(9)}], set()),
        ([{"nodes": nodes(10)}], {"maintenance-exceeds-pool"}),
        (
            [{"nodes": nodes(2), "from": {"nobody": 1}}],
            {"maintenance-exceeds-quota", "maintenance-exceeds-reserve"},
        ),
        ([{"nodes": ["a"]}, {"nodes": ["a"]}], {"node-maintained-twice"}),
    ],
)
def test_rules_agree_with_the_numbers(entries: list[dict[str, Any]], expected: set[str]) -> None:
    assert messages(pool(*entries)) == {f"capacity/{each}" for each in expected}


@pytest.mark.parametrize("name", ["GPU-07", "gpu_07", "-gpu", "gpu-", "gpu..07", "", "a" * 64, 7])
def test_name_that_no_node_can_have_is_refused(name: object) -> None:
    with pytest.raises(AssertionError, match=r"shape/.*item 1 of `nodes`"):
        platform_of(pool({"nodes": [name]}))


@pytest.mark.parametrize("name", ["gpu-07", "gpu-07.ml.example.com", "10-0-0-7"])
def test_names_of_nodes_are_accepted(name: str) -> None:
    assert findings(pool({"nodes": [name]})) == []


def test_hint_is_the_edit_that_puts_it_right() -> None:
    """It keeps what is stated, and takes the next node from the team with the most."""
    entry = {"nodes": nodes(4), "from": {"nlp": 1}}
    (hint,) = hints(pool(entry), "maintenance-exceeds-reserve")
    assert hint.startswith("Set `from: {nlp: 2, vision: 1}` in the maintenance until 2026-12-01")
    assert findings(pool({**entry, "from": {"nlp": 2, "vision": 1}})) == []


def test_oversubscribed_pool_is_reported_alone() -> None:
    changes = {
        **pool({"nodes": nodes(2)}),
        NLP: {"quota": {"prod-east": {"dgx-h100": {"nodes": 5}}}},
    }
    assert messages(changes) == {"capacity/oversubscribed"}


@given(st.integers(0, 9), st.integers(0, 4), st.integers(0, 4))
def test_quota_never_exceeds_the_nodes_in_use(out: int, nlp: int, vision: int) -> None:
    """Whatever is accepted, the nominal quota of the tree fits the nodes that are left."""
    taken = {team: number for team, number in (("nlp", nlp), ("vision", vision)) if number}
    entry = {"nodes": nodes(out), **({"from": taken} if taken else {})}
    changes = pool(entry) if out else {}
    if has_errors(findings(changes)):
        assert nlp + vision < out - 1 < 8
        return
    (site,) = platform_of(changes).sites
    assert sum(_gpus(site).values()) <= 8 * (9 - out)
    assert held_queues(site) == {name for name, gpus in _gpus(site).items() if gpus < 16}


def _gpus(site: Site) -> dict[str, int]:
    """Return the nominal GPUs of each ClusterQueue; the smallest job has two nodes with eight."""
    found = {}
    for each in render_site(site):
        if each.body["kind"] == "ClusterQueue":
            (flavor,) = each.body["spec"]["resourceGroups"][0]["flavors"]
            amounts = {one["name"]: one["nominalQuota"] for one in flavor["resources"]}
            found[each.name] = int(amounts["nvidia.com/gpu"])
    return found


def test_share_is_taken_as_a_whole() -> None:
    """Its team has the pods of one job."""
    share = {"gpus": 4, "nodes": None, "lend": None}
    shares = {
        NLP: {"quota": {"prod-east": {"dgx-h100": share}}, "largestJob": None, "cohort": None},
        VISION: {"quota": {"prod-east": {"dgx-h100": share}}, "largestJob": None, "cohort": None},
    }
    part = {"nodes": nodes(1), "from": {"nlp": 2}}
    changes = {**pool(part, nodes=1, reserve=0), **shares}
    assert "capacity/maintenance-exceeds-quota" in messages(changes)
    assert hints(changes, "maintenance-exceeds-quota") == ["Set `nlp: 4`."]
