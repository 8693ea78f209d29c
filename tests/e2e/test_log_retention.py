"""Loki's own code keeps the lines of each namespace as long as the README of a cluster states."""

from __future__ import annotations

import re
import subprocess
import textwrap
from collections.abc import Sequence
from typing import Any

import pytest

from tests.e2e.engines import LOKI, engine
from tests.render.test_logs import REGULATED, site
from trainyard.render.unit import readme

# Loki takes minutes to build.
pytestmark = [pytest.mark.e2e, pytest.mark.slow]

_BLOCK = re.compile(r"\n\n((?:      .*\n)*      limits_config:\n(?:      .*\n)+)")


def _limits(logs: dict[str, Any]) -> str:
    """Return the part of Loki's configuration that the README has."""
    (block,) = _BLOCK.findall(readme(site(logs, REGULATED, release="kubernetes-1.36")))
    return textwrap.dedent(block)


def _kept(limits: str, namespaces: Sequence[str]) -> dict[str, str]:
    """Return how long Loki keeps the streams of some namespaces; 0s is for good.

    Raises:
        CalledProcessError: Loki does not accept the limits.
    """
    queries = [f"namespace={each}" for each in namespaces]
    done = subprocess.run(
        [engine(LOKI), *queries], input=limits, capture_output=True, text=True, check=True
    )
    return dict(zip(namespaces, done.stdout.split(), strict=True))


def test_loki_keeps_lines_as_long_as_stated() -> None:
    """Of a regulated team longer, and of other namespaces as their owner says."""
    kept = _kept(
        _limits({}), ["team-vision", "team-nlp", "team-nlp-dev", "team-nlp-developers", "default"]
    )

    assert kept == {
        "team-vision": "168h0m0s",
        "team-nlp": "720h0m0s",
        "team-nlp-dev": "720h0m0s",
        "team-nlp-developers": "168h0m0s",
        "default": "0s",
    }


def test_a_longer_period_of_the_cluster_counts() -> None:
    """A regulation states the least."""
    assert _kept(_limits({"keep": "90d"}), ["team-nlp"]) == {"team-nlp": "2160h0m0s"}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("168h", "1h", "retention period must be >= 24h"),
        ("period:", "days:", "field days not found"),
        ('=~"team-.+"', '=~"team-(.+"', "missing closing )"),
    ],
)
def test_loki_refuses_other_limits(old: str, new: str, words: str) -> None:
    """So what it accepts has been read."""
    limits = _limits({})
    assert old in limits

    with pytest.raises(subprocess.CalledProcessError) as refused:
        _kept(limits.replace(old, new), ["team-nlp"])
    assert words in refused.value.stderr
