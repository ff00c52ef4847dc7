# SPDX-License-Identifier: Apache-2.0
"""What the nodes of a large machine ask of a DHCP server: real dnsmasq, Kea and dhcpd with the files of `weft boot`, in a network namespace of their own; all nodes ask by way of a relay, a few
at any time. Seconds until the first answer after the start, memory, leases a second. Needs root. Exit code 1 if a node gets an address other than the plan's.

usage: experiments/boot_dhcp.py WEFT [--nodes N] [--at-once N]
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "interop"))
import boot_client  # noqa: E402
import network  # noqa: E402

RELAY, SERVER = "10.127.0.1", "10.0.0.1"
DNSMASQ = ("dnsmasq", "--keep-in-foreground", "--user=root", "--conf-file={0}/dnsmasq.conf", "--pid-file={0}/pid")
PROGRAMS = {"dnsmasq": (*DNSMASQ, "--dhcp-leasefile={0}/leases"), "dnsmasq --leasefile-ro": (*DNSMASQ, "--leasefile-ro"),
            "kea": ("env", "KEA_PIDFILE_DIR={0}", "KEA_LOCKFILE_DIR={0}", "kea-dhcp4", "-c", "{0}/kea-dhcp4.conf"), "dhcpd": ("dhcpd", "-f", "-cf", "{0}/dhcpd.conf", "-lf", "{0}/leases", "-pf", "{0}/pid", "eth0")}
SILENCE = 2  # seconds, after which a node asks again
PATIENCE = 200  # seconds for all


def mac_of(node):
    return bytes((2, 0, 0)) + node.to_bytes(3, "big")


def packet(node, kind, more=b""):
    fixed = boot_client.BOOTP.pack(1, 1, 6, 1, node, 0, 0, 0, 0, 0, int.from_bytes(socket.inet_aton(RELAY), "big"), mac_of(node), b"", b"")
    return fixed + boot_client.COOKIE + bytes((53, 1, kind, 55, 5, 1, 3, 17, 66, 67)) + more + b"\xff"


class Crowd:
    """Nodes that want a lease."""

    def __init__(self, link, nodes, at_once):
        self.link = link
        self.waiting = list(reversed(range(nodes)))
        self.at_once = at_once
        self.asking = {}  # node -> (packet, when it was sent)
        self.again = 0
        self.faults = 0

    def send(self, node, text):
        self.asking[node] = text, time.monotonic()
        self.link.sendto(text, (SERVER, 67))

    def run(self):
        """Seconds until all have one."""
        start = time.monotonic()
        while (self.waiting or self.asking) and time.monotonic() - start < PATIENCE:
            while self.waiting and len(self.asking) < self.at_once:
                node = self.waiting.pop()
                self.send(node, packet(node, boot_client.DISCOVER))
            self.take()
            for node, (text, sent) in list(self.asking.items()):
                if time.monotonic() - sent > SILENCE:
                    self.again += 1
                    self.send(node, text)
        return time.monotonic() - start

    def take(self):
        try:
            answer = self.link.recv(2048)
        except TimeoutError:
            return
        fields = boot_client.BOOTP.unpack_from(answer)
        found = boot_client.options_of(answer[boot_client.BOOTP.size + 4:])
        node, kind = fields[4], found[53][0]
        if node not in self.asking:
            return
        address = fields[8].to_bytes(4, "big")
        if kind == boot_client.OFFER:
            self.send(node, packet(node, boot_client.REQUEST, bytes((50, 4)) + address + bytes((54, 4)) + found[54]))
        elif kind == boot_client.ACK:
            del self.asking[node]
            self.faults += int.from_bytes(address, "big") != (10 << 24 | 64 << 16) + node


def memory_mib(process):
    """Of the process and what it has started."""
    pids = [str(process.pid)]
    for pid in pids:
        pids += pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    lines = [line for pid in pids for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines() if line.startswith("VmRSS")]
    return max(int(line.split()[1]) for line in lines) / 1024


@contextlib.contextmanager
def namespaces():
    """(of the server, of the relay), joined."""
    names = [f"weft-{os.getpid()}-{kind}" for kind in ("server", "relay")]
    try:
        for name in names:
            network.run("ip", "netns", "add", name)
        network.run("ip", "link", "add", "eth0", "netns", names[0], "type", "veth", "peer", "name", "eth0", "netns", names[1])
        for name, address in zip(names, (SERVER, RELAY)):
            network.run("ip", "-n", name, "address", "add", f"{address}/8", "dev", "eth0")
            network.run("ip", "-n", name, "link", "set", "eth0", "up")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


def write(weft, program, folder, nodes):
    (folder / "boot.img").write_bytes(b"image")
    (folder / "nodes").write_text("".join(f"{node} {mac_of(node).hex(':')}\n" for node in range(nodes)), encoding="utf-8")
    program = program.split()[0]
    config = folder / program
    supernodes = str(-(-nodes // 256))
    network.run(weft, "boot", "--supernodes", supernodes, "--servers", supernodes, "--image", str(folder / "boot.img"), "--nodes", f"file:{folder / 'nodes'}", "--serve-from", str(folder), f"--{program}", str(config))
    if program == "kea":
        file = config / "kea-dhcp4.conf"
        text = json.loads(file.read_text(encoding="utf-8"))
        text["Dhcp4"]["lease-database"]["name"] = str(config / "leases")
        file.write_text(json.dumps(text), encoding="utf-8")
    else:
        (config / "leases").touch()
    return config


def measure(program, config, names, nodes, at_once):
    """A row of the table; whether it is as it should be."""
    with open(network.FOLDER / names[1], "rb") as there, open("/proc/thread-self/ns/net", "rb") as home:
        network.enter(there)
        link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        network.enter(home)
    with link:
        link.bind((RELAY, 67))
        link.settimeout(0.01)
        start = time.monotonic()
        process = subprocess.Popen(["ip", "netns", "exec", names[0], *(word.format(config) for word in PROGRAMS[program])], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            first = Crowd(link, 1, 1)
            first.send(0, packet(0, boot_client.DISCOVER))
            while not any(text[boot_client.BOOTP.size + 6] == boot_client.REQUEST for text, _ in first.asking.values()):
                first.send(0, packet(0, boot_client.DISCOVER))
                first.take()
                if process.poll() is not None or time.monotonic() - start > PATIENCE:
                    return [program, "does not answer"], False
            begun = time.monotonic() - start
            crowd = Crowd(link, nodes, at_once)
            seconds = crowd.run()
            left = len(crowd.waiting) + len(crowd.asking)
            row = [program, f"{begun:.2f} s", f"{memory_mib(process):.0f} MiB", f"{seconds:.1f} s", f"{(nodes - left) / seconds:.0f}", crowd.again, left, crowd.faults]
            return row, left == 0 and crowd.faults == 0
        finally:
            process.kill()
            process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--nodes", type=int, default=10000)
    parser.add_argument("--at-once", type=int, default=50)
    arguments = parser.parse_args()
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    good = True
    print("| server | first answer | memory | all have leases | leases a second | asked again | without | wrong address |\n|---|---:|---:|---:|---:|---:|---:|---:|")
    for program, command in PROGRAMS.items():
        if shutil.which(next(word for word in command if word in ("dnsmasq", "kea-dhcp4", "dhcpd"))) is None:
            print(f"| {program} | not installed |", flush=True)
            continue
        with tempfile.TemporaryDirectory() as folder, namespaces() as names:
            pathlib.Path(folder).chmod(0o755)
            row, fine = measure(program, write(arguments.weft, program, pathlib.Path(folder), arguments.nodes), names, arguments.nodes, arguments.at_once)
        good &= fine
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
