#!/usr/bin/env bash
# Installs into .tools/peers what `make bench` compares with: cdk8s, and Kapitan in an environment of its own.
# A peer that can't be installed is not measured. Trainyard itself needs none.
# usage: requirements/install-peers.sh PYTHON
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p .tools/peers
cp requirements/peers/package.json requirements/peers/package-lock.json .tools/peers
(cd .tools/peers && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) \
  || echo "cdk8s can't be installed here"
"$1" -m venv .tools/peers/venv
.tools/peers/venv/bin/python -m pip install --quiet kapitan==0.36.3 || echo "Kapitan can't be installed here"
