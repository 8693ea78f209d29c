"""Give what a user hands in to the code that reads it for a command, and print the result."""

from __future__ import annotations

import atexit
import io
import json
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from tests.change.impact.platforms import quota, sides
from tests.change.impact.test_disruption import mtu, of
from tests.dumps import listed, running, train_job, waiting
from tests.fuzz.targets import Outcome
from tests.jobs.fit.setting import ground, sample
from tests.jobs.fit.test_usage import workload
from trainyard.change.impact.compare import compare
from trainyard.change.objects import Sides
from trainyard.cli.console import printable
from trainyard.cli.document import encoded
from trainyard.cli.document import plain as plain_data
from trainyard.cli.exits import Exit
from trainyard.cli.impact.sections import sections
from trainyard.cli.places import Places
from trainyard.diagnostics import ToolError, TreeError
from trainyard.hosts.api import Api, plain
from trainyard.hosts.github import Head, PullRequest, find_pull_request
from trainyard.hosts.gitlab import MergeRequest
from trainyard.hosts.sticky import MARKER, post
from trainyard.render.site import render_sample
from trainyard.tree.lockfile import LOCKFILE, lock_bytes, read_lock
from trainyard.workflows.dump import read_dump
from trainyard.yaml_io.emitter import emit
from trainyard.yaml_io.scalars import HIDDEN
from trainyard_jobs.cli.convert.printing import printed
from trainyard_jobs.cli.fit.document import document
from trainyard_jobs.cli.fit.text import text
from trainyard_jobs.convert.asked import Refused, find
from trainyard_jobs.convert.reasons import Asked
from trainyard_jobs.fit.case import Ground
from trainyard_jobs.fit.repair import with_change
from trainyard_jobs.fit.verdict import Standing
from trainyard_jobs.fit.walk import judge
from trainyard_jobs.workflows.convert import Converted
from trainyard_jobs.workflows.fit import read_jobs, read_snapshot

HEAD = "a" * 40
_NOWHERE = Places({}, {})
_FOLDERS = ExitStack()
atexit.register(_FOLDERS.close)


@cache
def on() -> Ground:
    """Return the cluster on which jobs are judged."""
    return ground({})


def jobs() -> list[Any]:
    """Return jobs that the cluster admits."""
    amounts = {"limits": {"nvidia.com/gpu": 8}, "requests": {"nvidia.com/gpu": 8}}
    patch = {"targetJobs": [{"name": "node"}], "spec": {"volumes": [{"name": "x", "emptyDir": {}}]}}
    job = sample({}, resourcesPerNode=amounts, env=[{"name": "A", "value": "b"}])
    job["spec"]["podTemplateOverrides"] = [patch]
    labels = {**job["metadata"]["labels"], "kueue.x-k8s.io/max-exec-time-seconds": "60"}
    return [sample({}), {**job, "metadata": {**job["metadata"], "labels": labels}}]


def snapshots() -> list[Any]:
    """Return lists of what is in use."""
    total = [{"name": "h100", "resources": [{"name": "nvidia.com/gpu", "total": "8"}]}]
    queue = {"kind": "ClusterQueue", "metadata": {"name": "nlp-gpu"}}
    queue |= {"status": {"flavorsReservation": total}}
    quota = {"kind": "ResourceQuota", "metadata": {"name": "a", "namespace": "team-nlp"}}
    quota |= {"status": {"used": {"count/configmaps": "8"}}}
    return [{"kind": "List", "items": [queue, quota, workload()]}]


def dumps() -> list[Any]:
    """Return lists of the jobs of a cluster."""
    jobs = [running("a", 3), running("b", 2, priority=("batch", 500)), waiting("c", 4)]
    return [listed(*jobs, train_job("a", "openmpi-cuda-v1-dgx-h100"), running("d", 1, "other"))]


def answers() -> dict[str, list[Any]]:
    """Return what each host answers to the requests that write a comment."""
    pull = {"number": 7, "head": {"sha": HEAD, "repo": {"full_name": "a/b"}}}
    comment = {"id": 8, "body": MARKER, "user": {"type": "Bot", "login": "bot"}}
    note = {"id": 8, "body": MARKER, "author": {"id": 8}}
    return {
        "github": [[pull], [comment], comment],
        "gitlab": [{"sha": HEAD}, {"id": 8}, [note], note],
    }


def fit(content: bytes, snapshot: bytes | None) -> Outcome:
    """Judge the jobs of a file."""
    try:
        usage = read_snapshot(_file("usage.json", snapshot)) if snapshot is not None else None
        found = read_jobs(_file("job.yaml", content))
    except TreeError:
        return Outcome.UNREADABLE
    here = Ground(on().site, on().tenant, on().objects, usage, on().faults, on().judge)
    judged = judge(here, found.bodies)
    verdicts = [with_change(here, *each) for each in zip(found.bodies, judged, strict=True)]
    _need_printable(text(verdicts, _NOWHERE, found.others))
    json.dumps(document(verdicts, _NOWHERE)).encode()
    admitted = all(each.standing is not Standing.NEVER for each in verdicts)
    return Outcome.ACCEPTED if admitted else Outcome.REFUSED


def dump(content: bytes) -> Outcome:
    """Name the jobs of a dump that a change hits."""
    try:
        found = compare([edited()], None, {"prod-east": read_dump(_file("jobs.json", content))})
    except TreeError:
        return Outcome.UNREADABLE
    (cluster,) = found.clusters
    for section in sections(cluster, fields=False):
        _need_printable("\n".join(map(printable, section.lines)))
    encoded(plain_data(cluster.jobs)).encode()
    assert cluster.jobs
    return Outcome.REFUSED if cluster.jobs.hits else Outcome.ACCEPTED


@cache
def edited() -> Sides:
    """Return a cluster of which a team loses nodes, and all nodes are drained."""
    return sides({**of(quota(4), quota(4)), **mtu(2044)}, {**of(quota(2), quota(6)), **mtu(4092)})


def convert(convert_files: Callable[..., Converted], name: str, content: bytes) -> Outcome:
    """Convert the jobs of a file, without a team and for one."""
    file, codes = _file(name, content), set()
    try:
        for tenant in (None, on().tenant):
            shown = io.StringIO()
            with redirect_stdout(shown), redirect_stderr(shown):
                codes.add(printed(convert_files([file], tenant)))
            _need_printable(shown.getvalue())
    except TreeError:
        return Outcome.UNREADABLE
    return Outcome.ACCEPTED if codes == {Exit.FINE} else Outcome.REFUSED


def job(asked: Asked) -> Outcome:
    """Make the job that somebody asks for."""
    try:
        found = find(asked, on().tenant)
    except Refused as refused:
        str(refused).encode("utf-8", "backslashreplace")
        return Outcome.REFUSED
    emit(render_sample(found.sample), "\n".join(found.reasons))
    return Outcome.ACCEPTED


class _Answers(Api):
    """A host that gives the next answer to each request, and the last one again."""

    waiting: ClassVar[list[bytes]] = []

    def _send(self, *_: Any) -> Any:
        content = self.waiting.pop(0) if len(self.waiting) > 1 else self.waiting[0]
        return plain(content, "the host")


def comment(which: str, contents: list[bytes]) -> Outcome:
    """Write a comment on a host that answers so."""
    _Answers.waiting = contents
    api = _Answers("http://host", {})
    try:
        if which == "gitlab":
            request = MergeRequest(api, 3, 7)
            request.head()
            done = post(request, "new")
        else:
            number = find_pull_request(api, "a/b", Head("a/b", "main", HEAD))
            done = post(PullRequest(api, "a/b", number or 7, "bot"), "new")
    except (ToolError, TreeError):
        return Outcome.REFUSED
    assert done in {"created", "updated", "nothing"}
    return Outcome.ACCEPTED


def lockfile(content: bytes) -> Outcome:
    """Read a lockfile, and write it again."""
    file = _file(LOCKFILE, content)
    try:
        lock = read_lock(file.parent)
    except TreeError:
        return Outcome.REFUSED
    assert lock is not None
    file.write_bytes(lock_bytes(lock))
    assert read_lock(file.parent) == lock, "a lock is not what was written"
    return Outcome.ACCEPTED


def _file(name: str, content: bytes) -> Path:
    file = _folder() / name
    file.write_bytes(content)
    return file


@cache
def _folder() -> Path:
    return Path(_FOLDERS.enter_context(tempfile.TemporaryDirectory(prefix="trainyard-fuzz-")))


def _need_printable(shown: str) -> None:
    assert not HIDDEN.search(shown), "control characters of a terminal"
