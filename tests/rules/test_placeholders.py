"""Placeholders: every value that `init` writes and nobody can have, and none that somebody may
have."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.resolve.changes import CLUSTER, RUNTIME
from tests.rules.cases import messages
from tests.scaffold.folders import begun
from tests.workflows.test_generate import change
from trainyard.diagnostics import Diagnostic
from trainyard.rules.delivery.placeholder_left import RULE as PLACEHOLDER_LEFT
from trainyard.workflows.generate import check

LEFT = PLACEHOLDER_LEFT.id


def left(root: Path) -> list[Diagnostic]:
    """Return the placeholders in profiles."""
    return [each for each in check(root).diagnostics if each.rule == LEFT]


def test_every_placeholder_of_a_new_repository_is_told_until_it_is_replaced(tmp_path: Path) -> None:
    """Each stands on a line that says so, or below one."""
    begun(tmp_path)
    profiles = tmp_path / "profiles"
    told = {
        each.at.file.removeprefix("profiles/"): each.message.split(" is ")[0]
        for each in left(profiles)
    }
    lines = {path: (profiles / path).read_text(encoding="utf-8") for path in told}

    assert len(left(profiles)) == 4
    assert told.keys() == {"trainyard.yaml", "clusters/lab.yaml", "runtimes/openmpi.yaml"}
    assert all("# placeholder: " in text for text in lines.values())
    change(profiles, "trainyard.yaml", "git.example.com", "git.corp.internal")
    change(profiles, "clusters/lab.yaml", "nfs.example.com", "nfs.corp.internal")
    change(profiles, "clusters/lab.yaml", "192.0.2.0/24", "10.20.0.0/24")
    change(profiles, "runtimes/openmpi.yaml", "0" * 64, "1" * 64)
    assert left(profiles) == []


@pytest.mark.parametrize(
    ("repository", "host"),
    [
        ("https://git.example.com/ml.git", "git.example.com"),
        ("https://EXAMPLE.org/ml.git", "example.org"),
        ("ssh://git@git.example.net:22/ml.git", "git.example.net"),
        ("https://git.corp.example/ml.git", "git.corp.example"),
        ("https://git.notexample.com/ml.git", ""),
        ("https://git.corp.internal/example.com/ml.git", ""),
        ("https://example.com.corp.internal/ml.git", ""),
    ],
)
def test_reserved_host_is_a_placeholder(repository: str, host: str) -> None:
    """The host counts, whatever stands around it."""
    told = messages(LEFT, {"trainyard.yaml": {"repository": repository}})

    assert [each.split("`")[1] for each in told] == [host] * bool(host)


@pytest.mark.parametrize("network", ["192.0.2.64/26", "198.51.100.0/24", "203.0.113.0/24"])
def test_documentation_network_is_a_placeholder(network: str) -> None:
    """All three ranges of RFC 5737, and parts of them."""
    (told,) = messages(LEFT, {CLUSTER: {"networks": {"machines": network}}})

    assert told.startswith(f"{network} is a placeholder")


def test_image_of_steps_is_looked_at() -> None:
    """Once, however many steps it has."""
    image = f"registry.corp.internal/ml/data@sha256:{'0' * 64}"
    steps = {"image": image, "volume": "home", "dataset": True, "model": True}
    (told,) = messages(LEFT, {RUNTIME: {"initialize": steps}})

    assert "`registry.corp.internal/ml/data`" in told
