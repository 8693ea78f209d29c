"""Random edits over a committed tree: no command crashes, and a revert restores everything.

Each run edits every key of every kind of profile once. Other edits follow, alone, in pairs and in
sequences of commits: a few of them, or as many as ``--edits`` says.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle, product

import pytest

from tests.changes.edits import Action, Edit, edit
from tests.changes.keys import Key, keys
from tests.changes.program import EXAMPLES, SMALL
from tests.changes.repository import Repository

pytestmark = [pytest.mark.thorough, pytest.mark.slow]

KINDS = sorted({key.kind for key in keys()})
CHUNKS = 8

Examples = dict[str, Repository]


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_of_a_profile_can_be_edited(kind: str, examples: Examples, seed: str) -> None:
    """Each key is added, changed or removed over a committed tree, and the edit is reverted.

    Releases render clusters and hardware differently. One key is edited on one of the examples, and
    the next edits choose among all of them.
    """
    mine = [key for key in keys() if key.kind == kind]
    exercised = set()
    for key in mine:
        order = random.Random(f"{seed} {key}")
        chosen = next(_possible(examples, key, order), None)
        if chosen:
            name, made = chosen
            if examples[name].apply(made):
                examples[name].revert()
            exercised.add(made.key)

    assert exercised == set(mine)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_edits_come_in_pairs_and_sequences(
    chunk: int,
    examples: Examples,
    seed: str,
    edits: int,
    record_property: Callable[[str, object], None],
) -> None:
    """Each commit has one edit or two; finally all of them are reverted."""
    order = random.Random(f"{seed} {chunk}")
    singles = [[[each]] for each in product(keys(), Action)]
    order.shuffle(singles)
    counts: Counter[str] = Counter()
    alone = cycle(singles)
    while counts["edits"] < edits / CHUNKS:
        history = next(alone) if order.random() < 0.6 else _history(order)
        repository = examples[order.choices(EXAMPLES, (3, 3, 3, 2))[0]]
        done = sum((_commit(repository, commit, order) for commit in history), Counter[str]())
        counts += done
        counts += _reverted(repository) if done["accepted"] else Counter()
    for what, count in counts.items():
        record_property(what, count)


def _possible(examples: Examples, key: Key, order: random.Random) -> Iterator[tuple[str, Edit]]:
    """Yield edits of a key, first on the small examples, which take a fifth of the time."""
    names = [*order.sample(list(SMALL), len(SMALL)), "own"]
    for name, action in product(names, order.sample(list(Action), len(Action))):
        made = edit(examples[name].documents(), key, action, order)
        if made:
            yield name, made


def _history(order: random.Random) -> list[list[tuple[Key, Action]]]:
    """Return commits: two edits in one, all actions on one key, or edits of several keys."""
    some = order.sample(keys(), order.randint(2, 5))
    chosen = [(key, order.choice(list(Action))) for key in some]
    shape = order.randrange(3)
    if shape == 0:
        return [chosen[:2]]
    if shape == 1:
        return [[(chosen[0][0], action)] for action in Action]
    return [[each] for each in chosen]


def _reverted(repository: Repository) -> Counter[str]:
    return Counter(reverts=1, reverted=repository.revert())


def _commit(
    repository: Repository, wanted: list[tuple[Key, Action]], order: random.Random
) -> Counter[str]:
    """Apply the possible edits as one commit; return the counts of edits and accepted commits."""
    documents, made = repository.documents(), []
    for key, action in wanted:
        if one := edit(documents, key, action, order):
            made.append(one)
            documents = {file: value for file, value in documents.items() if file != one.file}
            documents |= {one.file: one.after} if isinstance(one.after, dict) else {}
    if not made:
        return Counter()
    return Counter(edits=len(made), commits=1, accepted=repository.apply(*made))
