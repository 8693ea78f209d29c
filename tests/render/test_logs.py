"""How lines are kept, and which of them the forwarder drops."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Sequence
from typing import Any

import pytest
import yaml

from tests.rules.cases import platform_of
from trainyard.model.platform import Site
from trainyard.render.site import render_site
from trainyard.render.team_pages import team_pages
from trainyard.render.unit import readme
from trainyard.render.views.logs import CREDENTIALS
from trainyard.yaml_io.credentials import find_credentials

CLUSTER = "clusters/prod-east.yaml"
REGULATED: dict[str, Any] = {
    "compliance/iso.yaml": {"title": "ISO", "controls": {"fips": "1"}, "keepLogs": "30d"},
    "teams/nlp.yaml": {"compliance": "iso", "spaces": {"dev": {}}},
}


def site(logs: dict[str, Any] | None, changes: dict[str, Any] | None = None, **more: Any) -> Site:
    """Return the base cluster with logs, after some changes."""
    monitoring = {} if logs is None else {"monitoring": {"logs": logs}}
    return platform_of({**(changes or {}), CLUSTER: {**monitoring, **more}}).sites[0]


def forwarder(of: Site) -> dict[str, Any]:
    """Return the forwarder of a cluster; empty if it has none."""
    found = [each.body for each in render_site(of) if each.kind.name == "ClusterLogForwarder"]
    return found[0] if found else {}


def streams(page: str) -> list[tuple[str, str]]:
    """Return the namespaces of each period on a page, with the period."""
    found = re.findall(r'namespace(?:_name)?=~"([^"]+)"}\', priority: \d, (.*)}', page)
    assert [each for each in page.splitlines() if "priority: 1," in each] or not found
    return found


def test_every_line_is_kept_seven_days_unless_stated() -> None:
    """The names of all teams' namespaces begin alike, so a new team changes nothing."""
    assert streams(readme(site({}))) == [("team-.+", "days: 7")]
    assert streams(readme(site({"keep": "30d"}))) == [("team-.+", "days: 30")]
    assert streams(readme(site(None))) == []


def test_a_regulation_keeps_lines_longer_and_never_shorter() -> None:
    """In all namespaces of its teams."""
    longer = ("team-nlp|team-nlp-dev", "days: 30")

    assert streams(readme(site({}, REGULATED))) == [("team-.+", "days: 7"), longer]
    assert streams(readme(site({"keep": "90d"}, REGULATED))) == [("team-.+", "days: 90")]


def kept(page: str, namespace: str) -> str:
    """Return how long Loki keeps the lines of a namespace, by the limits on a page.

    The selector with the highest priority counts, and a regular expression is of the whole label
    (grafana/loki:docs/sources/operations/storage/retention.md@v3.7.8). Without one, "".
    """
    (block,) = re.findall(r"^      limits_config:\n(?:      .*\n)+", page, re.MULTILINE)
    limits = yaml.safe_load(textwrap.dedent(block))["limits_config"]
    assert set(limits) == {"retention_stream"}
    found = {}
    for each in limits["retention_stream"]:
        (names,) = re.findall(r'^{namespace=~"([^"]+)"}$', each["selector"])
        if re.fullmatch(names, namespace):
            found[each["priority"]] = each["period"]
    return found[max(found)] if found else ""


@pytest.mark.parametrize(
    ("keep", "periods"),
    [(None, ("168h", "720h", "168h")), ("30d", ("720h",) * 3), ("90d", ("2160h",) * 3)],
)
def test_loki_of_plain_kubernetes_gets_hours(keep: str | None, periods: Sequence[str]) -> None:
    """By the label that the collectors of Grafana give a stream; other namespaces get none."""
    logs = {"keep": keep} if keep else {}
    page = readme(site(logs, REGULATED, release="kubernetes-1.36"))

    others, regulated, alike = periods
    assert kept(page, "team-vision") == others
    assert {kept(page, each) for each in ("team-nlp", "team-nlp-dev")} == {regulated}
    assert kept(page, "team-nlp-developers") == alike
    assert kept(page, "default") == ""


@pytest.mark.parametrize(("logs", "days"), [({}, 30), ({"keep": "90d"}, 90), (None, 0)])
def test_page_of_a_team_says_how_long_its_lines_are_kept(
    logs: dict[str, Any] | None, days: int
) -> None:
    pages = {tenant.name: text for _, tenant, text in team_pages(site(logs, REGULATED))}

    assert ("The lines of all pods" in pages["nlp"]) is bool(days)
    assert f"are kept {days} days" in pages["nlp"] or not days


def test_only_openshift_has_a_forwarder_and_roles_for_its_store() -> None:
    """And only where the cluster states logs."""
    for cluster, has_it in (
        (site({}), True),
        (site(None), False),
        (site({}, release="kubernetes-1.36"), False),
    ):
        roles = [each.body for each in render_site(cluster) if each.kind.name == "ClusterRole"]
        asked = {each["metadata"]["name"] for each in roles if "loki.grafana.com" in str(each)}
        assert bool(forwarder(cluster)) is has_it
        assert ("trainyard-team-viewer" in asked) is has_it
        assert ("openshift-logging" in readme(cluster)) is has_it


def test_one_container_does_not_fill_the_store_of_all_teams() -> None:
    """Every input has a limit: a rank with NCCL's traces writes more than the store takes."""
    inputs = forwarder(site({}))["spec"]["inputs"]

    limits = [each["application"]["tuning"]["rateLimitPerContainer"] for each in inputs]
    assert limits
    assert all(0 < limit["maxRecordsPerSecond"] <= 1000 for limit in limits)


def test_owner_of_another_collector_is_asked_for_that_limit() -> None:
    asked = "1,000 lines of a container"
    assert asked in readme(site({}, release="kubernetes-1.36"))
    assert asked not in readme(site({}))


def test_forwarder_drops_lines_only_where_it_is_asked_to() -> None:
    kept = forwarder(site({}))["spec"]
    dropping = forwarder(site({"dropCredentials": True}))["spec"]

    assert "filters" not in kept
    assert "filterRefs" not in kept["pipelines"][0]
    assert dropping["pipelines"][0]["filterRefs"] == ["credentials"]
    found = [each["test"][0]["matches"] for each in dropping["filters"][0]["drop"]]
    assert found == list(CREDENTIALS)


SAMPLES = (
    "AKIA" + "QYLPMN5HFIQR7XYA",
    "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "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",
    "glpat-" + "aB3dE5gH7jK9mN1pQ3sT",
    "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH",
    "nvapi-" + "aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1pQ3sTaB3d",
    (
        "eyJhbGciOiJSUzI1NiIsImtpZCI6IiJ9"
        ".eyJpc3MiOiJrdWJlcm5ldGVzL3NlcnZpY2VhY2NvdW50In0.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg"
    ),
    "-----BEGIN RSA " + "PRIVATE KEY-----",
)
"""One of each form, put together here so that no scanner takes them for real."""


@pytest.mark.parametrize(("pattern", "sample"), [*zip(CREDENTIALS, SAMPLES, strict=True)])
def test_each_form_is_one_that_profiles_may_not_have_either(pattern: str, sample: str) -> None:
    """What the forwarder drops, `validate` finds in a profile."""
    assert re.search(pattern, f"step 12 loss 0.31 {sample} end")
    assert [each for each in CREDENTIALS if re.search(each, sample)] == [pattern]
    body = f"{sample}\n{'A' * 64}\n" if "BEGIN" in sample else sample
    assert list(find_credentials(f"note: {json.dumps(body)}"))


@pytest.mark.parametrize(
    "line",
    [
        "step 100/1000 loss=2.3456 lr=1e-4 tokens/s=12345",
        "tokens_per_second: 81234, key: value, secret_length=16",
        "NCCL INFO Channel 00/32 : 0 1 2 3 4 5 6 7",
        "loaded hf_model from /mnt/home/hf_cache/models--bert-base-uncased",
        "sha256:9f2c1d7ab7b1f6f65b9d7c1ed6a7d0e1cf3e1a4f8a5d2bb0e6e0f0f7c5a4b3d2",
        "eyebrow.eyelid.eye",
    ],
)
def test_lines_of_training_are_not_dropped(line: str) -> None:
    assert not [each for each in CREDENTIALS if re.search(each, line)]


def test_patterns_are_of_the_engine_of_the_forwarder() -> None:
    """Its regular expressions have no look-around and no references, and its field no quote."""
    assert not [each for each in CREDENTIALS if re.search(r"\(\?[=!<P]|\\[1-9]|'", each)]
