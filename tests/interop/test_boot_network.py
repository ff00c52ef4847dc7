# SPDX-License-Identifier: Apache-2.0
"""A small machine boots over a real network from real servers, as the files of `weft boot` say: how long it takes under SCDA and BCDA against the planner, and what
happens when a server dies. Exit code 77: cannot be run here; WEFT_MUST_NOT_SKIP=1: 1 then.

usage: test_boot_network.py WEFT WEFT_RELAY
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import sys
import tempfile
import threading
import time
import unittest

import boot_client
import multicast
import network
import skips

WEFT = sys.argv.pop(1)
RELAY = sys.argv.pop(1)
SHAPE = {"cpus": 2, "boards": 4, "supernodes": 2, "servers": 4, "servers_per_edge": 2}
MBPS = (8, 8, 24, 24, 4)
IMAGE = os.urandom(500_000)
NODES = range(8)  # one supernode boots: SCDA uses one server, BCDA all
ALL = range(16)  # SCDA uses two of four servers
CLIENT = "ff:00:00:00:00:00:02:00:00:02:c9:00:00:02:c9:03:00:00:00:{:02x}"  # identifier of a card of InfiniBand: a prefix and its GUID
LOADERS = {None: "undionly.kpxe", 0: "undionly.kpxe", 7: "ipxe.efi", 9: "ipxe.efi", 11: "ipxe-arm64.efi"}  # by architecture: BIOS, EFI of x86-64, EFI of ARM64


def digest(image):
    return hashlib.sha256(image).hexdigest()


class Boot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="weft-boot-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.folder.chmod(0o755)
        cls.machine = network.Machine(SHAPE, MBPS)
        cls.addClassCleanup(cls.machine.remove)
        cls.machine.build()
        (cls.folder / "boot.img").write_bytes(IMAGE)
        (cls.folder / "vmlinuz").write_bytes(b"small system")

    def write(self, program, algorithm, folder, nodes=NODES):
        """Files of a plan; the plan."""
        more = ("--kernel", str(self.folder / "vmlinuz")) if algorithm in ("peers", "multicast") else ()
        (self.folder / "nodes").write_text("".join(f"{node} {self.machine.mac(node)}\n" for node in nodes), encoding="utf-8")
        rates = [word for segment, mbps in enumerate(MBPS, 1) for word in (f"--n{segment}-mbps", str(mbps), f"--n{segment}-count", "1")]
        shape = [word for name, count in SHAPE.items() for word in ("--" + name.replace("_", "-"), str(count))]
        network.run(WEFT, "boot", *shape, *rates, "--image", str(self.folder / "boot.img"), "--nodes", f"file:{self.folder / 'nodes'}", "--algorithm", algorithm, *more,
                    "--serve-from", str(folder), "--" + program, str(folder), "--json", str(self.folder / "plan.json"), "--mapping")
        return json.loads((self.folder / "plan.json").read_text(encoding="utf-8"))

    def plan(self, algorithm, nodes=NODES):
        """Starts the servers with the files of a plan; the plan."""
        folder = self.folder / f"{algorithm}-{len(nodes)}"
        shutil.rmtree(folder, ignore_errors=True)  # of another test: with its images in it weft boot does not replace it
        plan = self.write("dnsmasq", algorithm, folder, nodes)
        for image in ("boot.img", "vmlinuz"):
            shutil.copy(self.folder / image, folder)
        for name in self.machine.servers():
            self.addCleanup(self.machine.stop, self.serve(name, folder))
        return plan

    def serve(self, name, folder):
        nginx = self.machine.start(name, "nginx", "-c", str(folder / "nginx.conf"), "-p", str(self.folder),
                                   "-g", f"daemon off; user root; pid {self.folder}/{name}.pid; error_log {self.folder}/{name}.log;")
        dnsmasq = self.machine.start(name, "dnsmasq", "--keep-in-foreground", "--user=root", f"--conf-file={folder / 'dnsmasq.conf'}",
                                     f"--dhcp-leasefile={self.folder}/{name}.leases", "--no-ping", f"--pid-file={self.folder}/{name}.dnsmasq")
        self.assertTrue(network.wait_until(lambda: self.listens(name)), f"no server in {name}")
        for process in (nginx, dnsmasq):
            self.assertIsNone(process.poll(), name)
        return [nginx, dnsmasq]

    def listens(self, name):
        with self.machine.inside(name):
            text = "".join(pathlib.Path("/proc/thread-self/net", table).read_text(encoding="utf-8") for table in ("tcp", "udp"))
        return all(f":{port:04X} " in text for port in (80, 67, 69))

    def configure(self, node):
        """By DHCP and TFTP; the script."""
        name = f"n{node}"
        with self.machine.inside(name):
            firmware = boot_client.Dhcp(self.machine.mac(node), b"").lease()
            address, server, file, _ = boot_client.Dhcp(self.machine.mac(node), b"iPXE").lease()
        self.assertEqual(firmware[2], "undionly.kpxe")
        self.assertEqual(address, f"10.64.0.{node}")
        network.run("ip", "-n", self.machine.prefix + name, "address", "replace", address + "/8", "dev", "eth0")
        with self.machine.inside(name), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
            return boot_client.tftp(link, server, file)

    def fetch(self, node, url, silence):
        with self.machine.inside(f"n{node}"):
            link = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        return boot_client.http(link, url, silence)

    def expect_image(self, image, node):
        self.assertEqual(digest(image), digest(IMAGE), f"node {node}")

    def boot_all(self, nodes=NODES, meanwhile=lambda: None):
        """(seconds until the last node has its image, addresses that each asked)"""
        scripts = [self.configure(node) for node in nodes]
        together = threading.Barrier(len(nodes) + 1)

        def boot(node):
            together.wait()
            image, urls = boot_client.boot(scripts[node], lambda url, silence: self.fetch(node, url, silence))
            self.expect_image(image, node)
            return time.monotonic(), [url.split("/")[2] for url in urls]

        with concurrent.futures.ThreadPoolExecutor(len(nodes)) as pool:
            booting = [pool.submit(boot, node) for node in nodes]
            together.wait()
            start = time.monotonic()
            meanwhile()
            ends, asked = zip(*(each.result() for each in booting))
        return max(ends) - start, list(asked)

    def expect_loaders(self, node, script):
        """Firmware of each architecture is given its iPXE, and that its script."""
        found = {}
        for architecture in LOADERS:
            with self.machine.inside(f"n{node}"):
                found[architecture] = boot_client.Dhcp(self.machine.mac(node), b"", architecture).lease()[2]
                self.assertEqual(boot_client.Dhcp(self.machine.mac(node), b"iPXE", architecture).lease()[2], script, architecture)
        self.assertEqual(found, LOADERS)

    def test_dnsmasq_knows_the_architectures(self):
        mapping = self.plan("balanced")["mapping"]
        self.expect_loaders(0, f"ipxe/{mapping['servers'][0]}-{mapping['backups'][0]}.ipxe")

    def expect_known_by_client(self, folder, *command):
        """With addresses of cards that no file has. @param command: of the DHCP server"""
        (folder / "leases").touch()
        server = self.machine.start("s0", *(word.format(folder) for word in command))
        self.addCleanup(self.machine.stop, [server])
        for node in NODES:
            with self.machine.inside(f"n{node}"):
                lease = boot_client.Dhcp(f"06:00:00:00:00:{node:02x}", b"iPXE", client=bytes.fromhex(CLIENT.format(node).replace(":", ""))).lease()
            self.assertEqual(lease[0], f"10.64.0.{node}")

    def test_dnsmasq_with_client_identifiers_instead_of_mac_addresses(self):
        """As docs/boot.md says for InfiniBand."""
        folder = self.folder / "dnsmasq-clients"
        self.write("dnsmasq", "balanced", folder)
        file = folder / "dnsmasq.conf"
        file.write_text(re.sub(r"dhcp-host=02:00:00:00:00:(..)", lambda found: "dhcp-host=id:" + CLIENT.format(int(found[1], 16)), file.read_text(encoding="utf-8")), encoding="utf-8")
        self.expect_known_by_client(folder, "dnsmasq", "--keep-in-foreground", "--user=root", "--conf-file={}/dnsmasq.conf", "--dhcp-leasefile={}/leases", "--no-ping", "--pid-file={}/pid")

    def test_kea_with_client_identifiers_instead_of_mac_addresses(self):
        needed = "kea-dhcp4"
        if shutil.which(needed) is None:
            skips.part(self, f"not installed: {needed}")
        folder = self.folder / "kea-clients"
        self.write("kea", "balanced", folder)
        file = folder / "kea-dhcp4.conf"
        config = json.loads(file.read_text(encoding="utf-8"))
        config["Dhcp4"]["lease-database"]["persist"] = False
        config["Dhcp4"]["host-reservation-identifiers"] = ["client-id"]
        for each in config["Dhcp4"]["subnet4"][0]["reservations"]:
            each["client-id"] = CLIENT.format(int(each.pop("hw-address")[-2:], 16))
        file.write_text(json.dumps(config), encoding="utf-8")
        self.expect_known_by_client(folder, "env", "KEA_PIDFILE_DIR={}", "KEA_LOCKFILE_DIR={}", "kea-dhcp4", "-c", "{}/kea-dhcp4.conf")

    def answers(self, program, files, *command):
        """Whether that DHCP server gives each node what the plan says. @param files: script -> (user class, boot file, root path) of firmware and iPXE"""
        needed = {"kea": "kea-dhcp4"}.get(program, program)
        if shutil.which(needed) is None:
            skips.part(self, f"not installed: {needed}")
        folder = self.folder / program
        mapping = self.write(program, "balanced", folder)["mapping"]
        if program == "kea":
            config = json.loads((folder / "kea-dhcp4.conf").read_text(encoding="utf-8"))
            config["Dhcp4"]["lease-database"]["persist"] = False
            (folder / "kea-dhcp4.conf").write_text(json.dumps(config), encoding="utf-8")
        (folder / "leases").touch()
        server = self.machine.start("s0", *(word.format(folder) for word in command))
        self.addCleanup(self.machine.stop, [server])
        for node, (first, second) in enumerate(zip(mapping["servers"], mapping["backups"])):
            for user_class, file, root_path in files(f"ipxe/{first}-{second}.ipxe"):
                with self.machine.inside(f"n{node}"):
                    lease = boot_client.Dhcp(self.machine.mac(node), user_class).lease()
                self.assertEqual(lease, (f"10.64.0.{node}", self.address(first), file, root_path))
        self.expect_loaders(0, files(f"ipxe/{mapping['servers'][0]}-{mapping['backups'][0]}.ipxe")[0][1])

    def test_kea_names_servers_and_scripts_of_the_plan(self):
        self.answers("kea", lambda script: ((b"iPXE", "plan.ipxe", script), (b"", "undionly.kpxe", script)), "env", "KEA_PIDFILE_DIR={}", "KEA_LOCKFILE_DIR={}", "kea-dhcp4", "-c", "{}/kea-dhcp4.conf")

    def test_dhcpd_names_servers_and_scripts_of_the_plan(self):
        self.answers("dhcpd", lambda script: ((b"iPXE", script, ""), (b"", "undionly.kpxe", "")), "dhcpd", "-f", "-cf", "{}/dhcpd.conf", "-lf", "{}/leases", "-pf", "{}/pid", "eth0")

    @staticmethod
    def address(server):
        return f"10.0.0.{server + 1}"

    def expect_ratio(self, nodes, least):
        """Of the times of SCDA and BCDA, as planned, and that at least so much."""
        seconds, planned = {}, {}
        for algorithm in ("scda", "bcda"):
            plan = self.plan(algorithm, nodes)
            planned[algorithm] = plan["boot_seconds"]
            seconds[algorithm], asked = self.boot_all(nodes)
            self.assertEqual(asked, [[self.address(server)] for server in plan["mapping"]["servers"]])
            self.doCleanups()
        ratio, wanted = seconds["scda"] / seconds["bcda"], planned["scda"] / planned["bcda"]
        print(f"{len(nodes)} nodes: scda {seconds['scda']:.2f} s (planned {planned['scda']:.2f}), bcda {seconds['bcda']:.2f} s ({planned['bcda']:.2f}): ratio {ratio:.2f} ({wanted:.2f})")
        self.assertGreaterEqual(wanted, least)
        self.assertLess(abs(ratio / wanted - 1), 0.15)

    def test_scda_and_bcda_differ_as_the_planner_says(self):
        self.expect_ratio(NODES, 4)

    def test_scda_and_bcda_differ_as_the_planner_says_if_the_whole_machine_boots(self):
        self.expect_ratio(ALL, 2)

    def test_nodes_of_a_server_that_dies_go_to_the_backup_of_the_plan(self):
        """Under both mappings of the paper, and the best one; all nodes boot."""
        for algorithm in ("scda", "bcda", "balanced"):
            with self.subTest(algorithm):
                try:
                    self.expect_recovery(algorithm)
                finally:
                    self.doCleanups()

    def expect_recovery(self, algorithm):
        dead = 1
        mapping = self.plan(algorithm, ALL)["mapping"]
        at_death = []

        def kill():
            """The whole machine: of a process alone, Linux still sends what it has written."""
            before = self.sent_by(dead)
            time.sleep(0.5)
            self.machine.plug(f"s{dead}", "down")
            self.addCleanup(self.machine.plug, f"s{dead}", "up")
            at_death.append(self.sent_by(dead) - before)

        seconds, asked = self.boot_all(ALL, kill)
        wanted = [[self.address(server), self.address(backup)] if server == dead else [self.address(server)] for server, backup in zip(mapping["servers"], mapping["backups"])]
        self.assertEqual(asked, wanted)
        self.assertGreater(mapping["servers"].count(dead), 1)
        self.assertGreater(at_death[0], len(IMAGE) / 10, "the server had not begun")
        self.assertLess(at_death[0], len(IMAGE), "a node had its image already")
        print(f"{algorithm}: a server dies after {at_death[0]} bytes: {mapping['servers'].count(dead)} of {len(ALL)} nodes go to their backups, all done after {seconds:.2f} s")

    def small_system(self, node):
        """What the kernel of a node is told by its script."""
        script = self.configure(node)
        arguments = next(line for line in script.splitlines() if line.startswith("kernel")).split()
        image, _ = boot_client.boot(script, lambda url, silence: self.fetch(node, url, silence))
        self.assertEqual(image, b"small system")
        return dict(word.split("=", 1) for word in arguments if "=" in word)

    def sent_by_servers(self):
        return sum(self.sent_by(server) for server in range(len(self.machine.servers())))

    def sent_by(self, server):
        """Bytes so far."""
        return json.loads(network.run("ip", "-n", f"{self.machine.prefix}s{server}", "-s", "-j", "link", "show", "eth0"))[0]["stats64"]["tx"]["bytes"]

    def start_relays(self, nodes):
        """weft-relay on each node, as its kernel's arguments say; the processes."""
        arguments = [self.small_system(node) for node in nodes]
        relays = [self.machine.start(f"n{node}", RELAY, "--chain", arguments[node]["weft.chain"], "--output", str(self.folder / f"image-{node}"), "--silence", "1", "--linger", "5") for node in nodes]
        self.addCleanup(lambda: self.machine.stop(relays))
        return relays

    def given_to(self, node, relay):
        """Addresses that the node had its image from."""
        self.assertEqual(relay.wait(60), 0, relay.stderr.peek())
        self.expect_image((self.folder / f"image-{node}").read_bytes(), node)
        return [word.split(":")[0] for word in relay.stdout.readline().decode().split() if word.startswith("10.")]

    def test_peers_pass_the_image_on(self):
        nodes = range(len(self.machine.nodes()))
        plan = self.plan("peers", nodes)
        mapping = plan["mapping"]
        before = self.sent_by_servers()
        start = time.monotonic()
        relays = self.start_relays(nodes)
        given = [self.given_to(node, relay) for node, relay in zip(nodes, relays)]
        sent = (self.sent_by_servers() - before) / len(IMAGE)
        wanted = [[self.address(server) if before is None else f"10.64.0.{before}"] for server, before in zip(mapping["servers"], mapping["from_nodes"])]
        self.assertEqual(given, wanted)
        self.assertLess(plan["chains"], len(nodes) / 2)
        self.assertLess(sent, 1.2 * plan["chains"])
        print(f"{len(nodes)} nodes in {plan['chains']} chains: servers sent {sent:.2f} images, {time.monotonic() - start:.2f} s with all starts, planned {plan['boot_seconds']:.2f}")

    def test_the_node_behind_one_that_dies_goes_to_the_one_before(self):
        nodes = range(len(self.machine.nodes()))
        mapping = self.plan("peers", nodes)["mapping"]
        dead = next(node for node in nodes if mapping["from_nodes"][node] is not None and node in mapping["from_nodes"] and mapping["backup_nodes"][mapping["from_nodes"].index(node)] is not None)
        behind = mapping["from_nodes"].index(dead)
        relays = self.start_relays(nodes)
        part = self.folder / f"image-{behind}.part"
        self.assertTrue(network.wait_until(lambda: part.exists() and part.stat().st_size > 50000, 30))
        self.machine.plug(f"n{dead}", "down")
        self.addCleanup(self.machine.plug, f"n{dead}", "up")
        for node, relay in zip(nodes, relays):
            if node == dead:
                continue
            given = self.given_to(node, relay)
            planned = mapping["from_nodes"][node]
            first = self.address(mapping["servers"][node]) if planned is None else f"10.64.0.{planned}"
            self.assertEqual(given, [first, f"10.64.0.{mapping['backup_nodes'][node]}"] if node == behind else [first], node)
        print(f"node {dead} dies: node {behind} has the rest from node {mapping['backup_nodes'][behind]}, all others stay")

    def test_uftp_with_loss_delivers_the_image_to_every_node(self):
        """By the scripts of the plan; one node begins when all is over."""
        if missing := [program for program in ("uftp", "uftpd", "curl", "nft") if shutil.which(program) is None]:
            skips.part(self, f"not installed: {', '.join(missing)}")
        nodes = range(len(self.machine.nodes()))
        late = nodes[-1]
        plan = self.plan("multicast", nodes)
        folder = self.folder / f"multicast-{len(nodes)}" / "multicast"
        servers = [self.small_system(node)["weft.multicast"] for node in nodes]
        for node in nodes:
            self.machine.lose(f"n{node}", 1)
            self.addCleanup(self.machine.heal, f"n{node}")

        def receive(node, seconds):
            return self.machine.start(f"n{node}", "sh", str(folder / "receive.sh"), str(self.folder / f"heard-{node}"), servers[node], seconds, "-I", "eth0", "-U", f"0x{0x0a400000 + node:08x}")

        hearing = {node: receive(node, "30") for node in nodes if node != late}
        self.addCleanup(lambda: self.machine.stop([each for each in hearing.values() if each in self.machine.processes]))
        time.sleep(1)
        senders = [self.machine.start(f"s{sender['server']}", "sh", str(folder / f"send-{sender['server']}.sh"), "-r", "0.2:0.05:1") for sender in plan["senders"]]
        start = time.monotonic()
        for node, process in hearing.items():
            self.assertEqual(process.wait(90), 0, f"node {node}")
            self.expect_image((self.folder / f"heard-{node}").read_bytes(), node)
        seconds = time.monotonic() - start
        by_http = {node: line for node, process in hearing.items() if (line := process.stdout.readline())}
        self.assertEqual(by_http, {})
        lost = sum(self.machine.lost(f"n{node}") for node in nodes)
        self.assertGreater(lost, 0)
        hearing[late] = receive(late, "1")
        self.assertEqual(hearing[late].wait(60), 0)
        self.expect_image((self.folder / f"heard-{late}").read_bytes(), late)
        self.assertIn(self.address(plan["mapping"]["servers"][late]), hearing[late].stdout.readline().decode())
        self.machine.stop(senders)
        print(f"uftp with 1 % loss to {len(nodes) - 1} nodes from {len(senders)} senders: {seconds:.2f} s, {lost} packets lost; one that came late has it by HTTP")

    def test_multicast_with_loss_delivers_the_image_to_every_node(self):
        """All nodes of the machine; the last one begins when all is over."""
        if shutil.which("nft") is None:
            skips.part(self, "not installed: nft")
        nodes = range(len(self.machine.nodes()))
        late = nodes[-1]
        plan = self.plan("balanced", nodes)
        scripts = [self.configure(node) for node in nodes]
        for node in nodes:
            self.machine.lose(f"n{node}", 1)
            self.addCleanup(self.machine.heal, f"n{node}")
        with self.machine.inside("s0"):
            sending = multicast.Sender(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), self.address(0), IMAGE, 0.9 * MBPS[4])

        def hear(node):
            with self.machine.inside(f"n{node}"):
                link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            with link:
                return multicast.receive(link, f"10.64.0.{node}")

        with concurrent.futures.ThreadPoolExecutor(len(nodes)) as pool, sending.link:
            hearing = [pool.submit(hear, node) for node in nodes if node != late]
            time.sleep(0.3)
            start = time.monotonic()
            rounds, left_out = sending.send([f"10.64.0.{node}" for node in nodes])
            seconds = time.monotonic() - start
            for node, each in enumerate(hearing):
                self.expect_image(each.result(), node)
        self.assertEqual(left_out, {f"10.64.0.{late}"})
        lost = sum(self.machine.lost(f"n{node}") for node in nodes)
        self.assertGreater(lost, 0)
        self.assertGreater(len(rounds), 1)
        image, urls = boot_client.boot(scripts[late], lambda url, silence: self.fetch(late, url, silence))
        self.expect_image(image, late)
        self.assertEqual([url.split("/")[2] for url in urls], [self.address(plan["mapping"]["servers"][late])])
        print(f"multicast with 1 % loss to {len(hearing)} nodes: {seconds:.2f} s, {lost} packets lost, sent in each round {rounds}; one that came late has it by HTTP")


def unfit():
    programs = [program for program in ("dnsmasq", "nginx", "ip", "tc") if shutil.which(program) is None]
    return f"not installed: {', '.join(programs)}" if programs else network.missing()


if __name__ == "__main__":
    os.environ["PATH"] += ":" + os.environ.get("WEFT_SBIN", "/usr/sbin:/sbin")
    if WHY := unfit():
        sys.exit(skips.whole(WHY))
    unittest.main()
