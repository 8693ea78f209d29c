"""Generate the tree and check the committed one against it, as several commands begin."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.change.history.check import check_replaced
from trainyard.diagnostics import Diagnostic, has_errors
from trainyard.generation.generate import ALONE, Generation, Run, Target, check, render
from trainyard.tree.freshness import check_fresh
from trainyard.tree.place import check_submodules, check_tree_path


def check_tree(
    place: Target,
    today: str,
    clusters: Sequence[str] = (),
    run: Run = ALONE,
    *,
    fresh: bool = True,
) -> tuple[Generation, tuple[Diagnostic, ...]]:
    """Return the new tree, and every finding about it and about the change from the committed one.

    Args:
        place: the profiles and the committed tree.
        today: ISO date that last days are compared with.
        clusters: names of the only ones wanted; all when empty.
        run: who watches, and what earlier commands proved.
        fresh: the committed tree must equal the new one, and hold no submodule.

    Raises:
        TreeError: a file can't be read.
        ToolError: Git is missing or broken.
    """
    checked = check(place.root, today, proofs=run.proofs)
    generation = render(checked, place.components_root, clusters, place.tree, run)
    diagnostics = (
        *generation.diagnostics,
        *check_tree_path(place.root, place.target, checked.platform),
    )
    if not has_errors(diagnostics):
        diagnostics += tuple(check_replaced(place.tree, generation, clusters))
    if fresh and not has_errors(diagnostics):
        diagnostics += tuple(check_fresh(place.tree, generation.files, generation.same))
    if fresh:
        diagnostics += tuple(check_submodules(place.root, place.target))
    return generation, diagnostics
