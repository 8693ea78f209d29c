"""Placeholders: values that `init` writes and that no site can have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.generation.test_generate import change
from tests.resolve.changes import CLUSTER, RUNTIME
from tests.rules.cases import messages
from tests.scaffold.folders import begun
from trainyard.diagnostics import Diagnostic
from trainyard.generation.generate import Target, check
from trainyard.rules.delivery.placeholder_left import RULE as PLACEHOLDER_LEFT
from trainyard.scaffold.team_request import TeamRequest
from trainyard.workflows.add import add_teams

LEFT = PLACEHOLDER_LEFT.id


def left(root: Path) -> list[Diagnostic]:
    """Return the placeholders in profiles."""
    return [each for each in check(root).diagnostics if each.rule == LEFT]


OWN = {
    "trainyard.yaml": [("ml.example.com", "ml.corp.internal"), ("git.example.com", "git.corp.io")],
    "clusters/lab.yaml": [("nfs.example.com", "nfs.corp.io"), ("192.0.2.0/24", "10.20.0.0/24")],
    "runtimes/openmpi.yaml": [
        ("docs.example.com", "docs.corp.io"),
        ("registry.example.com", "registry.corp.io"),
        ("0" * 64, "1" * 64),
    ],
    "teams/nlp.yaml": [("nlp@ml.example.com", "nlp@corp.io")],
}
"""What `init` and `add team` write that no site can have, and what a site has, by file."""


def grown(folder: Path) -> Path:
    """Begin a repository with a team in a folder; return its profiles."""
    begun(folder)
    profiles = folder / "profiles"
    place = Target(profiles, folder / "overlays", "../profiles/components")
    added = add_teams(place, [TeamRequest("nlp", 2)], "2026-11-26")
    assert added.plan
    return profiles


def test_placeholders_of_a_new_repository_are_reported_until_replaced(tmp_path: Path) -> None:
    """A comment in the file marks each of them; it may stay beside the site's own value."""
    profiles = grown(tmp_path)
    places = {(each.at.file, each.at.path) for each in left(profiles)}

    assert places == {
        ("profiles/trainyard.yaml", ("domain",)),
        ("profiles/trainyard.yaml", ("repository",)),
        ("profiles/clusters/lab.yaml", ("storage", "home", "nfs", "server")),
        ("profiles/clusters/lab.yaml", ("networks", "machines")),
        ("profiles/runtimes/openmpi.yaml", ("docs",)),
        ("profiles/runtimes/openmpi.yaml", ("image",)),
        ("profiles/teams/nlp.yaml", ("contact",)),
    }
    assert all("# placeholder" in (tmp_path / file).read_text("utf-8") for file, _ in places)
    for file, values in OWN.items():
        for former, own in values:
            change(profiles, file, former, own)
    assert left(profiles) == []


@pytest.mark.parametrize(
    ("file", "former", "own"),
    [(file, *value) for file, values in OWN.items() for value in values],
)
def test_each_placeholder_alone_is_reported(
    tmp_path: Path, file: str, former: str, own: str
) -> None:
    """A registry is left when the digest is the image's, and the other way round."""
    profiles = grown(tmp_path)
    for each, values in OWN.items():
        for value in values:
            if (each, *value) != (file, former, own):
                change(profiles, each, *value)

    assert [each.at.file for each in left(profiles)] == [f"profiles/{file}"]


def test_domain_is_reported_alone_as_it_is_permanent(tmp_path: Path) -> None:
    """The others share a cause, so that they are one paragraph."""
    found = left(grown(tmp_path))
    (domain,) = [each for each in found if each.at.path == ("domain",)]

    assert "permanent" in domain.consequence
    assert "before the first sync" in domain.hint
    assert len({each.cause for each in found}) == 2


def test_domain_that_is_no_placeholder_of_init_is_not_reported(tmp_path: Path) -> None:
    """Who removes the comment has decided."""
    profiles = grown(tmp_path)
    text = (profiles / "trainyard.yaml").read_text("utf-8")
    change(profiles, "trainyard.yaml", text, re.sub(r" # placeholder.*", "", text))

    assert ("domain",) not in [each.at.path for each in left(profiles)]


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


def test_sizes_of_nodes_are_asked_for_until_their_comments_go(tmp_path: Path) -> None:
    """One finding for the profile says how each is measured; a number may be the guessed one."""
    begun(tmp_path, preset="nvidia-l40s-4")
    profiles = tmp_path / "profiles"
    sizes = [each for each in left(profiles) if "`memory`" in each.message]

    assert [each.message for each in sizes] == [
        (
            "placeholders are left of what a `l40s-4` has: `cpu`, `numaNodes`, `memory`, "
            "`ephemeralStorage`, `nics`"
        )
    ]
    assert all(word in sizes[0].hint for word in ("lscpu", "dmidecode", "df", "lspci"))
    file = profiles / "hardware" / "l40s-4.yaml"
    file.write_text(re.sub(r" # placeholder.*", "", file.read_text()))
    assert not [each for each in left(profiles) if "hardware" in each.at.file]
