#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The sweep of routes as a Slurm job array, and by GNU parallel, gives the same results as in one process: tests/flow/local_slurm.sh WEFT
# Starts munged, slurmctld and slurmd of its own in a new folder, on this machine only (Debian: slurm-wlm, munge; as root).
set -euo pipefail
cd "$(dirname "$0")/../.."
weft=$(realpath "$1")
folder=$(mktemp -d)
export SLURM_CONF=$folder/slurm.conf
host=$(hostname -s)

started=()
finish() {
  for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$folder"
}
trap finish EXIT

dd if=/dev/urandom of="$folder/key" bs=128 count=1 status=none
chmod 400 "$folder/key"
chmod 755 "$folder"
munged --foreground --force --key-file "$folder/key" --socket "$folder/munge" --pid-file "$folder/munged.pid" --log-file "$folder/munged.log" --seed-file "$folder/seed" >"$folder/munged.out" 2>&1 &
started+=($!)
mkdir "$folder/state" "$folder/spool"
cat >"$SLURM_CONF" <<END
ClusterName=weft
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
AuthInfo=socket=$folder/munge
CredType=cred/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
slurmctld -D >"$folder/slurmctld.log" 2>&1 &
started+=($!)
slurmd -D >"$folder/slurmd.log" 2>&1 &
started+=($!)

for _ in $(seq 60); do
  [[ $(sinfo -h -o %T 2>/dev/null) == idle ]] && break
  sleep 1
done
if [[ $(sinfo -h -o %T) != idle ]]; then
  cat "$folder"/*.log >&2
  exit 1
fi

export WEFT=$weft SWEEP_ARGS="--smoke --folder $folder/array"
sbatch --wait --array=3-6 --output "$folder/job_%a.log" experiments/route_traffic.slurm || {
  cat "$folder"/job_*.log >&2
  exit 1
}
python3 -B experiments/route_traffic.py "$weft" --smoke --folder "$folder/alone"
# Lines of all parts, but for the time that each took.
lines() { sed 's/"clocks_per_cpu_second": [^,}]*//' "$1"/*/*.jsonl | LC_ALL=C sort; }
seq 0 3 | parallel --will-cite -j 2 python3 -B experiments/route_traffic.py "$weft" --smoke --folder "$folder/parallel" --part {} --of 4
for way in array parallel; do
  test "$(find "$folder/$way" -name '*.jsonl' | wc -l)" = 4
  diff <(lines "$folder/$way") <(lines "$folder/alone")
done
echo "$(lines "$folder/alone" | wc -l) runs by four tasks of a Slurm job array, by four of GNU parallel and by one process: the same results"
