"""Read YAML of other projects, whose origin is verified: their CRDs are not profiles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml


def read_foreign(text: str) -> Iterator[Any]:
    """Yield the documents of a stream, as PyYAML reads them: the strict reader would refuse some.

    Raises:
        yaml.YAMLError: it is not YAML.
    """
    yield from yaml.load_all(text, Loader=yaml.CSafeLoader)
