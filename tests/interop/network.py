# SPDX-License-Identifier: Apache-2.0
"""A machine that boots as network namespaces of Linux: bridges as switches, token buckets on the way from servers to nodes. Needs root."""

import contextlib
import ctypes
import os
import pathlib
import re
import signal
import subprocess
import time

CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)
QUEUE = 2_000_000  # bytes that wait before a link: more than all windows of its receivers together, so that none is lost and nobody waits for a timeout
FOLDER = pathlib.Path("/run/netns")


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def missing():
    """Why namespaces with shaped links cannot be had here, or nothing."""
    if os.geteuid() != 0:
        return "not root"
    name = f"weft-{os.getpid()}-try"
    try:
        run("ip", "netns", "add", name)
        try:
            run("ip", "-n", name, "link", "add", "one", "type", "veth", "peer", "name", "two")
            run("ip", "-n", name, "link", "add", "three", "type", "bridge")
            run("tc", "-n", name, "qdisc", "add", "dev", "one", "root", "tbf", "rate", "1mbit", "burst", "5kb", "limit", "30kb")
        finally:
            run("ip", "netns", "delete", name)
    except FileNotFoundError as error:
        return f"no {error.filename}"
    except subprocess.CalledProcessError as error:
        return f"{' '.join(error.cmd)}: {error.stderr.strip()}"
    return ""


class Machine:
    """Supernodes of boards of nodes, a core, edge switches of servers; all in one Ethernet."""

    def __init__(self, shape, mbps):
        """@param shape: cpus, boards, supernodes, servers, servers_per_edge; @param mbps: of N1 to N5, from server to node"""
        self.shape = shape
        self.mbps = mbps
        self.prefix = f"weft-{os.getpid()}-"
        self.names = []
        self.processes = []
        self.links = []
        self.buckets = []

    def build(self):
        for name in ["fabric", *self.nodes(), *self.servers()]:
            run("ip", "netns", "add", self.prefix + name)
            self.names.append(name)
        bridges = ["core"]
        for supernode in range(self.shape["supernodes"]):
            bridges.append(f"sn{supernode}")
            self.join("core", bridges[-1], 2)
        boards = self.shape["supernodes"] * self.shape["boards"]
        for board in range(boards):
            bridges.append(f"b{board}")
            self.join(f"sn{board // self.shape['boards']}", bridges[-1], 1)
        for node, name in enumerate(self.nodes()):
            self.hang(f"b{node // self.shape['cpus']}", name, self.mac(node))
            self.bucket(f"to-{name}", 0)
        for edge in range(-(-self.shape["servers"] // self.shape["servers_per_edge"])):
            bridges.append(f"e{edge}")
            self.join(bridges[-1], "core", 3)
        for server, name in enumerate(self.servers()):
            self.hang(f"e{server // self.shape['servers_per_edge']}", name)
        self.batch("ip", "fabric", [f"link add {bridge} type bridge" for bridge in bridges] + [f"link set {bridge} up" for bridge in bridges] + self.links)
        self.batch("tc", "fabric", self.buckets)
        for name in self.nodes():
            self.batch("ip", name, ["link set lo up", "link set eth0 up"])
        for server, name in enumerate(self.servers()):
            self.batch("ip", name, ["link set lo up", "link set eth0 up", f"address add 10.0.0.{server + 1}/8 dev eth0"])
            self.batch("tc", name, [self.bucket_text("eth0", 4)])

    def nodes(self):
        return [f"n{node}" for node in range(self.shape["cpus"] * self.shape["boards"] * self.shape["supernodes"])]

    def servers(self):
        return [f"s{server}" for server in range(self.shape["servers"])]

    @staticmethod
    def mac(node):
        return f"02:00:00:00:00:{node:02x}"

    def join(self, above, below, segment):
        """Two bridges; what goes from the first to the second is slowed."""
        self.links += [f"link add {above}-{below} type veth peer name {below}-{above}", f"link set {above}-{below} master {above} up", f"link set {below}-{above} master {below} up"]
        self.bucket(f"{above}-{below}", segment)

    def hang(self, bridge, name, mac=None):
        self.links += [f"link add to-{name} type veth peer name eth0 {f'address {mac} ' if mac else ''}netns {self.prefix}{name}", f"link set to-{name} master {bridge} up"]

    def bucket_text(self, device, segment):
        return f"qdisc add dev {device} root tbf rate {self.mbps[segment]}mbit burst 4kb limit {QUEUE}"

    def bucket(self, device, segment):
        self.buckets.append(self.bucket_text(device, segment))

    def batch(self, program, name, commands):
        run(program, "-n", self.prefix + name, "-batch", "-", input="\n".join(commands) + "\n")

    def lose(self, name, percent):
        """From now on packets that come to a node are lost. By the packet filter: not every kernel has netem."""
        rules = f"table inet loss {{\nchain arriving {{\ntype filter hook prerouting priority -300;\nnumgen random mod 1000 < {round(10 * percent)} counter drop\n}}\n}}\n"
        run("ip", "netns", "exec", self.prefix + name, "nft", "-f", "-", input=rules)

    def lost(self, name):
        """Packets so far."""
        rules = run("ip", "netns", "exec", self.prefix + name, "nft", "list", "table", "inet", "loss")
        return int(re.search(r"counter packets (\d+)", rules)[1])

    def heal(self, name):
        run("ip", "netns", "exec", self.prefix + name, "nft", "delete", "table", "inet", "loss")

    def plug(self, name, state):
        """@param state: up or down"""
        run("ip", "-n", self.prefix + name, "link", "set", "eth0", state)

    @contextlib.contextmanager
    def inside(self, name):
        """This thread's new sockets belong to the namespace."""
        with open("/proc/thread-self/ns/net", "rb") as home, open(FOLDER / (self.prefix + name), "rb") as there:
            enter(there)
            try:
                yield
            finally:
                enter(home)

    def start(self, name, *command):
        process = subprocess.Popen(["ip", "netns", "exec", self.prefix + name, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.processes.append(process)
        return process

    def stop(self, processes):
        """At once, with their children."""
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stdout.close()
            process.stderr.close()
            self.processes.remove(process)

    def remove(self):
        self.stop(list(self.processes))
        for name in self.names:
            run("ip", "netns", "delete", self.prefix + name)
        self.names.clear()


def enter(namespace):
    if LIBC.setns(namespace.fileno(), CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def wait_until(true, seconds=10):
    """Whether it became true."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
