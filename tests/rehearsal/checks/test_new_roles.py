"""A new role is used only when the API server knows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import pytest

from trainyard.diagnostics import ToolError
from trainyard_rehearsal.checks import new_roles
from trainyard_rehearsal.checks.new_roles import wait_until_permitted
from trainyard_rehearsal.control_plane.api import Answer, Api
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.processes import Processes


class User:
    """A user whom the authorizer gives the right after some questions."""

    def __init__(self, answers: Iterator[bool]) -> None:
        self.answers = answers
        self.asked: list[Any] = []

    def create(self, body: Any) -> Answer:
        self.asked.append(body["spec"]["resourceAttributes"])
        return Answer({"status": {"allowed": next(self.answers)}}, ())


def test_right_is_awaited(lab: Lab) -> None:
    user = User(iter([False, False, True]))
    wait_until_permitted(_idle(lab), cast("Api", user), "create", "pods", "team-nlp")

    assert (
        user.asked
        == [{"verb": "create", "resource": "pods", "group": "", "namespace": "team-nlp"}] * 3
    )


def test_right_that_never_comes_ends_the_rehearsal(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(new_roles, "_PATIENCE", 0.2)
    user = User(iter([False] * 9))
    with pytest.raises(ToolError, match="the right to create namespaces"):
        wait_until_permitted(_idle(lab), cast("Api", user), "create", "namespaces")


def _idle(lab: Lab) -> Lab:
    return replace(lab, processes=Processes(lab.plan.tree))
