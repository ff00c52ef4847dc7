#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs a Debian package into a fresh minimal Debian 12, runs its programs there, completes their command lines in bash, and builds
# programs of others against its library, headers and CMake package. Needs root, mmdebstrap and Debian's archive.
# usage: scripts/check_package.sh PACKAGE.deb
set -euo pipefail

package="$(realpath "$1")"
source="$(realpath "$(dirname "$0")/..")"
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
# Two programs at once, on a node each.
on_two_nodes() {
  # shellcheck disable=SC2016  # $! and so on are those of the inner shell
  in_debian timeout 300 sh -e -c 'rm -f ready; weft-node --nodes 2 >ready & node=$!; trap "kill $node" EXIT
    until grep -qs ready ready; do kill -0 $node; sleep 0.1; done
    '"$1"' & first=$!; '"$2"'; wait $first; trap - EXIT; kill $node; wait $node'
}
on_two_nodes 'weft-pingpong --node 1' 'weft-pingpong --node 0 1'
on_two_nodes 'weft-copy --node 0 /usr/bin/weft' 'weft-copy --node 1 --from 0 copy'
in_debian cmp copy /usr/bin/weft
on_two_nodes 'weft-allgather --node 0 --nodes 2' 'weft-allgather --node 1 --nodes 2'
on_two_nodes 'weft-node-barrier --node 0 --nodes 2 --rounds 5' 'weft-node-barrier --node 1 --nodes 2 --rounds 5'
on_two_nodes 'weft_write_bw --node 1 -n 20' 'weft_write_bw --node 0 -n 20 1'
on_two_nodes 'weft_write_lat --node 1 -n 20' 'weft_write_lat --node 0 -n 20 1'
# shellcheck disable=SC2016  # of the inner shell
in_debian bash -e -c '. /usr/share/bash-completion/completions/weft; COMP_WORDS=(weft topo); COMP_CWORD=1; _weft; test "${COMPREPLY[*]}" = topology'
in_debian sh -c 'test -s /usr/share/man/man1/weft-mcast.1.gz -a -s /usr/share/weft/rtl/rdma/rdma.f -a -s /usr/include/weft/weft_registers.h -a -s /usr/share/doc/weft/NOTICE'

# Others build against what was installed.
in_debian apt-get update -qq
in_debian env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends cmake g++ libfmt-dev make nlohmann-json3-dev
cp -r "$source/tests/flow/consumer" "$root/debian/consumer"
in_debian cmake -S /consumer -B /built
in_debian cmake --build /built
in_debian /built/consumer
in_debian /built/consumer_of_driver
in_debian /built/consumer_of_registers
page="$source/docs/first_transfer.md"
for program in write room; do
  sed -n "/^\`$program.cpp\`/,/^\`\`\`\$/ { /^\`/d; p }" "$page" >"$root/debian/$program.cpp"
  in_debian g++ -std=c++20 -I/usr/include/weft $program.cpp -o $program -lweft_driver
done
on_two_nodes ./room ./write
echo "package: $(basename "$package") installs on a fresh Debian 12 and runs"
