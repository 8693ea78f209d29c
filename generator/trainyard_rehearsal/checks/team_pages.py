"""Run the blocks of each team's page as a member of the team: with kubectl, and with the SDK."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trainyard import programs
from trainyard.diagnostics import Pointer
from trainyard.golang import cache_folder
from trainyard.model.held import held_queues
from trainyard.model.space import Sample, Space
from trainyard.model.tenant import Tenant
from trainyard.render.team_pages import JOB, TeamPage, page_path
from trainyard_rehearsal.checks.jobs import Job, member
from trainyard_rehearsal.checks.kubeconfigs import kubeconfig
from trainyard_rehearsal.checks.python_session import python_session
from trainyard_rehearsal.checks.sample_runs import wait_until_running
from trainyard_rehearsal.control_plane.lab import Lab
from trainyard_rehearsal.control_plane.nodes import LOG
from trainyard_rehearsal.control_plane.processes import LOOPBACK, START, answers, free_ports
from trainyard_rehearsal.control_plane.sdk import find_sdk
from trainyard_rehearsal.outcome import Failure, Outcome, counted

_BLOCK: Final = re.compile(r"^```(shell|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_SUBMITS: Final = re.compile(r" create |\.train\(")
_WAITS: Final = re.compile(r" wait |\.wait_for_job_status\(")
_NOTHING: Final = "No resources found"
_PATIENCE: Final = 120.0


@dataclass(frozen=True, slots=True)
class _Page:
    """The page of a team.

    Args:
        at: the team's profile.
        space: namespace of the jobs that it submits.
    """

    lab: Lab
    path: str
    at: Pointer
    space: Space

    @property
    def file(self) -> Path:
        return self.lab.plan.tree / self.path

    def blocks(self, language: str) -> list[str]:
        """Return the page's own blocks in a language, in their order."""
        found = _BLOCK.findall(self.file.read_text(encoding="utf-8"))
        return [text for name, text in found if name == language]

    def failure(self, block: str, words: str) -> Failure:
        """Return the failure of a block, named by its first line."""
        return Failure(f"{self.path}: {block.partition(chr(10))[0]}", words, self.at)

    def start(self, name: str) -> str:
        """Wait until a submitted job runs; return what does not."""
        return wait_until_running(self.lab, self.job(name), self._sample(name))

    def end(self, name: str) -> None:
        """End the pods of a running job."""
        mpi = self._sample(name).launch.runtime.launcher.mpi
        self.job(name).finish("launcher" if mpi else "node")

    def delete(self, names: Sequence[str]) -> None:
        """Delete the jobs that still exist."""
        for name in names:
            self.job(name).delete()

    def job(self, name: str) -> Job:
        return Job(self.lab.api, self.space.namespace, name)

    def _sample(self, name: str) -> Sample:
        """Return the sample with the runtime of a submitted job."""
        runtime = self.job(name).body["spec"]["runtimeRef"]["name"]
        return next(each for each in self.space.samples if each.launch.name == runtime)


def check_team_pages(lab: Lab, teams: Collection[str]) -> Iterator[Outcome]:
    """Run every block of the pages of some teams.

    Args:
        lab: with the tree applied.
        teams: names of the teams whose pages are tried.
    """
    pages = [_page(lab, tenant) for tenant in lab.plan.site.tenants if _has_page(tenant, teams)]
    if pages:
        commands = [failure for page in pages for failure in _run_commands(page)]
        yield counted("pages' commands run", _number(pages, "shell"), commands)
        python = [failure for page in pages for failure in _run_python(page)]
        yield counted("pages' Python runs", _number(pages, "python"), python)


def _number(pages: Sequence[_Page], language: str) -> int:
    return sum(len(page.blocks(language)) for page in pages)


def _has_page(tenant: Tenant, teams: Collection[str]) -> bool:
    """Return whether an active team is tried and has a job to copy."""
    has_job = any(space.samples for space in tenant.spaces)
    return tenant.team.state == "active" and tenant.name in teams and has_job


def _page(lab: Lab, tenant: Tenant) -> _Page:
    site = lab.plan.site
    space = TeamPage(site.cluster, tenant, held_queues(site)).example.sample.space
    return _Page(lab, page_path(tenant), tenant.team.at, space)


def _run_commands(page: _Page) -> Iterator[Failure]:
    """Run the commands, with kubectl under the name that the page uses; yield the first failure."""
    variables = _variables(page) | {"KUBECONFIG": str(_kubeconfig(page))}

    def run(number: int, block: str) -> str:
        command = ["bash", "-euo", "pipefail", "-c", block]
        done = programs.run(
            command, environment=variables, timeout=_PATIENCE, accept=programs.ANY_CODE
        )
        words = done.stderr.strip()
        # Before the first job there is nothing to list; later a selector has found nothing.
        is_empty = _NOTHING in words or not done.stdout.strip()
        return (words or f"code {done.code}") if done.code or (number and is_empty) else ""

    yield from _first_failure(page, page.blocks("shell"), run, lambda _: JOB)


def _run_python(page: _Page) -> Iterator[Failure]:
    """Run the blocks of Python in one session; yield the first failure."""
    blocks, name = page.blocks("python"), f"{page.space.team.name}-python"
    with python_session(page.lab.kubeconfig.parent, blocks, _sdk(page, name)) as session:
        failures = [
            *_first_failure(
                page,
                blocks,
                lambda number, _: session.run(number, page.lab.processes),
                session.job,
            )
        ]
    yield from failures
    if not failures and LOG not in session.done.result().stdout:
        logs = next(block for block in blocks if "get_job_logs" in block)
        yield page.failure(logs, "prints no log")


def _first_failure(
    page: _Page, blocks: Sequence[str], run: Callable[[int, str], str], job: Callable[[int], str]
) -> Iterator[Failure]:
    """Run blocks until one fails; between them, let each job start and end; delete all.

    Args:
        page: has the blocks.
        blocks: in their order.
        run: runs a block by its number, and returns what is wrong.
        job: returns the name of the job that a block submitted.
    """
    jobs: list[str] = []
    for number, block in enumerate(blocks):
        if jobs and (_SUBMITS.search(block) or _WAITS.search(block)):
            page.end(jobs[-1])
        problem = run(number, block)
        if not problem and _SUBMITS.search(block):
            jobs.append(job(number))
            problem = page.start(jobs[-1])
        if problem:
            yield page.failure(block, problem)
            break
    page.delete(jobs)


def _kubeconfig(page: _Page) -> Path:
    return kubeconfig(page.lab, f"member-of-{page.space.team.name}", *member(page.space))


def _variables(page: _Page) -> dict[str, str]:
    """Return variables under which the page's program is the rehearsal's kubectl."""
    folder = page.lab.kubeconfig.with_name("bin")
    folder.mkdir(exist_ok=True)
    for name in ("kubectl", "oc"):
        if not (folder / name).exists():
            (folder / name).symlink_to(page.lab.built.programs["kubectl"])
    return {"HOME": str(folder.parent), "PATH": os.pathsep.join([str(folder), os.defpath])}


def _sdk(page: _Page, name: str) -> dict[str, str]:
    """Return variables under which Python finds the SDK, and the SDK the API server.

    The Kubernetes client for Python can't impersonate, so kubectl does it between both.
    """
    lab, (port,) = page.lab, free_ports(1)
    arguments = ("--kubeconfig", str(_kubeconfig(page)), "proxy", "--port", str(port))
    lab.processes.start_as(name, [str(lab.built.programs["kubectl"]), *arguments], {})
    lab.processes.wait_until(lambda: answers(port), "the start of kubectl proxy", START)
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": name, "cluster": {"server": f"http://{LOOPBACK}:{port}"}}],
        "users": [{"name": name, "user": {}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
    }
    path = lab.kubeconfig.with_name(f"{name}.kubeconfig")
    path.write_text(json.dumps(config), encoding="utf-8")
    modules = find_sdk(lab.plan.site.cluster.release.sdk, cache_folder())
    return _variables(page) | {"KUBECONFIG": str(path), "PYTHONPATH": str(modules)}
