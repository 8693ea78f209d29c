"""`trainyard drift`: what somebody changed by hand, in the words of `diff`."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.change.hand_made import Body, changed, read, stored
from tests.cli.calls import REPOSITORY, Ended, edit
from trainyard.cli.document import envelope
from trainyard.generation.generate import generate
from trainyard.generation.objects import component_manifests
from trainyard.model.facts import Resource, Unread
from trainyard.model.manifest import Manifest
from trainyard.model.platform import Site
from trainyard.model.readable import TABLE, resource_of
from trainyard.yaml_io.manifests import parse_manifests

pytestmark = pytest.mark.usefixtures("tree")
Call = Callable[..., Ended]
FILE = "facts.json"
EDITS = parse_manifests((REPOSITORY / "tests/change/drift.yaml").read_text("utf-8"))[0]


@cache
def site_of(cluster: str) -> tuple[Site, tuple[Manifest, ...]]:
    generation = generate(REPOSITORY / "profiles", "../profiles/components")
    assert generation.checked.platform
    sites = {site.name: site for site in generation.checked.platform.sites}
    manifests = generation.manifests[cluster]
    return sites[cluster], (*manifests, *component_manifests(sites[cluster]))


@cache
def _synced(cluster: str) -> dict[str, Body]:
    return stored(*site_of(cluster))


def synced(cluster: str = "lab") -> dict[str, Body]:
    """Return the objects of a cluster that nobody has touched."""
    return deepcopy(_synced(cluster))


def write(objects: dict[str, Body], cluster: str = "lab", **unread: str) -> None:
    """Write the facts of a cluster."""
    site, _ = site_of(cluster)
    facts = read(site, objects.values())
    reasons = tuple(Unread(name, why) for name, why in sorted(unread.items()))
    Path(FILE).write_text(envelope("facts", replace(facts, unread=reasons)), "utf-8")


@pytest.mark.parametrize("cluster", ["lab", "prod-east"])
def test_cluster_that_nobody_touched_has_no_difference(trainyard: Call, cluster: str) -> None:
    """What the API server and controllers add is none."""
    write(synced(cluster), cluster)
    ended = trainyard("drift", cluster, "--from", FILE)
    assert (ended.code, ended.err) == (0, ""), ended
    assert ended.out.startswith(f"{cluster}: no difference in ")
    assert len(ended.out.splitlines()) == 1, ended.out


def test_table_has_at_least_thirty_changes() -> None:
    assert len(EDITS) >= 30
    assert len({each["edit"] for each in EDITS}) == len(EDITS)


@pytest.mark.parametrize("hand", EDITS, ids=lambda hand: hand["edit"])
def test_each_change_is_said_in_words(trainyard: Call, hand: dict[str, Any]) -> None:
    """In one object; the first line has the worst."""
    write(changed(synced(), hand))
    ended = trainyard("drift", "lab", "--from", FILE)
    assert (ended.code, ended.err) == (1, ""), ended
    first, *lines = ended.out.splitlines()
    assert hand.get("head", "") in first
    for words in hand["says"]:
        assert any(words in line for line in lines), f"{words!r} is not in\n{ended.out}"
    assert sum("1 " in line for line in lines if line.startswith(("team ", "platform: "))) == 1
