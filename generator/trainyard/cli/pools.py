"""Read node pools from the command line."""

from __future__ import annotations

import re

import click

from trainyard.workflows.add_profile import PoolRequest

_MOST_NODES = 5000
"""Maximum of a pool, as in the schema of clusters."""


class PoolType(click.ParamType[PoolRequest]):
    """``NAME=HARDWARE:NODES``."""

    name = "pool"
    _FORM = re.compile(r"([^=:]+)=([^=:]+):([1-9][0-9]{0,3})")

    def convert(
        self, value: str | PoolRequest, param: click.Parameter | None, ctx: click.Context | None
    ) -> PoolRequest:
        """Read an option's value.

        Raises:
            click.BadParameter: it has another form, or too many nodes.
        """
        if isinstance(value, PoolRequest):
            return value
        form = self._FORM.fullmatch(value)
        if form is None or int(form[3]) > _MOST_NODES:
            message = f"`{value}` is not NAME=HARDWARE:NODES with 1 to {_MOST_NODES} nodes"
            self.fail(message, param, ctx)
        return PoolRequest(form[1], form[2], int(form[3]))
