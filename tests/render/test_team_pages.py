"""The page of each team: what it has, and the steps of a person without knowledge of Kubernetes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from tests.pages import USERS, saved
from tests.rules.cases import platform_of
from trainyard.model.platform import Site
from trainyard.render.site import render_site
from trainyard.render.team_pages import JOB, page_path, team_pages
from trainyard.render.user_pages import user_pages
from trainyard.yaml_io.manifests import parse_manifests

_BLOCK = re.compile(r"^```(shell|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
IMAGE = f"registry.example.com/ml/torch@sha256:{'0' * 64}"
NLP, CLUSTER = "teams/nlp.yaml", "clusters/prod-east.yaml"


def site(changes: Mapping[str, Any] | None = None) -> Site:
    return platform_of(changes or {}).sites[0]


def pages(changes: Mapping[str, Any] | None = None) -> dict[str, str]:
    return {tenant.name: text for _, tenant, text in team_pages(site(changes))}


def blocks(text: str, language: str) -> list[str]:
    return [block for name, block in _BLOCK.findall(text) if name == language]


def test_page_links_each_job_to_copy_and_each_page_for_users() -> None:
    place = site()
    files = {manifest.path for manifest in render_site(place)}
    pages_for_users = {f"../../{path}" for path in user_pages()}
    for path, tenant, text in team_pages(place):
        assert path == page_path(tenant)
        folder = path.rpartition("/")[0]
        linked = set(re.findall(r"\]\(([^)]*)\)", text))
        assert linked >= pages_for_users
        assert {f"{folder}/{link}" for link in linked - pages_for_users} == {
            each for each in files if each.startswith(f"{folder}/")
        }


def test_page_submits_a_job_that_names_only_what_it_must() -> None:
    (create,) = (each for each in blocks(pages()["nlp"], "shell") if " create " in each)
    (job,) = parse_manifests(create.split("<<'END'\n")[1].removesuffix("END\n"))
    assert isinstance(job, dict)
    assert job["metadata"]["name"] == JOB
    assert set(job["spec"]) == {"runtimeRef", "trainer"}
    assert set(job["spec"]["trainer"]) == {"command", "numNodes"}
    assert job["spec"]["trainer"]["numNodes"] == 2


def test_words_of_a_pod_that_no_node_takes_have_a_row() -> None:
    """Kueue shows the job as started, so the page also tells where the events of its pods are."""
    rows = [line for line in pages()["nlp"].splitlines() if line.startswith("| `")]
    (started,) = (row for row in rows if row.startswith("| `Quota reserved in ClusterQueue`"))
    (pod,) = (row for row in rows if "`didn't match Pod's node affinity/selector`" in row)

    assert "oc -n team-nlp describe pods -l jobset.sigs.k8s.io/jobset-name=" in started
    assert "label of its pool" in pod
    assert "ask nlp-oncall@example.com to compare the nodes' labels" in pod


def torchrun() -> dict[str, Any]:
    """Return changes that give team nlp a runtime with torchrun beside its own."""
    runtime = {
        "version": 1,
        "displayName": "PyTorch",
        "launcher": "torchrun",
        "hardware": ["dgx-h100"],
        "image": IMAGE,
        "libraries": {"torch": "2.8.0"},
        "maxNodes": 8,
    }
    return {"runtimes/torchrun.yaml": runtime, NLP: {"runtimes": ["openmpi-cuda", "torchrun"]}}


def test_page_needs_ten_lines_of_python() -> None:
    submitting = [each for each in blocks(pages(torchrun())["nlp"], "python") if ".train(" in each]
    assert len(submitting) == 3
    for block in submitting:
        assert block.count("\n") <= 10
        compile(block, "page", "exec")


def test_page_has_the_function_of_the_quickstart() -> None:
    """Which `tests/e2e/test_notebook.py` runs as the SDK sends it."""
    python = blocks(pages(torchrun())["nlp"], "python")
    (function,) = (block for block in python if "def fit_line" in block)
    submits = python[python.index(function) + 1]

    assert function == saved(USERS / "quickstart.md")["fit_line.py"]
    assert "CustomTrainer(func=fit_line, num_nodes=2)" in submits
    assert 'get_runtime("torchrun-v1-dgx-h100")' in submits


def test_page_without_torchrun_has_no_function() -> None:
    assert "CustomTrainer(" not in pages()["nlp"]


def test_page_names_the_sdk_of_the_release() -> None:
    assert f"kubeflow=={site().cluster.release.sdk}\n" in pages()["nlp"]


def test_page_has_no_row_of_what_the_team_lacks() -> None:
    text = pages({NLP: {"storage": None}, CLUSTER: {"priorities": None, "finishedJobs": None}})[
        "nlp"
    ]
    for absent in ("bucket", "mount,", "*priority class*", "Labels", "labels:", "is then deleted"):
        assert absent not in text
    assert "It stays until you delete it." in text


def test_page_begins_with_the_default_runtime() -> None:
    both = torchrun()
    given = {**both, NLP: {**both[NLP], "defaultRuntime": "torchrun"}}
    assert "runtimeRef: {name: openmpi-cuda-v1-dgx-h100}" in pages(both)["nlp"]
    assert "runtimeRef: {name: torchrun-v1-dgx-h100}" in pages(given)["nlp"]
    assert "`torchrun-v1-dgx-h100`, the team's default" in pages(given)["nlp"]


def test_job_of_a_class_with_a_deadline_states_it() -> None:
    text = pages({CLUSTER: {"priorities": {"batch": {"value": 100, "deadline": "1d"}}}})["nlp"]
    assert '"kueue.x-k8s.io/max-exec-time-seconds": "86400"' in text
    assert "of each job: a job without one" in text


def test_job_names_its_class_where_each_has_a_deadline() -> None:
    limited = {"value": 100, "deadline": "1d"}
    only = {"priorities": ["batch"]}
    text = pages({CLUSTER: {"priorities": {"batch": limited}}, NLP: only})["nlp"]
    assert "Each job names its class in the label" in text


def test_image_of_its_own_is_refused_only_where_workers_would_not_have_it() -> None:
    one = {"runtimes/openmpi-cuda.yaml": {"maxNodes": 1}}
    assert "only the launcher would have it" in pages()["nlp"]
    assert "only the launcher would have it" not in pages(one)["nlp"]
    assert "In Python the launcher is `node-0`.\n" in pages(one)["nlp"]


def test_page_names_the_queue_of_a_runtime_that_needs_its_label() -> None:
    label = "Its job needs the label `kueue.x-k8s.io/queue-name` with `gpu`."
    assert label not in pages()["nlp"]
    text = pages({NLP: {"defaultQueue": "none"}})["nlp"]
    assert label in text
    assert "Leave out resources: a job" in text


def test_page_mentions_copies_only_where_the_team_may_have_some() -> None:
    copies = "Your admins may add copies of those in the table"
    assert copies in pages({NLP: {"ownRuntimes": 1}})["nlp"]
    assert copies not in pages()["nlp"]


def test_page_says_which_numbers_a_team_can_see() -> None:
    """Its own metrics if it has a port, and dashboards if the cluster has some."""

    def shown(dashboards: str, **team: Any) -> str:
        monitoring = {"dashboards": dashboards} if dashboards else {}
        text = pages({NLP: team, CLUSTER: {"monitoring": monitoring}})["nlp"]
        return text.partition("## See its numbers")[2].partition("\n## ")[0]

    assert shown("") == ""
    assert "port 8080" in shown("", metrics=8080)
    assert "dashboard" not in shown("", metrics=8080).lower()
    assert "console" in shown("openshift-console")
    assert "Grafana" in shown("grafana-operator")
    assert "port" not in shown("grafana-sidecar").split()
    unwatched = pages({NLP: {"metrics": 8080}, CLUSTER: {"monitoring": None}})["nlp"]
    assert "See its numbers" not in unwatched


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({NLP: {"state": "held"}}, "team nlp is held. Jobs that run go on"),
        ({NLP: {"states": {"prod-east": "held"}}}, "team nlp is held. Jobs that run go on"),
        ({CLUSTER: {"state": "held"}}, "cluster prod-east is held. Jobs that run go on"),
        ({CLUSTER: {"state": "draining"}}, "cluster prod-east is draining. Jobs that ran were"),
        (
            {CLUSTER: {"pools": {"dgx-h100": {"state": "held"}}}},
            "pool dgx-h100 is held. Jobs that run go on",
        ),
    ],
)
def test_page_of_a_stopped_queue_says_why_no_job_starts(
    changes: dict[str, Any], cause: str
) -> None:
    assert f"No job starts in queue `gpu`: {cause}" in pages(changes)["nlp"]
    assert "No job starts in queue" not in pages()["nlp"]
    others = pages(changes)["vision"]
    assert ("No job starts in queue" in others) == (CLUSTER in changes)


def test_retired_team_has_no_page() -> None:
    assert "nlp" not in pages({NLP: {"state": "retired"}})


def test_values_of_profiles_are_shown_as_text() -> None:
    described = {"runtimes/openmpi-cuda.yaml": {"description": "A | B, [c](d)."}}
    assert "A \\| B, \\[c\\](d)." in pages(described)["nlp"]


def test_page_is_in_the_order_of_a_script() -> None:
    """A worker's log is read before the end, the launcher's after it, and then the job is gone."""
    text = pages()["nlp"]
    steps = ("create", "replicatedjob-name=node", "wait", "replicatedjob-name=launcher", "delete")
    assert _order(blocks(text, "shell"), steps) == sorted(_order(blocks(text, "shell"), steps))
    calls = ("client.train", "wait_for_job_status", "get_job_logs", "delete_job")
    assert _order(blocks(text, "python"), calls) == sorted(_order(blocks(text, "python"), calls))


def _order(found: list[str], words: tuple[str, ...]) -> list[int]:
    """Return the number of the block that has each word."""
    return [next(i for i, block in enumerate(found) if word in block) for word in words]


def test_page_without_mpi_has_no_launcher() -> None:
    torch = {
        "version": 1,
        "displayName": "PyTorch",
        "launcher": "torchrun",
        "hardware": ["dgx-h100"],
        "image": IMAGE,
        "libraries": {"torch": "2.8.0"},
        "maxNodes": 8,
        "restarts": 2,
    }
    text = pages({"runtimes/torchrun.yaml": torch, NLP: {"runtimes": ["torchrun"]}})["nlp"]
    assert "*launcher*" not in text
    assert not any("=launcher" in block for block in blocks(text, "shell"))
    assert "only with `torchrun-v1-dgx-h100` (at most 2 times)" in text
    assert "These runtimes are for MPI." not in text
    assert "These runtimes are for MPI." in pages()["nlp"]


def test_python_mounts_a_script_where_the_team_has_no_folder() -> None:
    own = "'configMap': {'name': 'my-code'}}]"
    text = pages({NLP: {"storage": None}})["nlp"]
    assert own in text
    assert '"/mnt/code/my_train.py"' in text
    assert own not in pages()["nlp"]
    assert "/my_train.py" in pages()["nlp"]


SMALL = {
    "runtimes/openmpi-cuda.yaml": {"launcherPod": "small"},
    "hardware/dgx-h100.yaml": {"launcher": {"cores": 1, "memory": "4Gi"}},
}


def test_variables_are_named_only_where_the_launcher_alone_has_them() -> None:
    """Open MPI passes on what `-x` names, and Trainer gives them to a small launcher alone."""
    named = "With `openmpi-cuda-v1-dgx-h100`, `mpirun` must name it"
    assert named in pages(SMALL)["nlp"]
    assert "1 to 4 nodes" in pages(SMALL)["nlp"]
    assert named not in pages()["nlp"]
    assert "some of them run in it" in pages()["nlp"]
    assert "run in it" not in pages(SMALL)["nlp"]


EGRESS = {
    "store": {"to": ["203.0.113.0/28"], "ports": [443]},
    "mirror": {"to": ["198.51.100.16/32"], "ports": [443], "from": "workspaces"},
}


def test_page_lists_what_a_job_may_reach() -> None:
    text = pages({CLUSTER: {"egress": EGRESS}})["nlp"]

    assert "\n| `store` | `203.0.113.0/28` | 443 |\n" in text
    assert "| `mirror`" not in text
    assert "A workbench also reaches `mirror` (`198.51.100.16/32`, port 443)." in text


def test_page_says_what_follows_from_no_internet() -> None:
    text = pages({CLUSTER: {"egress": EGRESS}})["nlp"]

    for words in ("`Max retries exceeded`", "`packages_to_install`", "`HF_HUB_OFFLINE`", "offline"):
        assert words in text
    assert "name it and its port" in text


def test_page_does_not_say_so_where_a_rule_opens_all() -> None:
    egress = {"all": {"to": ["0.0.0.0/0"], "ports": [443]}}
    text = pages({CLUSTER: {"egress": egress}})["nlp"]

    assert "| `all` | `0.0.0.0/0` | 443 |" in text
    assert "no internet" not in text
    assert "Max retries exceeded" not in text


def test_page_says_that_nothing_is_reached_without_a_rule() -> None:
    assert "name servers, and nothing else." in pages({CLUSTER: {"egress": None}})["nlp"]


def test_page_names_the_folders_of_a_runtime_with_steps() -> None:
    fetches = {
        "version": 1,
        "image": IMAGE,
        "hardware": ["dgx-h100"],
        "launcher": "torchrun",
        "libraries": {"torch": "2.6"},
        "maxNodes": 2,
        "initialize": {"image": IMAGE, "volume": "home", "dataset": True, "model": True},
    }
    changes = {"runtimes/fetches.yaml": fetches, NLP: {"runtimes": ["openmpi-cuda", "fetches"]}}

    assert "/workspace" not in pages()["nlp"]
    for folder in ("dataset", "model", "output"):
        assert f"| `/workspace/{folder}` |" in pages(changes)["nlp"]
