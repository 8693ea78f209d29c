"""``trainyard diff``: what a change does, read from commits and the work tree."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft7Validator
from markdown_it import MarkdownIt

from tests.cli.calls import Ended
from trainyard import __version__
from trainyard.cli.exits import Exit
from trainyard.hosts.sticky import NOTHING
from trainyard.schema.published import document_schema
from trainyard.tree.lockfile import LOCKFILE

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("platform")]
Call = Callable[..., Ended]


def git(*arguments: str) -> str:
    who = ("-c", "user.name=admin", "-c", "user.email=admin@example.com")
    done = subprocess.run(["git", *who, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(message: str = "edit") -> str:
    git("add", "--all")
    git("commit", "--quiet", "--message", message)
    return git("rev-parse", "HEAD")


def replace(file: str, old: str, new: str) -> None:
    path = Path("profiles", file)
    before = path.read_text(encoding="utf-8")
    assert old in before
    path.write_text(before.replace(old, new), encoding="utf-8")


@pytest.fixture
def platform(repository: Path, written: Path) -> Path:
    """This repository's profiles with their tree, committed to `main`."""
    shutil.copytree(written, repository / "overlays")
    git("init", "--quiet", "--initial-branch=main")
    commit("base")
    return repository


def test_without_an_edit_nothing_is_said(trainyard: Call) -> None:
    ended = trainyard("diff", "--base=main")

    assert ended.code == Exit.FINE
    assert ended.out.startswith("nothing changes\nobjects: none\n\ncompared: commit ")
    assert trainyard("diff", "--base=main", "--format=markdown").out.startswith(NOTHING)


def test_comments_and_the_order_of_keys_are_no_change(trainyard: Call) -> None:
    team = Path("profiles/teams/nlp.yaml")
    first, second, *rest = team.read_text("utf-8").splitlines(keepends=True)
    team.write_text("".join(("# on call\n", second, first, *rest)), encoding="utf-8")

    assert trainyard("diff", "--base=main").out.startswith("nothing changes\n")
    assert trainyard("generate", "--check").code == Exit.FINE


def test_change_without_effect_on_clusters_is_worth_a_comment(trainyard: Call) -> None:
    """Whoever owns files decides about later changes; a revert is nothing again."""
    settings = Path("profiles/trainyard.yaml")
    before = settings.read_text("utf-8")
    settings.write_text(f"{before}review: {{deleted: 100}}\n", encoding="utf-8")
    ended = trainyard("diff", "--base=main")
    comment = trainyard("diff", "--base=main", "--format=markdown").out
    settings.write_text(before, encoding="utf-8")

    first = "no effect on teams, jobs or nodes"
    owners = "@ml-example/ml-platform"
    edited = '  ~ trainyard.yaml: review none -> {"deleted": 100}'
    assert ended.out.startswith(f"{first}\nobjects: none\n\nProfiles\n{edited}\n\nApproval\n")
    assert '  ! profiles/trainyard.yaml: review none -> {"deleted": 100}\n' in ended.out
    assert f"    to be approved by {owners}\n  ~ {owners}: profiles/trainyard.yaml\n" in ended.out
    assert comment.startswith("### trainyard diff\n")
    assert trainyard("diff", "--base=main").out.startswith("nothing changes\n")


def test_refused_change_without_effect_is_worth_a_comment(trainyard: Call) -> None:
    """A line of the ledger that is gone changes no object, and is an error."""
    replace("teams/nlp.yaml", "contact:", "state: draining\ncontact:")
    assert trainyard("generate").code == 0
    commit()
    replace("teams/nlp.yaml", "state: draining", "state: retired")
    assert trainyard("generate").code == 0
    commit()
    ledger = Path("profiles/allocations.yaml")
    lines = ledger.read_text("utf-8").splitlines(keepends=True)
    kept = "".join(line for line in lines if not line.startswith("    nlp: {partition"))
    ledger.write_text(kept, encoding="utf-8")
    ended = trainyard("diff")
    comment = trainyard("diff", "--base=HEAD", "--format=markdown").out

    assert ended.code == Exit.FINDINGS
    first, second, *_ = ended.out.splitlines()
    assert first == "refused: 1 error (change/allocation-moved)"
    assert second == "no effect on teams, jobs or nodes"
    assert "~ allocations.yaml: prod-east.ib.nlp " in ended.out
    assert comment.startswith("### trainyard diff\n\n```diff\nrefused: 1 error")
    assert "error[change/allocation-moved]" in comment


def test_edit_of_the_work_tree_is_read_without_generate(trainyard: Call) -> None:
    """As `terraform plan` reads what is not applied yet."""
    replace("teams/nlp.yaml", "nodes: 8, borrow: 8", "nodes: 9, borrow: 7")
    replace("teams/vision.yaml", "nodes: 4", "nodes: 3")

    ended = trainyard("diff", "--base=main", "--cluster=prod-east")

    assert "transfer of nodes of dgx-h100: vision 4 -> 3, nlp 8 -> 9" in ended.out
    assert "64 -> 72 GPUs" in ended.out
    assert not git("status", "--porcelain", "overlays")


@pytest.mark.parametrize("head", [(), ("--head=main",)])
def test_unknown_cluster_is_no_change_of_nothing(trainyard: Call, head: tuple[str, ...]) -> None:
    ended = trainyard("diff", "--base=main", *head, "--cluster=prod-esat")

    assert ended.code == Exit.USAGE
    assert "there is no cluster `prod-esat`; did you mean `prod-east`?" in ended.err


def _link(path: Path) -> None:
    path.rename("elsewhere")
    path.symlink_to(Path("elsewhere").resolve())


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", [_link, _folder])
def test_lockfile_that_is_no_file_is_a_finding(
    trainyard: Call, damage: Callable[[Path], None]
) -> None:
    damage(Path("overlays", "lab", LOCKFILE))

    ended = trainyard("diff", "--base=main")

    assert ended.code == Exit.FINDINGS, ended.err
    assert "error[change/number-forgotten]: the lockfile of cluster `lab` is missing" in ended.out


def test_head_of_a_commit_equals_the_same_work_tree(trainyard: Call) -> None:
    """Whatever the work tree has then."""
    replace("teams/nlp.yaml", "nlp-guests", "nlp-visitors")
    expected = trainyard("diff", "--base=main")
    git("checkout", "--quiet", "-b", "topic")
    assert trainyard("generate").code == Exit.FINE
    commit()
    git("checkout", "--quiet", "main")
    replace("teams/vision.yaml", "nodes: 4", "nodes: 3")

    ended = trainyard("diff", "--base=main", "--head=topic")

    assert "+ group nlp-visitors: " in ended.out
    assert "- group nlp-guests: " in ended.out
    assert expected.out.partition("\ncompared: ")[0] == ended.out.partition("\ncompared: ")[0]


def test_base_with_newer_commits_is_named(trainyard: Call) -> None:
    """Their changes look undone, unless the merge is looked at."""
    git("checkout", "--quiet", "-b", "topic")
    replace("teams/nlp.yaml", "nlp-guests", "nlp-visitors")
    commit()
    git("checkout", "--quiet", "main")
    replace("teams/vision.yaml", "nodes: 4", "nodes: 3")
    assert trainyard("generate").code == Exit.FINE
    commit()
    git("checkout", "--quiet", "topic")

    behind = trainyard("diff", "--base=main")
    merged = trainyard("diff", "--base=main", "--merge-base")

    assert behind.out.startswith("the base has commits that the head lacks")
    assert "vision on dgx-h100: 3 -> 4 nodes" in behind.out
    assert "the base has commits" not in merged.out
    assert "vision" not in merged.out
    assert "nlp-visitors" in merged.out


def test_two_branches_that_are_green_alone_and_red_together(trainyard: Call) -> None:
    """Both take the nodes that are free: no rule of either branch can know it."""
    replace("clusters/prod-east.yaml", "nodes: 17, reserve: 1", "nodes: 19, reserve: 1")
    assert trainyard("generate").code == Exit.FINE
    commit("two nodes more")
    git("checkout", "--quiet", "-b", "nlp")
    replace("teams/nlp.yaml", "nodes: 8, borrow: 8", "nodes: 10, borrow: 6")
    assert trainyard("diff", "--base=main").code == Exit.FINE
    commit()
    git("checkout", "--quiet", "main")
    replace("teams/vision.yaml", "nodes: 4", "nodes: 6")
    assert trainyard("generate").code == Exit.FINE
    commit()
    git("checkout", "--quiet", "nlp")

    assert trainyard("diff", "--base=main").code == Exit.FINE
    ended = trainyard("diff", "--base=main", "--merge-base")

    assert ended.code == Exit.FINDINGS
    assert "error[capacity/oversubscribed]" in ended.out


def test_runtime_that_one_branch_removes_and_another_lists(trainyard: Call) -> None:
    """Each is green alone, and Git merges both without a conflict."""
    replace("teams/vision.yaml", ", horovod]", "]")
    assert trainyard("generate").code == Exit.FINE
    commit("nobody lists it")
    git("checkout", "--quiet", "-b", "lists")
    replace("teams/nlp.yaml", "grpo,", "grpo, horovod,")
    assert trainyard("diff", "--base=main").code == Exit.FINE
    commit()
    git("checkout", "--quiet", "main")
    Path("profiles/runtimes/horovod.yaml").unlink()
    removed = trainyard("diff", "--base=main")
    assert trainyard("generate").code == Exit.FINE
    commit()
    git("checkout", "--quiet", "lists")

    ended = trainyard("diff", "--base=main", "--merge-base")

    assert removed.code == Exit.FINE
    assert "  - profiles/runtimes/horovod.yaml is deleted\n" in removed.out
    assert ended.code == Exit.FINDINGS
    assert "error[references/unknown-name]: there is no runtime `horovod`" in ended.out


def test_tree_that_nobody_generated_after_an_edit_shows_when_it_is(trainyard: Call) -> None:
    """The profiles of base and head are the same then; the tree that is merged is not."""
    replace("teams/vision.yaml", "vision-guests", "vision-visitors")
    commit("profiles without their tree")
    assert trainyard("generate").code == Exit.FINE

    ended = trainyard("diff", "--base=main")

    assert "+ group vision-visitors: " in ended.out


@pytest.mark.parametrize("cluster", ["lab", "prod-east"])
def test_cluster_that_goes_is_reported(trainyard: Call, cluster: str) -> None:
    """Also while no other cluster changes."""
    Path("profiles", "clusters", f"{cluster}.yaml").unlink()

    ended = trainyard("diff", "--base=main")

    assert ended.code == Exit.FINDINGS
    assert f"cluster `{cluster}`" in ended.out


def test_conflict_is_a_finding(trainyard: Call) -> None:
    git("checkout", "--quiet", "-b", "topic")
    replace("teams/nlp.yaml", "nlp-guests", "nlp-visitors")
    commit()
    git("checkout", "--quiet", "main")
    replace("teams/nlp.yaml", "nlp-guests", "nlp-friends")
    commit()

    ended = trainyard("diff", "--base=main", "--head=topic", "--merge-base")

    assert ended.code == Exit.FINDINGS
    assert "error[change/merge-conflict]" in ended.out
    assert "profiles/teams/nlp.yaml" in ended.out


def test_rules_on_changes_judge_against_the_base(trainyard: Call) -> None:
    """Also after `generate` has written the head's tree."""
    replace("allocations.yaml", '"0x0102"', '"0x0155"')
    trainyard("generate")
    commit()

    ended = trainyard("diff", "--base=HEAD~1")

    assert ended.code == Exit.FINDINGS
    assert "error[change/allocation-moved]" in ended.out


def test_warnings_of_the_base_are_not_repeated(trainyard: Call) -> None:
    """Even if their lines move; a new one is shown."""
    replace("teams/vision.yaml", "nodes: 4", "nodes: 3")
    assert trainyard("generate").out.count("warning[capacity/idle-nodes]") == 1
    commit("a node that nobody owns")
    for file in Path("profiles").rglob("*.yaml"):
        file.write_text(f"# one line more\n{file.read_text(encoding='utf-8')}", encoding="utf-8")
    replace("teams/nlp.yaml", "nodes: 8, borrow: 8", "nodes: 8, borrow: 9")

    ended = trainyard("diff", "--base=main")

    assert "1 warning that the base has too, not shown" in ended.out
    assert re.findall(r"(?m)^warning\[(.+?)\]", ended.out) == ["capacity/borrow-exceeds-lenders"]


def test_upgrade_is_grouped_by_kind(trainyard: Call) -> None:
    """Objects that only the version of Trainyard changes are counted, an edit beside is shown."""
    for lock in Path("overlays").glob(f"*/{LOCKFILE}"):
        content = lock.read_text(encoding="utf-8")
        for file in lock.parent.glob("teams/*/rolebinding-*.yaml"):
            old = file.read_bytes()
            file.write_bytes(old.replace(b"\nmetadata:\n", b"\nmetadata:\n  generation: 1\n"))
        content = content.replace(f'"tool": "{__version__}"', '"tool": "0.0.1"')
        lock.write_text(content, encoding="utf-8")
    commit("as an older version wrote it")
    replace("teams/vision.yaml", "nodes: 4", "nodes: 3")
    replace("teams/science.yaml", "components: [simulation-defaults]\n", "")

    ended = trainyard("diff", "--base=main")
    every = trainyard("diff", "--base=main", "--fields")

    assert "  prod-east: RoleBinding team-vision/viewer" in every.out.splitlines()
    assert "- ConfigMap team-science/simulation-defaults (deleted" in ended.out
    assert "Kustomization" not in ended.out
    assert f"Trainyard 0.0.1 -> {__version__} generates" in ended.out
    assert re.search(r"(?m)^  RoleBinding \d+$", ended.out)
    assert "vision on dgx-h100: 4 -> 3 nodes" in ended.out
    assert not re.search(r"(?m)^    . .*RoleBinding", ended.out)


def test_harm_of_another_version_is_said(trainyard: Call) -> None:
    """No profile opens these, so no list of objects has them: rights and paths are there."""
    folder = Path("overlays/prod-east")
    role = folder / "platform/clusterrole-trainyard-team-viewer.yaml"
    role.write_text(role.read_text("utf-8").replace("  - jobsets\n", "  - others\n"), "utf-8")
    policy = folder / "teams/vision/networkpolicy-dns.yaml"
    policy.write_text(policy.read_text("utf-8").replace("port: 5353", "port: 5354"), "utf-8")
    lock = folder / LOCKFILE
    written = lock.read_text("utf-8")
    lock.write_text(written.replace(f'"tool": "{__version__}"', '"tool": "0.0.1"'), "utf-8")
    commit("as an older version wrote it")

    out = trainyard("diff", "--base=main").out

    first, told = out.partition("\n")[0], out.split("prod-east: ")[1]
    assert "gives rights to" in first
    assert "opens network paths of team-vision" in first
    assert "~ trainyard-team-viewer, bound to" in told
    assert "+   get, list, watch jobsets of jobset.x-k8s.io" in told
    assert re.search(r"\+ team-vision: egress .*TCP 5353", told)
    assert "ClusterRole trainyard-team-viewer" not in out


def test_objects_of_components_are_compared(trainyard: Call) -> None:
    """No file of the tree has them; Argo CD applies and prunes them like the rest."""
    file = "components/simulation-defaults/simulation-defaults.yaml"
    replace(file, "precision = double", "precision = single")
    edited = trainyard("diff", "--base=main", "--fields")
    commit()
    back = trainyard("diff", "--base=HEAD", "--head=HEAD^", "--fields")
    replace("teams/science.yaml", "components: [simulation-defaults]\n", "")
    removed = trainyard("diff", "--base=HEAD")
    commit()
    listed = trainyard("diff", "--base=HEAD", "--head=HEAD^")

    assert "~ ConfigMap team-science/simulation-defaults (changed" in edited.out
    assert "precision = double" in edited.out
    assert "precision = single" in edited.out
    assert "~ ConfigMap team-science/simulation-defaults (changed" in back.out
    assert "- ConfigMap team-science/simulation-defaults (deleted" in removed.out
    assert "+ ConfigMap team-science/simulation-defaults (created" in listed.out
    assert "nothing changes" in trainyard("diff", "--base=HEAD").out


@pytest.mark.parametrize("ref", ["--help", "nothing", "main:profiles"])
def test_base_that_is_no_commit(trainyard: Call, ref: str) -> None:
    ended = trainyard("diff", f"--base={ref}")

    assert ended.code == Exit.IO
    assert f"`{ref}`" in ended.err


def test_folder_without_git(trainyard: Call) -> None:
    shutil.rmtree(".git")

    ended = trainyard("diff", "--base=main")

    assert ended.code == Exit.IO
    assert "in no Git repository" in ended.err


def test_json_has_the_published_form(trainyard: Call) -> None:
    replace("teams/nlp.yaml", "nlp-guests", "nlp-visitors")
    replace("teams/vision.yaml", "nodes: 4", "nodes: 3")

    ended = trainyard("diff", "--base=main", "--format=json")

    document = json.loads(ended.out)
    Draft7Validator(document_schema("diff")).validate(document)
    clusters = {each["name"]: each for each in document["result"]["change"]["impact"]["clusters"]}
    assert "vision" in {each["team"] for each in clusters["prod-east"]["quotas"]}
    assert not clusters["lab"]["quotas"]


def test_markdown_has_all_text_of_profiles_in_code(trainyard: Call) -> None:
    """`@mentions`, links and HTML of a profile mean nothing to a host."""
    replace("teams/nlp.yaml", "nlp-guests", "'``` @everyone <b>![x](http://x)</b>'")

    ended = trainyard("diff", "--base=main", "--format=markdown")

    tokens = MarkdownIt("commonmark").parse(ended.out)
    inline = [token.content for token in tokens if token.type == "inline"]
    assert any("@everyone" in token.content for token in tokens if token.type == "fence")
    assert not any("everyone" in text for text in inline)
    assert not any(token.type.startswith("html") for token in tokens)


def test_tree_elsewhere_is_not_taken_for_an_empty_one(trainyard: Call) -> None:
    """A misspelt `--output` would show every object as new."""
    ended = trainyard("diff", "--base=main", "--output=overlay")

    assert ended.code == Exit.IO
    assert "has no tree in overlay, but one in overlays: give that as `--output`" in ended.err
