#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages of a list (scripts/apt-packages.txt) that are missing; does nothing when all are there.
# WEFT_SKIP_SETUP=1 turns it off, for systems where the tools come from elsewhere.
set -euo pipefail

list="${1:-$(dirname "$0")/apt-packages.txt}"

is_installed() {
  [[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]
}

missing_packages() {
  local package
  while read -r package; do
    [[ -z "$package" || "$package" == \#* ]] && continue
    is_installed "$package" || echo "$package"
  done <"$list"
}

as_root() {
  if [[ "$(id -u)" -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "setup: must be root, or have sudo, to run: $*" >&2
    exit 2
  fi
}

install_packages() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

if [[ "${WEFT_SKIP_SETUP:-0}" == 1 ]]; then
  exit 0
fi
if ! command -v dpkg-query >/dev/null; then
  echo "setup: not a Debian system; install the counterparts of $list, then set WEFT_SKIP_SETUP=1" >&2
  exit 2
fi

mapfile -t missing < <(missing_packages)
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

echo "setup: installing ${missing[*]}"
# Package lists may be absent (fresh container) or out of date (a download fails): only then fetch them. Archives are now and then not
# all there, or not reachable, so that is tried again.
if ! apt-cache show "${missing[@]}" >/dev/null 2>&1 || ! install_packages "${missing[@]}"; then
  tries=3
  until as_root apt-get update -qq && install_packages "${missing[@]}"; do
    if ((--tries == 0)); then
      echo "setup: not all could be installed" >&2
      exit 2
    fi
    echo "setup: not all could be installed; again in 10 seconds" >&2
    sleep 10
  done
fi
echo "setup: done"
