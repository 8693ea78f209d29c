"""Text of `change/uids-moved`."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity
from trainyard.rules.change._fixes import NEVER_MERGED, PRESENT_IDS

RULE = Rule(
    id="change/uids-moved",
    severity=Severity.ERROR,
    summary="""
        A namespace keeps its line in the ledger, and its user ids as long as its team is not
        drained.
    """,
    why="""
        New pods run with the new ids and can't read or write the files that earlier pods left on
        shared storage. OpenShift may give the range that becomes free to another namespace
        (openshift/cluster-policy-controller).
    """,
    fix=f"""
        Restore the line in profiles/allocations.yaml; a retired team keeps its line. {PRESENT_IDS}
        To give it other ids, first merge only `state: draining`, and change the owner of its files
        before its jobs run again. {NEVER_MERGED}
    """,
)
