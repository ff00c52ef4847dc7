#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs a Debian package into a fresh minimal Debian 12 and runs its programs there. Needs root, mmdebstrap and Debian's archive.
# usage: scripts/check_package.sh PACKAGE.deb
set -euo pipefail

package="$(realpath "$1")"
root="$(mktemp -d)"
trap 'umount -q "$root/debian/proc" || true; rm -rf --one-file-system "$root"' EXIT

# shellcheck disable=SC2016  # $1 is mmdebstrap's
mmdebstrap --quiet --variant=minbase --mode=root \
  --customize-hook="copy-in '$package' /tmp" \
  --customize-hook="chroot \"\$1\" sh -c 'apt-get install -y -qq --no-install-recommends /tmp/$(basename "$package")'" \
  bookworm "$root/debian"

mount -t proc proc "$root/debian/proc"  # weft-sim asks it where it is

in_debian() {
  echo "+ $*"
  chroot "$root/debian" "$@"
}
in_debian weft --version
in_debian weft topology fattree3:4
in_debian weft mcast --topology fattree3:8 --groups grid:8x16 --colors 128 --check
in_debian weft-sim rdma --bytes 20000 --loss 0.01
in_debian weft-sim rdma --bytes 20000 --bare
in_debian weft-sim soak --runs 2
# shellcheck disable=SC2016  # $! and $node are those of the inner shell
in_debian sh -c 'weft-node --nodes 2 & node=$!; sleep 2; weft-pingpong --node 1 & weft-pingpong --node 0 1 && kill $node'
in_debian sh -c 'test -s /usr/share/man/man1/weft-mcast.1.gz -a -s /usr/share/weft/rtl/rdma/rdma.f -a -s /usr/include/weft/weft_registers.h -a -s /usr/share/doc/weft/NOTICE'
echo "package: $(basename "$package") installs on a fresh Debian 12 and runs"
