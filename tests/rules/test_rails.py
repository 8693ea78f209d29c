"""What may be wrong with the ports of a node."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.cases import messages

RULE = "fabric/rail-is-no-rail"
FIRST = {"pci": "0000:18:00.0", "role": "rail", "gpu": 0}
SECOND = {"pci": "0000:40:00.0", "role": "rail", "gpu": 1}
STORAGE = {"pci": "0000:29:00.0", "role": "storage"}


@pytest.mark.parametrize(
    ("nics", "expected"),
    [
        ([FIRST, SECOND, STORAGE], []),
        (
            [FIRST, SECOND, {**STORAGE, "pci": FIRST["pci"]}],
            ["two ports of a `dgx-h100` have PCI address 0000:18:00.0"],
        ),
        ([FIRST], ["a `dgx-h100` has 1 rails and 2 GPUs"]),
        (
            [FIRST, {"pci": "0000:40:00.0", "role": "rail"}],
            ["rail 0000:40:00.0 does not say its GPU; a `dgx-h100` has GPUs 0 to 1"],
        ),
        (
            [FIRST, {**SECOND, "gpu": 2}],
            ["rail 0000:40:00.0 stands beside GPU 2; a `dgx-h100` has GPUs 0 to 1"],
        ),
        ([STORAGE], ["pool `dgx-h100` is on fabric `ib`, but a `dgx-h100` has no rails"]),
    ],
)
def test_rails_stand_one_beside_each_gpu(nics: list[dict[str, Any]], expected: list[str]) -> None:
    """Each way in which ports are no rails has its own words."""
    assert messages(RULE, {"hardware/dgx-h100.yaml": {"gpu": {"count": 2}, "nics": nics}}) == expected
