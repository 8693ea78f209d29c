"""A pipeline with a step that trains on two nodes: it submits a TrainJob and ends as the job does.

``python pipeline.py`` compiles it to ``pipeline.yaml``, with kfp 2.17.
"""

from pathlib import Path

from kfp import compiler, dsl

IMAGE = "registry.example.com/ml/kubectl:1.34"  # with bash and kubectl
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  generateName: pipeline-
  labels:
    kueue.x-k8s.io/priority-class: batch
spec:
  runtimeRef:
    name: torchrun-v1-dgx-h100
  trainer:
    numNodes: 2
    args: [/mnt/scratch/train.py]
"""
SCRIPT = """\
set -euo pipefail
job=$(printf '%s' "$0" | kubectl create --filename - --output name)
# A pipeline that is stopped ends its job, which would keep its nodes.
trap 'kubectl delete "$job" --wait=false' EXIT
trap 'exit 143' TERM
show() {
  kubectl logs --selector "jobset.sigs.k8s.io/jobset-name=${job##*/}" --prefix --tail 100
}
until kubectl wait "$job" --for condition=complete --timeout 10s 2> /dev/null; do
  if kubectl wait "$job" --for condition=failed --timeout 1s 2> /dev/null; then
    show
    exit 1
  fi
done
show
"""


@dsl.container_component
def train(job: str) -> dsl.ContainerSpec:
    """Run a TrainJob to its end."""
    return dsl.ContainerSpec(image=IMAGE, command=["bash", "-c", SCRIPT], args=[job])


@dsl.pipeline(name="train-on-two-nodes")
def train_on_two_nodes() -> None:
    """One step; add those before and after it here."""
    # A step that was run before with the same job would be taken from the cache.
    train(job=JOB).set_caching_options(enable_caching=False)


if __name__ == "__main__":
    target = Path(__file__).with_name("pipeline.yaml")
    compiler.Compiler().compile(train_on_two_nodes, str(target))
