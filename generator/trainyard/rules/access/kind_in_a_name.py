"""Find entries that begin with a kind of subject, in another form than that of a user."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.diagnostics import Diagnostic, Rule, Severity
from trainyard.model.people import USER, is_user, name_of
from trainyard.model.platform import Platform
from trainyard.rules._check import Check
from trainyard.rules.access._roles import all_roles

RULE = Rule(
    id="access/kind-in-a-name",
    severity=Severity.ERROR,
    summary=f"An entry is the plain name of a group, or `{USER}` and the name of a user.",
    why="""
        Nobody has the role (seen with Kubernetes 1.36.3): RBAC compares whole names, and no group
        of the identity provider has this one. Argo CD and the API server report nothing.
    """,
    fix=f"""
        Write a group by its name alone, a user as `{USER}alice`, and an account of a program under
        `serviceAccounts` in the team's profile.
    """,
)

_KIND = re.compile(r"(user|users|group|groups|serviceaccount):", re.IGNORECASE)


def find(platform: Platform) -> Iterator[Diagnostic]:
    for entry, role, at in all_roles(platform):
        name = name_of(entry)
        if found := _KIND.match(name):
            rest = name[found.end() :]
            is_of_user = is_user(entry) or found[1].lower().startswith("user")
            meant = f"{USER}{rest}" if is_of_user else rest
            hint = "" if found[1].lower() == "serviceaccount" else f"did you mean `{meant}`?"
            yield RULE.at(at, f"role {role} is for a group named `{entry}`", hint=hint)


CHECK = Check(RULE, find)
