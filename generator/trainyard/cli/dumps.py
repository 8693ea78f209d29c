"""``--jobs CLUSTER=FILE``: dumps of the jobs on clusters."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from trainyard.cli.options import complete_cluster
from trainyard.model.workload import Dump
from trainyard.workflows.dump import read_dump


class _OfCluster(click.ParamType[tuple[str, Path]]):
    """``CLUSTER=FILE``: without its cluster a file could be taken for that of another one."""

    name = "dump"

    def convert(
        self,
        value: str | tuple[str, Path],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[str, Path]:
        """Read an option's value.

        Raises:
            click.BadParameter: it has no cluster, or no file.
        """
        if isinstance(value, tuple):
            return value
        cluster, _, file = value.partition("=")
        if not (cluster and file):
            self.fail(f"`{value}` is not `CLUSTER=FILE`, e.g. `prod=jobs.json`", param, ctx)
        return cluster, Path(file)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete the cluster."""
        found = complete_cluster(ctx, param, incomplete)
        return [CompletionItem(f"{each.value}=") for each in found]


jobs_option = click.option(
    "--jobs",
    type=_OfCluster(),
    multiple=True,
    metavar="CLUSTER=FILE",
    help="Name the running jobs that the change hits: `kubectl get workloads,trainjobs -A -o json` "
    "of a cluster; may be given once for each. The file `-` is standard input.",
)


def read_dumps(files: Collection[tuple[str, Path]], clusters: Collection[str]) -> dict[str, Dump]:
    """Return the dumps by cluster.

    Args:
        files: cluster and file of each.
        clusters: names of the only ones wanted; all when empty.

    Raises:
        click.UsageError: a cluster has two files, or is not wanted.
        TreeError: a file is not a dump.
    """
    named = [cluster for cluster, _ in files]
    for cluster in named:
        if named.count(cluster) > 1:
            raise click.UsageError(f"`--jobs` names cluster `{cluster}` twice")
        if clusters and cluster not in clusters:
            raise click.UsageError(f"`--jobs` names `{cluster}`, which `--cluster` leaves out")
    return {cluster: read_dump(file) for cluster, file in files}
