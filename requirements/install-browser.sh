#!/usr/bin/env bash
# Installs what the tests of the report need: Chromium of the distribution, and in .tools/browser the pinned libraries
# that drive it and judge its accessibility. They are tests only; Trainyard itself needs no browser.
# usage: requirements/install-browser.sh
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "$1" >&2
  exit 1
}

command -v npm >/dev/null || fail "the tests of the report need npm and Node.js 20 or newer: install nodejs and npm"
if ! command -v chromium >/dev/null; then
  command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] \
    || fail "the tests of the report need Chromium as \`chromium\` in the PATH: install it, or run this as root on Debian"
  apt-get update --quiet=2
  apt-get install --quiet=2 --yes --no-install-recommends chromium
fi
mkdir -p .tools/browser
cp requirements/browser/package.json requirements/browser/package-lock.json .tools/browser
cd .tools/browser
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
