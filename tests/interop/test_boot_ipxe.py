# SPDX-License-Identifier: Apache-2.0
"""Real iPXE boots as the files of `weft boot` say: a virtual machine without KVM, whose network card's ROM is iPXE, on a bridge with real dnsmasq and nginx servers. What it boots is an iPXE script
that says which server it came from. Exit code 77: cannot be run here; WEFT_MUST_NOT_SKIP=1: 1 then.

usage: test_boot_ipxe.py WEFT
"""

import json
import os
import pathlib
import shutil
import socket
import sys
import tempfile
import time
import unittest
import urllib.parse

import network
import skips

WEFT = sys.argv.pop(1)
SHAPE = {"cpus": 1, "boards": 1, "supernodes": 1, "servers": 2, "servers_per_edge": 2}
REPORTS = 8081
SECONDS = 60  # for a boot
IMAGE = 24_000_000  # bytes: two seconds


class Ipxe(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weft-ipxe-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.folder.chmod(0o755)
        self.machine = network.Machine(SHAPE, (100,) * 5)
        self.addCleanup(self.machine.remove)
        self.machine.build()
        fabric = self.machine.prefix + "fabric"
        for command in ("tuntap add node mode tap", "link set node master b0 up"):
            network.run("ip", "-n", fabric, *command.split())
        self.mac = "02:00:00:00:01:00"
        (self.folder / "boot.img").write_text("#!ipxe\n", encoding="utf-8")
        (self.folder / "nodes").write_text(f"0 {self.mac}\n", encoding="utf-8")

    def serve(self, *more, size=0):
        """Servers of a plan, each in a folder of its own with an image that reports to it, of at least `size` bytes; the plan."""
        shape = [word for name, count in SHAPE.items() for word in ("--" + name.replace("_", "-"), str(count))]
        for server, name in enumerate(self.machine.servers()):
            folder = self.folder / name
            network.run(WEFT, "boot", *shape, "--image", str(self.folder / "boot.img"), "--nodes", f"file:{self.folder / 'nodes'}", "--serve-from", str(folder), "--dnsmasq", str(folder),
                        "--json", str(self.folder / "plan.json"), "--mapping", *more)
            image = f"#!ipxe\nimgfetch http://10.0.0.{server + 1}:{REPORTS}/server-{server}/${{net0/mac}}/${{ip}} ||\npoweroff || sleep 1000\n"
            (folder / "boot.img").write_text(image + "# more\n" * (size // 7), encoding="utf-8")
            self.machine.start(name, "dnsmasq", "--keep-in-foreground", "--user=root", f"--conf-file={folder / 'dnsmasq.conf'}", f"--dhcp-leasefile={self.folder}/{name}.leases", "--no-ping",
                               f"--pid-file={self.folder}/{name}.dnsmasq")
        return json.loads((self.folder / "plan.json").read_text(encoding="utf-8"))["mapping"]

    def serve_http(self, server):
        name = f"s{server}"
        self.machine.start(name, "nginx", "-c", str(self.folder / name / "nginx.conf"), "-p", str(self.folder), "-g", f"daemon off; user root; pid {self.folder}/{name}.pid; error_log {self.folder}/{name}.log;")

    def boot(self, server, meanwhile=lambda: None):
        """What the node reports to the server."""
        with self.machine.inside(f"s{server}"):
            listening = socket.create_server((f"10.0.0.{server + 1}", REPORTS))
        listening.settimeout(SECONDS)
        self.machine.start("fabric", "qemu-system-x86_64", "-machine", "pc,accel=tcg", "-m", "128", "-display", "none", "-nodefaults", "-serial", f"file:{self.folder / 'console'}", "-boot", "n",
                           "-netdev", "tap,id=net,ifname=node,script=no,downscript=no", "-device", f"virtio-net-pci,netdev=net,mac={self.mac}")
        with listening:
            meanwhile()
            try:
                link, _ = listening.accept()
            except TimeoutError:
                self.fail("iPXE does not report: " + (self.folder / "console").read_text(encoding="utf-8", errors="replace"))
            with link:
                request = link.recv(4096).decode()
                link.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n")
        return urllib.parse.unquote(request.split()[1])

    def sent_by(self, server):
        """Bytes so far."""
        return json.loads(network.run("ip", "-n", f"{self.machine.prefix}s{server}", "-s", "-j", "link", "show", "eth0"))[0]["stats64"]["tx"]["bytes"]

    def report(self, server):
        return f"/server-{server}/{self.mac}/10.64.0.0"

    def test_boots_from_the_server_of_the_plan(self):
        mapping = self.serve()
        for server in range(2):
            self.serve_http(server)
        self.assertEqual(self.boot(mapping["servers"][0]), self.report(mapping["servers"][0]))

    def test_boots_from_the_backup_if_there_is_no_server(self):
        mapping = self.serve()
        self.serve_http(mapping["backups"][0])
        self.assertNotEqual(mapping["backups"], mapping["servers"])
        self.assertEqual(self.boot(mapping["backups"][0]), self.report(mapping["backups"][0]))

    def test_boots_from_the_backup_if_its_server_is_unplugged_in_the_middle_of_the_image(self):
        mapping = self.serve(size=IMAGE)
        for server in range(2):
            self.serve_http(server)
        first, backup = mapping["servers"][0], mapping["backups"][0]
        at_death = []

        def unplug():
            self.assertTrue(network.wait_until(lambda: self.sent_by(first) > IMAGE / 10, SECONDS), "the planned server sends no image")
            self.machine.plug(f"s{first}", "down")
            at_death.extend((self.sent_by(first), self.sent_by(backup), time.monotonic()))

        self.assertEqual(self.boot(backup, unplug), self.report(backup))
        seconds = time.monotonic() - at_death[2]
        self.assertLess(at_death[0], IMAGE, "the whole image was there already")
        self.assertEqual(self.sent_by(first), at_death[0])
        self.assertGreater(self.sent_by(backup) - at_death[1], IMAGE)
        print(f"unplugged after {at_death[0] / 1e6:.1f} of {IMAGE / 1e6:.0f} MB: up from the backup {seconds:.1f} s later")

    def test_boots_by_tftp(self):
        mapping = self.serve("--serve-by", "tftp")
        self.assertEqual(self.boot(mapping["servers"][0]), self.report(mapping["servers"][0]))


def unfit():
    programs = [program for program in ("dnsmasq", "nginx", "ip", "tc", "qemu-system-x86_64") if shutil.which(program) is None]
    if programs:
        return f"not installed: {', '.join(programs)}"
    if not pathlib.Path("/usr/lib/ipxe/qemu/pxe-virtio.rom").exists():
        return "not installed: ipxe-qemu"
    return network.missing() or ("" if pathlib.Path("/dev/net/tun").exists() else "no /dev/net/tun")


if __name__ == "__main__":
    os.environ["PATH"] += ":" + os.environ.get("WEFT_SBIN", "/usr/sbin:/sbin")
    if WHY := unfit():
        sys.exit(skips.whole(WHY))
    unittest.main()
