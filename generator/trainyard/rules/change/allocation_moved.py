"""Text of `change/allocation-moved`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity
from trainyard.rules.change._fixes import NEVER_MERGED

RULE = Rule(
    id="change/allocation-moved",
    severity=Severity.ERROR,
    summary="A team keeps its line in the ledger, and its numbers as long as it is not drained.",
    why="""
        Running pods keep their old segment and addresses: the ranks of one job are in two networks
        and wait for each other until NCCL or MPI gives up. Without the line, no profile shows that
        the numbers are taken.
    """,
    fix=f"""
        Restore the line in profiles/allocations.yaml; a retired team keeps its line. To give a team
        other numbers, first merge only `state: draining`. {NEVER_MERGED}
    """,
)
