#!/usr/bin/env bash
# Installs this checkout's Trainyard with its pinned dependencies into a folder, for the action of GitHub and for images.
# usage: requirements/install-run.sh FOLDER [PYTHON]
set -euo pipefail
folder=$(realpath -m "$1")
cd "$(dirname "$0")/.."

"${2:-python3}" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --no-deps --require-hashes --requirement requirements/run.txt
"$folder/bin/python" -m pip install --quiet --no-deps --no-build-isolation .
