"""The cases: a file each, whose first line names the team and the cluster."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent / "cases"
CASES = sorted(path.stem for path in HERE.glob("*.yaml"))


def submitter(case: str) -> tuple[str, str]:
    """Return the team and the cluster of a case."""
    first = (HERE / f"{case}.yaml").read_text("utf-8").splitlines()[0]
    team, cluster = first.removeprefix("# ").partition(":")[0].split()
    return team, cluster
