"""Fuzz for a while: `python -m tests.fuzz SECONDS`. Prints how many inputs were tried and what
became of them."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence

from tests.fuzz.properties import PROPERTIES, run

_BATCH = 50
"""Inputs of one property in a row. Hypothesis remembers all of a run, so an hour is many runs."""


def main(arguments: Sequence[str]) -> int:
    """Try all properties in turn until the time is over; the first input that raises ends it with a
    traceback."""
    seconds = float(arguments[0])
    begin = time.monotonic()
    seen: dict[str, Counter[str]] = {target.__name__: Counter() for target in PROPERTIES}
    try:
        while time.monotonic() - begin < seconds:
            for target in PROPERTIES:
                # New inputs in CI too: the same minute every day would find nothing new.
                seen[target.__name__].update(run(target, _BATCH, repeatable=False))
    finally:
        total = sum(counter.total() for counter in seen.values())
        print(f"{total:,} inputs in {time.monotonic() - begin:,.0f} s")
        for name, counter in seen.items():
            print(
                f"{name:<18} "
                + ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(counter.items()))
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
