"""*Add a preset*, followed in a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recipes.checkout import FRESH, Checkout

pytestmark = pytest.mark.thorough

PRESET = """\
description: A node without accelerators and with one socket; cpu, memory and ephemeralStorage are the site's
numaNodes: 1
pods: 250
sources:
  numaNodes: one-socket servers in their default firmware settings
  pods: OpenShift documentation, kubelet's default maxPods
"""  # noqa: E501 - one value


def test_preset_takes_one_file(tmp_path: Path) -> None:
    """It is offered at once."""
    copy = Checkout(tmp_path, "Add a preset")
    copy.write("generator/trainyard/presets/small-node.yaml", PRESET)
    copy.type(
        "make docs test", [*FRESH, "tests/test_docs.py::test_every_preset_field_has_a_source"]
    )

    assert "small-node" in copy.run("trainyard init --help")
    copy.done(most=1)
