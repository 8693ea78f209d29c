"""Turn a draft into a TrainJob: with the runtime of a team, or with the advice to choose one."""

from __future__ import annotations

from trainyard.convert.draft import Draft
from trainyard.convert.model import Conversion, Kind
from trainyard.model.tenant import Tenant


def finish(draft: Draft, tenant: Tenant | None) -> Conversion:
    """Return the TrainJob of a draft.

    Args:
        draft: with the notes of its converter.
        tenant: the team on its cluster, one of whose runtimes is chosen; None leaves a placeholder
            and a note that says which runtime to choose.
    """
    if any(note.kind is Kind.REFUSED for note in draft.notes):
        return Conversion(draft.title, draft.at, None, draft.notes)
    raise NotImplementedError
