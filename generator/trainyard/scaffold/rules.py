"""Why a profile is not added or not formatted. Nothing is written then."""

from __future__ import annotations

from trainyard.diagnostics import Rule, Severity

BAD_TEAM_NAME = Rule(
    id="names/bad-team-name",
    severity=Severity.ERROR,
    summary="""
        A team's name is lower-case letters, digits and inner hyphens, and no word that means
        something else.
    """,
    why="""
        The name becomes a namespace, queues and labels. The API server refuses them in any other
        form, and a name of Trainyard's own would stand for two things, such as alerts of
        `team: platform`.
    """,
    fix="""
        Choose another: lower-case letters, digits and inner hyphens, a letter first, at most 40
        characters, no word such as `on` or `null`.
    """,
)
TEAM_EXISTS = Rule(
    id="names/team-exists",
    severity=Severity.ERROR,
    summary="A new team's name is one that no team has or ever had.",
    why="""
        The new team would get what the old one left: its partition, its addresses and its folders
        on shared storage.
    """,
    fix="Choose another name, or change the team that is there in its own file.",
)
UNKNOWN_PLACE = Rule(
    id="references/unknown-place",
    severity=Severity.ERROR,
    summary="""
        A profile is added to a cluster, node pool, fabric or hardware that exists; it is named
        where there are several.
    """,
    why="Its quota would be of nodes that are nowhere, and no job of it would ever start.",
    fix="Name one that exists.",
)
NO_RUNTIME = Rule(
    id="runtime/none-for-pool",
    severity=Severity.ERROR,
    summary="Some runtime runs on the hardware of a new team's node pool.",
    why="""
        The team has nodes and no way to launch a job on them: each is refused (seen with Kubernetes
        1.36.3).
    """,
    fix="Add the hardware to a runtime's `hardware`, or write a runtime for it.",
)
RANGE_EXHAUSTED = Rule(
    id="fabric/range-exhausted",
    severity=Severity.ERROR,
    summary="""
        A fabric has a partition and an address block left that no team ever held, on any cluster.
    """,
    why="Two teams with the same partition or addresses reach each other's memory over RDMA.",
    fix="Widen the fabric's range with its owner; never give what a retired team held to another.",
)
PROFILE_EXISTS = Rule(
    id="names/profile-exists",
    severity=Severity.ERROR,
    summary="The name of a new profile is one that no profile of its kind has.",
    why="The profile that is there would be lost, with what is generated from it.",
    fix="Choose another name, or change the profile that is there.",
)
ALLOCATED = Rule(
    id="fabric/already-allocated",
    severity=Severity.ERROR,
    summary="A team is given numbers on a fabric once.",
    why="""
        Its numbers are permanent: pods that run with the old ones would lose their network.
    """,
    fix="Use the numbers that the team has.",
)
UNFORMATTED = Rule(
    id="shape/unformatted",
    severity=Severity.ERROR,
    summary="A profile has the style that `trainyard fmt` writes; only `fmt --check` looks at it.",
    why="""
        Nothing changes on the cluster. A later change of the file shows its spaces and quotes
        beside what it means.
    """,
    fix="Run `trainyard fmt`.",
)
LEFT_ALONE = Rule(
    id="shape/left-alone",
    severity=Severity.ERROR,
    summary="`trainyard fmt` can write a profile in its style and keep the data and each comment.",
    why="Nothing changes on the cluster. The file keeps the style that it has.",
    fix="""
        Move the comment to the end of its line or to a line of its own, outside of braces and
        brackets.
    """,
)
RULES = (
    BAD_TEAM_NAME,
    TEAM_EXISTS,
    UNKNOWN_PLACE,
    NO_RUNTIME,
    RANGE_EXHAUSTED,
    PROFILE_EXISTS,
    ALLOCATED,
    UNFORMATTED,
    LEFT_ALONE,
)
