"""Fuzz for some time with `python -m tests.fuzz SECONDS`; print the outcomes of all inputs."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence

from tests.fuzz.properties import PROPERTIES, run

_BATCH = 50
"""Inputs of one run of a property; Hypothesis keeps all inputs of a run in memory."""


def main(arguments: Sequence[str]) -> int:
    """Try all properties in turn until the time is over, or until an input raises an exception."""
    seconds = float(arguments[0])
    begin = time.monotonic()
    seen: dict[str, Counter[str]] = {target.__name__: Counter() for target in PROPERTIES}
    try:
        while time.monotonic() - begin < seconds:
            for target in PROPERTIES:
                # CI gets new inputs too, since the same ones would find nothing new.
                seen[target.__name__].update(run(target, _BATCH, repeatable=False))
    finally:
        total = sum(counter.total() for counter in seen.values())
        print(f"{total:,} inputs in {time.monotonic() - begin:,.0f} s")
        for name, counter in seen.items():
            counts = [f"{count:,} {outcome}" for outcome, count in sorted(counter.items())]
            print(f"{name:<18} {', '.join(counts)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
