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
import unittest
import urllib.parse

import network
import skips

WEFT = sys.argv.pop(1)
SHAPE = {"cpus": 1, "boards": 1, "supernodes": 1, "servers": 2, "servers_per_edge": 2}
REPORTS = 8081
SECONDS = 60  # for a boot


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

    def serve(self, *more):
        """Servers of a plan, each in a folder of its own with an image that names it; the plan."""
        shape = [word for name, count in SHAPE.items() for word in ("--" + name.replace("_", "-"), str(count))]
        for server, name in enumerate(self.machine.servers()):
            folder = self.folder / name
            network.run(WEFT, "boot", *shape, "--image", str(self.folder / "boot.img"), "--nodes", f"file:{self.folder / 'nodes'}", "--serve-from", str(folder), "--dnsmasq", str(folder),
                        "--json", str(self.folder / "plan.json"), "--mapping", *more)
            (folder / "boot.img").write_text(f"#!ipxe\nimgfetch http://10.0.0.1:{REPORTS}/server-{server}/${{net0/mac}}/${{ip}} ||\npoweroff || sleep 1000\n", encoding="utf-8")
            self.machine.start(name, "dnsmasq", "--keep-in-foreground", "--user=root", f"--conf-file={folder / 'dnsmasq.conf'}", f"--dhcp-leasefile={self.folder}/{name}.leases", "--no-ping",
                               f"--pid-file={self.folder}/{name}.dnsmasq")
        return json.loads((self.folder / "plan.json").read_text(encoding="utf-8"))["mapping"]

    def serve_http(self, server):
        name = f"s{server}"
        self.machine.start(name, "nginx", "-c", str(self.folder / name / "nginx.conf"), "-p", str(self.folder), "-g", f"daemon off; user root; pid {self.folder}/{name}.pid; error_log {self.folder}/{name}.log;")

    def boot(self):
        """What the node reports."""
        with self.machine.inside("s0"):
            listening = socket.create_server(("10.0.0.1", REPORTS))
        listening.settimeout(SECONDS)
        self.machine.start("fabric", "qemu-system-x86_64", "-machine", "pc,accel=tcg", "-m", "64", "-display", "none", "-nodefaults", "-serial", f"file:{self.folder / 'console'}", "-boot", "n",
                           "-netdev", "tap,id=net,ifname=node,script=no,downscript=no", "-device", f"virtio-net-pci,netdev=net,mac={self.mac}")
        with listening:
            try:
                link, _ = listening.accept()
            except TimeoutError:
                self.fail("iPXE does not report: " + (self.folder / "console").read_text(encoding="utf-8", errors="replace"))
            with link:
                request = link.recv(4096).decode()
                link.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n")
        return urllib.parse.unquote(request.split()[1])

    def report(self, server):
        return f"/server-{server}/{self.mac}/10.64.0.0"

    def test_boots_from_the_server_of_the_plan(self):
        mapping = self.serve()
        for server in range(2):
            self.serve_http(server)
        self.assertEqual(self.boot(), self.report(mapping["servers"][0]))

    def test_boots_from_the_backup_if_there_is_no_server(self):
        mapping = self.serve()
        self.serve_http(mapping["backups"][0])
        self.assertNotEqual(mapping["backups"], mapping["servers"])
        self.assertEqual(self.boot(), self.report(mapping["backups"][0]))

    def test_boots_by_tftp(self):
        mapping = self.serve("--serve-by", "tftp")
        self.assertEqual(self.boot(), self.report(mapping["servers"][0]))


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
