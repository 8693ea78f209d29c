"""One control plane for each ground, started when the first of its tests comes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from generator.rehearse.build import cache_folder
from generator.rehearse.lab import alone
from tests.e2e.stage import Stage, stage


@pytest.fixture(scope="session")
def ground(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Return a control plane; those of the same ground share it."""
    with alone(cache_folder()), stage(request.param, tmp_path_factory.mktemp("tree")) as found:
        yield found
