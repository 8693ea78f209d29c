"""Random edits have a value for each key of each schema."""

from __future__ import annotations

import random

import pytest

from tests.changes.keys import Key, keys
from tests.changes.values import Values


@pytest.mark.parametrize("key", keys(), ids=str)
def test_every_key_gets_a_value(key: Key) -> None:
    """A pattern of a schema that no word fits would end the edits with an error."""
    order = random.Random(str(key))

    for _ in range(3):
        Values(order, {}).new(key)
