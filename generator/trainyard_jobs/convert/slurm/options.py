"""What becomes of the options of sbatch and srun that have no place of their own in a TrainJob."""

from __future__ import annotations

from trainyard_jobs.convert.remarks import Remarks
from trainyard_jobs.convert.slurm.getopt import KNOWN, Option
from trainyard_jobs.convert.words import words

_KUEUE = "Kueue decides by quota and priority"
_BINDING = "the runtime's `binding` says what a rank is bound to"
_PLACES = "Kueue places the pods; no field names nodes"
_LOGS = "the output is in the pods' logs: `kubectl logs`"
_WHOLE = "a pod has its whole node, or the share that its runtime gives"
_MAIL = "nothing sends mail; `kubectl wait` or a controller of notifications does"
_PLUGIN = "the runtime's image and `mpirun` take its place"

DROPPED = {
    **dict.fromkeys(words("output error open-mode label unbuffered"), _LOGS),
    **dict.fromkeys(words("mail-type mail-user"), _MAIL),
    **dict.fromkeys(words("nice priority deadline immediate time-min"), _KUEUE),
    **dict.fromkeys(
        words("nodelist exclude nodefile relative spread-job use-min-nodes prefer"), _PLACES
    ),
    **dict.fromkeys(words("cluster-constraint clusters"), "the job is created on one cluster"),
    **dict.fromkeys(
        words(
            """
            accel-bind cores-per-socket core-spec cpu-bind distribution extra-node-info gpu-bind
            gres-flags hint mem-bind ntasks-per-core ntasks-per-socket gpus-per-socket
            sockets-per-node thread-spec threads-per-core tres-bind
            """
        ),
        _BINDING,
    ),
    **dict.fromkeys(words("cpu-freq gpu-freq"), "a job does not set the frequency of a node"),
    **dict.fromkeys(
        words("exclusive oversubscribe overcommit exact overlap whole mincpus"), _WHOLE
    ),
    **dict.fromkeys(words("licenses bb bbf"), "nothing counts them; Kueue's quota is of nodes"),
    **dict.fromkeys(
        words("begin hold"), "Kueue starts the job when it has quota: create it when it may run"
    ),
    "dependency": "no TrainJob waits for another: create this one when the other has ended, or let "
    "a pipeline do so",
    "kill-on-invalid-dep": "no TrainJob waits for another",
    "reservation": "no queue is reserved for a time; the team's quota is",
    "contiguous": "Kueue places the job by topology where the cluster has one",
    "network": "the runtime sets the network",
    "no-kill": "a job whose node fails ends or starts again as a whole",
    "kill-on-bad-exit": "`mpirun` and torchrun always end the job with a rank that fails",
    "wait": "the commands return at once: `kubectl wait` waits",
    "mpi": "`mpirun` starts the ranks by ssh, without PMI of Slurm",
    "comment": "write an annotation",
    "wckey": "write a label",
    "propagate": "the node's limits count; that of locked memory is set on the node",
    "reboot": "no job restarts a node",
    "tmp": "the runtime requests ephemeral storage",
    "input": "a pod has no standard input: read the file",
    "get-user-env": "a pod has the environment of its image",
    "export-file": "write the variables into spec.trainer.env",
    "container-name": _PLUGIN,
    "container-workdir": "the command runs in the image's working directory",
    "container-mount-home": "a pod has no home of yours",
    "container-writable": "a container can be written to",
    "container-entrypoint": "the job's command takes the place of the entrypoint",
    "no-requeue": "Kueue queues an evicted job again, always",
    "signal": "an evicted job gets SIGTERM and the runtime's `grace`, and no signal before the end "
    "of its time: let the ranks write a checkpoint at SIGTERM",
    "x11": "a pod shows no windows",
    "switches": "a runtime on a fabric places its pods by topology",
}
SILENT = words("parsable quiet verbose requeue acctg-freq profile oom-kill-step stepmgr jobid")
"""Options without a trace in what runs. Kueue queues an evicted job again, as with ``requeue``."""

USED = words(
    """
    account array chdir constraint container container-image container-mounts cpus-per-gpu
    cpus-per-task export gpus gpus-per-node gpus-per-task gres job-name mem mem-per-cpu mem-per-gpu
    nodes ntasks ntasks-per-gpu ntasks-per-node partition qos time tres-per-task
    """
)
"""Options that have a place in a TrainJob, or a note of their own."""


def note_dropped(option: Option, remarks: Remarks) -> None:
    """Note an option that has no place in a TrainJob."""
    if option.name in SILENT or option.name in USED:
        return
    if option.name not in KNOWN:
        meaning = (
            "Slurm 26.05 has no such option: if a plugin of the site (SPANK) has it, provide what "
            "it gave to the job in another way"
        )
        remarks.choose(option.at, option.shown, meaning)
        return
    meaning = DROPPED.get(option.name, "a TrainJob has nothing like it")
    remarks.dropped(option.at, option.shown, meaning)
