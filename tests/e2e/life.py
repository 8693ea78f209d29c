"""A cluster of this repository: an administrator types a how-to, and Argo CD syncs each commit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from tests.e2e.life_repository import HOW_TO, command, repository_of, tree_of
from tests.pages import done, type_page, typed
from trainyard.golang import cache_folder
from trainyard.model.identity import Identity, identity
from trainyard.model.manifest import Manifest
from trainyard.render.views.site import SiteView
from trainyard_rehearsal.checks.git_delivery import Commit, GitDelivery
from trainyard_rehearsal.checks.watched_jobs import WatchedJobs, watch_jobs
from trainyard_rehearsal.control_plane.api import Body
from trainyard_rehearsal.control_plane.argocd import ArgoCD
from trainyard_rehearsal.control_plane.build import find
from trainyard_rehearsal.control_plane.components import queueing, read_components
from trainyard_rehearsal.control_plane.fakes import settle
from trainyard_rehearsal.control_plane.lab import Lab, Plan, opened
from trainyard_rehearsal.control_plane.redis import find_redis
from trainyard_rehearsal.control_plane.repository import Repository

_RETIRE = HOW_TO / "retire-a-team.md"
DRAINED = ("Healthy", "Suspended", "Progressing")
"""What a drained team's Applications and the platform's show, by the page of retiring a team."""
_EARLY = 5.0
"""Seconds within which a deletion without approval would be seen."""

Uids = dict[Identity, str]
"""Uid of each object that exists and is not being deleted."""


@dataclass(slots=True)
class Life:
    """A cluster with running jobs, and the Git repository of its administrator.

    Args:
        folder: the repository, from which Argo CD fetches.
        page: the how-to that is followed.
        delivery: of the newest commit.
        kubectl: variables with which commands find `kubectl` and the cluster.
        watched: a job of each team.
        before: the objects of the tree at the beginning.
        former: their uids then.
    """

    folder: Path
    page: Path
    delivery: GitDelivery
    kubectl: dict[str, str]
    watched: WatchedJobs = field(init=False)
    before: Sequence[Manifest] = ()
    former: Uids = field(default_factory=dict)

    @property
    def lab(self) -> Lab:
        """The control plane."""
        return self.delivery.lab

    @property
    def cluster(self) -> str:
        """The name of the cluster."""
        return self.lab.plan.site.name

    @property
    def revision(self) -> str:
        """The newest commit."""
        return done(self.folder, "git", "rev-parse", "HEAD").strip()

    def bootstrap(self) -> None:
        """Start Argo CD's delivery by hand."""
        folder = f"overlays/{self.cluster}/argocd"
        # The page's `apply`; by the server, so that Argo CD owns the fields afterwards.
        self.run(f"kubectl apply --server-side --force-conflicts -k {folder}")

    def begin(self) -> None:
        """Deliver the tree, and run a job of each team."""
        self.bootstrap()
        self.synced(Commit(self.revision, list(self.delivery.units)))
        settle(self.lab)
        self.watched, failures = watch_jobs(self.lab, self.delivery.tree.samples)
        assert not failures, failures
        assert self.watched.jobs
        self.remember()

    def remember(self) -> None:
        """Keep what there is now, to compare with it later."""
        self.before, self.former = self.delivery.tree.manifests, self.uids()

    def run(self, command: str) -> str:
        """Run a command in the repository as a cluster admin; return what it prints."""
        return done(self.folder, "bash", "-c", f"set -eu\n{command}", **self.kubectl)

    def type(self, number: int) -> Commit:
        """Type a block of the page, which commits one change."""
        type_page(self.page, self.folder, wanted=[typed(self.page)[number]].__contains__)
        return self.merged()

    def commit(self, message: str) -> Commit:
        """Generate and commit what was edited outside of the page's blocks."""
        done(self.folder, "trainyard", "generate")
        done(self.folder, "git", "add", "--all")
        done(self.folder, "git", "commit", "--quiet", "--message", message)
        return self.merged()

    def revert(self, commit: str) -> Commit:
        """Take back what a commit changed in the profiles."""
        done(self.folder, "git", "restore", "--source", f"{commit}~1", "--", "profiles")
        return self.commit(f"Revert {commit}")

    def merged(self) -> Commit:
        """Have Argo CD look at the newest commit, which the required checks must pass."""
        done(self.folder, "trainyard", "diff", "--base", "HEAD~1", "--head", "HEAD")
        done(self.folder, "trainyard", "generate", "--check")
        if tree := tree_of(self.folder, self.cluster):
            lab = replace(self.lab, plan=replace(self.lab.plan, site=tree.site))
            self.delivery = replace(self.delivery, lab=lab, tree=tree)
        root = f"overlays/{self.cluster}"
        changed = done(self.folder, "git", "diff", "--name-only", "HEAD~1", "--", root).split()
        units = {PurePosixPath(path).parent.relative_to(root).as_posix() for path in changed}
        names = [name for name, unit in self.delivery.units.items() if unit in units]
        self.delivery.refresh(names)
        return Commit(self.revision, names)

    def synced(self, commit: Commit, health: Collection[str] = ("Healthy",)) -> None:
        """Wait until every Application is Synced and healthy, those of new teams too."""
        assert self.delivery.wait(self.lists), self.applications()
        failures = self.delivery.wait_until_synced(commit, health=health)
        assert not failures, failures

    def adopted(self) -> None:
        """Wait until each Application is Synced and Healthy; without a change none is applied."""
        assert self.delivery.wait(self.lists), self.applications()
        commit = Commit(self.revision, list(self.delivery.units))
        assert not (failures := self.delivery.wait_until_compared(commit)), failures
        assert self.delivery.wait(lambda: self._states() == {("Synced", "Healthy")}), self._states()

    def _states(self) -> set[tuple[str, str]]:
        found = [body["status"] for body in self.delivery.applications().values()]
        return {(each["sync"]["status"], each["health"]["status"]) for each in found}

    def lists(self) -> bool:
        """Return whether each team has its Application; have Argo CD look again if not."""
        if missing := self.delivery.units.keys() - self.applications():
            self.delivery.refresh([f"{self.cluster}-argocd"])
            self.delivery.refresh_team_list()
        return not missing

    def applications(self) -> set[str]:
        """Return the names of the Applications that exist."""
        return {name for name, body in self.delivery.applications().items() if body}

    def drained(self, *teams: str) -> None:
        """Wait until no pod of the job of some teams exists; watch the others' on."""
        jobs = [self.watched.jobs[team][0] for team in teams]
        assert self.delivery.wait(lambda: not any(job.pods for job in jobs)), [
            job.waiting_reason for job in jobs
        ]
        for team in teams:
            self.watched = self.watched.without_team(team)
        self.undisturbed()

    def undisturbed(self) -> None:
        """Assert that the jobs that are watched run on."""
        assert not (failures := list(self.watched.disturbed())), failures

    def orphaned(self, *names: str) -> None:
        """Wait until Applications show that their folders are gone."""
        for name in names:
            assert not (failures := self.delivery.wait_until_orphaned(name)), failures

    def uids(self, manifests: Iterable[Manifest] | None = None) -> Uids:
        """Return the uids of objects, by default of the tree's."""
        found = {}
        for manifest in self.delivery.tree.manifests if manifests is None else manifests:
            place = (manifest.kind.name, manifest.name, manifest.namespace)
            now = self.lab.api.find(manifest.body["apiVersion"], *place)
            metadata = now.get("metadata", {"deletionTimestamp": "it does not exist"})
            if "deletionTimestamp" not in metadata:
                found[identity(manifest)] = metadata["uid"]
        return found

    def unit(self, name: str) -> list[Manifest]:
        """Return the objects that a unit had at the beginning."""
        return [each for each in self.before if each.unit == name]

    def kept(self, manifests: Sequence[Manifest]) -> None:
        """Assert that objects are those of the beginning."""
        now = self.uids(manifests)
        then = {each: self.former[each] for each in map(identity, manifests)}
        assert now == then, now.items() ^ then.items()

    def delete_team(self, team: str, commit: Commit | None) -> None:
        """Do what the page of retiring a team says of the cluster; see that approval is needed.

        Args:
            team: its name.
            commit: that Argo CD must have compared; none where it compares nothing any more.
        """
        own = self.unit(f"teams/{team}")
        self.by_hand(team, "delete application ")
        self.delivery.wait(lambda: False, _EARLY)
        self.kept(own)
        self.by_hand(team, "annotate --overwrite application")
        self.by_hand(team, "wait --for=delete application")
        if commit:
            assert not self.delivery.wait_until_compared(commit)
            assert self.by_hand(team, "get application") == commit.revision
        self.by_hand(team, "delete appproject")
        self.by_hand(team, "delete persistentvolume")
        assert self.delivery.wait(lambda: not self.terminating()), self.terminating()
        assert self.uids(own) == {}

    def by_hand(self, team: str, words: str) -> str:
        """Run the command of the page of retiring a team that has some words, for a team."""
        text = command(_RETIRE, words).replace("nlp", team).replace("prod-east", self.cluster)
        return self.run(text.replace("openshift-gitops", self.delivery.argocd.namespace))

    def terminating(self) -> list[str]:
        """Return the namespaces that are being deleted."""
        found: list[Body] = self.lab.api.list("v1", "Namespace")
        metadata = [body["metadata"] for body in found]
        return [each["name"] for each in metadata if "deletionTimestamp" in each]

    def ended(self, commit: Commit) -> None:
        """Assert that all is Synced and Healthy, nothing else is left, and the rest is kept."""
        self.synced(commit)
        assert self.applications() == set(self.delivery.units)
        wanted = {identity(each) for each in self.delivery.tree.manifests}
        assert self.uids().keys() == wanted
        self.kept([each for each in self.before if identity(each) in wanted])
        removed = [each for each in self.before if identity(each) not in wanted]
        assert self.delivery.wait(lambda: not self._exist(removed)), self._exist(removed)
        assert not self.terminating()
        self.undisturbed()

    def _exist(self, manifests: Iterable[Manifest]) -> list[str]:
        """Return the files of objects that exist, in deletion too."""
        api = self.lab.api
        return [
            each.path
            for each in manifests
            if api.find(each.body["apiVersion"], each.kind.name, each.name, each.namespace)
        ]


@contextmanager
def living(
    cluster: str, how_to: str, folder: Path, added: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Life]:
    """Deliver a cluster of this repository by Argo CD, with a job of each team.

    Args:
        cluster: that the control plane plays.
        how_to: name of the page that is followed.
        folder: an empty one.
        added: text at the end of profiles, by their paths.
    """
    repository = repository_of(folder / "repository", added)
    tree = tree_of(repository, cluster)
    assert tree
    release = read_components(tree.site.cluster.release.name)
    components = queueing(release, SiteView(tree.site).framework_names)
    kinds = {(each.body["apiVersion"], each.kind.name) for each in tree.manifests}
    plan = Plan(tree.site, repository / "overlays" / cluster, components, kinds)
    built, run = find(components, cache_folder()), folder / "run"
    programs = folder / "programs"
    programs.mkdir()
    (programs / "kubectl").symlink_to(built.programs["kubectl"])
    with opened(plan, built, run) as lab:
        argocd = ArgoCD(lab, run / "argocd", find_redis(cache_folder()))
        with argocd.running():
            origin = Repository(repository, tree.site.cluster.settings.branch)
            delivery = GitDelivery(lab, argocd, origin, tree)
            kubectl = {"KUBECONFIG": str(lab.kubeconfig), "PATH": str(programs)}
            life = Life(repository, HOW_TO / f"{how_to}.md", delivery, kubectl)
            life.begin()
            yield life
