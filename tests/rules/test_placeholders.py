"""Placeholders: values that `init` writes and that no site can have."""

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


def test_placeholders_of_a_new_repository_are_reported_until_replaced(tmp_path: Path) -> None:
    """A comment in the file marks each of them."""
    begun(tmp_path)
    profiles = tmp_path / "profiles"
    files = {each.at.file.removeprefix("profiles/") for each in left(profiles)}

    assert len(left(profiles)) == 4
    assert files == {"trainyard.yaml", "clusters/lab.yaml", "runtimes/openmpi.yaml"}
    assert all("# placeholder: " in (profiles / file).read_text("utf-8") for file in files)
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
    """Only the host of an address matters."""
    found = messages(LEFT, {"trainyard.yaml": {"repository": repository}})

    assert [each.split("`")[1] for each in found] == [host] * bool(host)


@pytest.mark.parametrize("network", ["192.0.2.64/26", "198.51.100.0/24", "203.0.113.0/24"])
def test_documentation_network_is_a_placeholder(network: str) -> None:
    """All three ranges of RFC 5737, and parts of them."""
    (message,) = messages(LEFT, {CLUSTER: {"networks": {"machines": network}}})

    assert message.startswith(f"{network} is a placeholder")


def test_image_of_steps_is_reported_once() -> None:
    """The number of steps does not matter."""
    image = f"registry.corp.internal/ml/data@sha256:{'0' * 64}"
    steps = {"image": image, "volume": "home", "dataset": True, "model": True}
    (message,) = messages(LEFT, {RUNTIME: {"initialize": steps}})

    assert "`registry.corp.internal/ml/data`" in message
