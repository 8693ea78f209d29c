"""Views of a release, and of the clean-up of finished jobs."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.model import names
from trainyard.model.cleanup import FinishedJobs
from trainyard.model.quantity import format_seconds
from trainyard.model.release import Release
from trainyard.model.variables import POD_FIELDS
from trainyard.render.cel import is_one_of, text, text_list

_FINISHED = (
    '{{range .items}}{{if not .spec.suspend}}{{$old := ""}}{{range .status.conditions}}'
    '{{if and (eq .status "True") (or (eq .type "Complete") (eq .type "Failed")) '
    '(lt .lastTransitionTime "%s")}}'
    "{{$old = .type}}{{end}}{{end}}{{if $old}}{{.metadata.name}}/{{.metadata.resourceVersion}} "
    "{{end}}{{end}}{{end}}"
)
"""Go template of kubectl: ``name/resourceVersion`` of each TrainJob that ended before a time in RFC
3339."""

_PATH = "[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*"
_DOMAIN = "[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?"
_IMAGE = (
    f"^(({_DOMAIN}([.]{_DOMAIN})*|[[][0-9a-fA-F:]+[]])(:[0-9]{{1,5}})?/)?{_PATH}(/{_PATH})*"
    "(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?"
    "(@(sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}))?$"
)
"""An image as kubelets read it (distribution/reference:regexp.go@v0.6.0)."""

_IMAGE_LENGTH = "^[^@]{0,255}(:[A-Za-z0-9_.-]{1,128})?(@.*)?$"
"""How long its name may be (distribution/reference:reference.go@v0.6.0)."""

_RESOURCES = (
    "^(limits|requests)[.](cpu (0|1m|1)|(memory|ephemeral-storage) (0|1|1[kMGTPE]|1[KMGTPE]i))$"
)
"""A resource of its container that a variable may name, and the divisor
(kubernetes/kubernetes:pkg/apis/core/validation/validation.go@v1.36.3)."""

_POD_LISTS = (
    "pod.?volumes.orValue([]).size() <= 64 && pod.?containers.orValue([]).size() <= 8 && "
    "pod.?containers.orValue([]).all(each, each.?volumeMounts.orValue([]).size() <= 64) && "
    "pod.?volumes.orValue([]).all(each, ['configMap', 'secret'].all(kind, "
    "each[?kind].?items.orValue([]).size() <= 64))"
)
_SHORT_LISTS = (
    "[dyn(object.spec)].all(spec, spec.?trainer.?command.orValue([]).size() <= 512 && "
    "spec.?trainer.?args.orValue([]).size() <= 512 && [spec.?trainer.?env, "
    "spec.?initializer.?dataset.?env, spec.?initializer.?model.?env].all(env, "
    "env.orValue([]).size() <= 200) && spec.?podTemplateOverrides.orValue([]).size() <= 8 && "
    "spec.?podTemplateOverrides.orValue([]).all(change, "
    "change.?targetJobs.orValue([]).size() <= 8 && "
    f"[change.?spec.orValue({{}})].all(pod, {_POD_LISTS})) && "
    "spec.?runtimePatches.orValue([]).all(patch, "
    "[patch.?trainingRuntimeSpec.?template.?spec.?replicatedJobs.orValue([])].all(jobs, "
    "jobs.size() <= 8 && jobs.all(job, "
    f"[job.?template.?spec.?template.?spec.orValue({{}})].all(pod, {_POD_LISTS})))))"
)


@dataclass(frozen=True, slots=True)
class ReleaseView:
    """A release, as templates read it."""

    release: Release

    @property
    def pod_security(self) -> dict[str, object]:
        """Security context of a pod, without ids where the SCC of the release gives them."""
        context = {
            "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
            **self.release.pod_ids,
        }
        return dict(sorted(context.items()))

    @property
    def scc(self) -> dict[str, str]:
        """Annotation that pins a pod to the SCC of jobs, where there is one."""
        scc = self.release.job_scc
        return {"openshift.io/required-scc": scc} if scc else {}

    @property
    def exemption(self) -> str:
        """CEL: the request is not one of the controllers that must always get through."""
        return f"!(request.userInfo.username in {text_list(self.release.controllers)})"

    @property
    def short_lists(self) -> str:
        """CEL: a job's lists are short enough for the policies, which compare their members.

        Policies that need it skip the other jobs, which trainyard-trainjob-limits refuses.
        """
        return _SHORT_LISTS

    @property
    def image_form(self) -> str:
        """CEL: regular expression of an image that kubelets can read."""
        return text(_IMAGE)

    @property
    def image_length(self) -> str:
        """CEL: regular expression of an image whose name kubelets accept."""
        return text(_IMAGE_LENGTH)

    @property
    def pod_fields(self) -> str:
        """CEL: fields of a pod that a variable may name, beside labels and annotations."""
        return text_list(sorted(POD_FIELDS))

    @property
    def resource_form(self) -> str:
        """CEL: regular expression of a resource that a variable may name, and its divisor."""
        return text(_RESOURCES)

    @property
    def reserved_endings(self) -> str:
        """CEL: endings of names of ConfigMaps that only Trainer may use."""
        return text_list(self.release.reserved_config_maps)

    @property
    def platform_namespaces(self) -> str:
        """CEL: names of the platform's namespaces; one that ends with ``*`` is a prefix."""
        release = self.release
        return text_list(sorted({*release.system_namespaces, *release.workspace_ingress}))

    @property
    def is_of_controller(self) -> str:
        """CEL: the object has the name of a ConfigMap that another controller keeps."""
        return is_one_of("variables.metadata.name", self.release.controller_config_maps)


@dataclass(frozen=True, slots=True)
class FinishedJobsView:
    """The CronJob that deletes finished jobs, as templates read it."""

    cleanup: FinishedJobs

    @property
    def role(self) -> str:
        """ClusterRole that is bound in each team's namespace."""
        return names.FINISHED_JOBS_ROLE

    @property
    def keep_display(self) -> str:
        """The time that a job is kept, as a profile states it, e.g. ``3d``."""
        return format_seconds(self.cleanup.keep)

    @property
    def keep_text(self) -> str:
        """The same in seconds, as the value of an environment variable."""
        return str(self.cleanup.keep)

    @property
    def query(self) -> str:
        """Template for kubectl; ``%s`` is the time before which the listed jobs ended."""
        return _FINISHED

    @property
    def image_pull_secrets(self) -> list[dict[str, str]]:
        """The pull secret, by name."""
        secret = self.cleanup.pull_secret
        return [{"name": secret.name}] if secret else []

    @property
    def annotations(self) -> dict[str, str]:
        """Annotations of the pod."""
        return ReleaseView(self.cleanup.release).scc

    @property
    def pod_security(self) -> dict[str, object]:
        """Security context of the pod, which mounts no volume."""
        context = ReleaseView(self.cleanup.release).pod_security
        return {key: value for key, value in context.items() if key != "fsGroup"}
