"""The properties: each draws one input from Hypothesis' data and returns its outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.mutations import damaged, documents, edited, seeds
from tests.fuzz.targets import Outcome, check_bytes, check_platform
from trainyard.schema.profiles import profile_kinds

_SLOW = timedelta(seconds=30)
"""Maximum time of one input, also on a busy machine."""

Property = Callable[[st.DataObject], Outcome]


def raw_bytes(data: st.DataObject) -> Outcome:
    """Read any bytes as a profile of any kind."""
    return check_bytes(
        data.draw(st.sampled_from(profile_kinds())), data.draw(st.binary(max_size=300))
    )


def damaged_file(data: st.DataObject) -> Outcome:
    """Read a committed file with damaged bytes as a profile of any kind."""
    content = data.draw(damaged(data.draw(seeds)))
    return check_bytes(data.draw(st.sampled_from(profile_kinds())), content)


def damaged_platform(data: st.DataObject) -> Outcome:
    """Check a committed platform with damaged bytes in one file."""
    seed = data.draw(seeds)
    return check_platform(seed, data.draw(damaged(seed)))


def edited_platform(data: st.DataObject) -> Outcome:
    """Check a committed platform with other keys and values in one file."""
    seed = data.draw(documents)
    return check_platform(seed, data.draw(edited(seed)))


PROPERTIES: tuple[Property, ...] = (edited_platform, damaged_platform, damaged_file, raw_bytes)


def run(target: Property, examples: int, *, repeatable: bool) -> Counter[Outcome]:
    """Try a property with a number of inputs, and return the count of each outcome.

    Args:
        target: the property.
        examples: number of inputs; fewer are tried if there are no more.
        repeatable: whether each call tries the same inputs.

    Raises:
        Exception: raised by the target; Hypothesis adds the smallest such input as a note.
    """
    seen: Counter[Outcome] = Counter()

    checks = list(HealthCheck)

    @settings(
        max_examples=examples,
        derandomize=repeatable,
        deadline=_SLOW,
        database=None,
        suppress_health_check=checks,
    )
    @given(st.data())
    def once(data: st.DataObject) -> None:
        seen[target(data)] += 1

    once()
    return seen
