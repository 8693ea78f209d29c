"""Calls of programs that start the ranks of a node."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard_jobs.convert.torchrun import read_call

_WORDS = st.sampled_from(["--nnodes", "--nproc-per-node=2", "--standalone", "-x", "train.py", "1"])


@pytest.mark.parametrize("program", [["torchrun"], ["accelerate", "launch"], ["deepspeed"]])
@given(words=st.lists(_WORDS, max_size=5))
def test_words_that_stay_are_of_the_call(program: list[str], words: list[str]) -> None:
    """An option may be the last word, without its value."""
    call = [*program, *words]
    kept = read_call(call).words_kept(call)
    assert len(kept) <= len(call)
