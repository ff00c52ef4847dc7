# SPDX-License-Identifier: Apache-2.0
"""The files of `weft boot` as the programs that they are for read them: their own checks of syntax. Exit code 77: the program is not installed; WEFT_MUST_NOT_SKIP=1: 1 then.

usage: test_boot_files.py WEFT dnsmasq|kea|dhcpd|nginx
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import skips

COMMANDS = {"dnsmasq": ("dnsmasq", "--test", "--conf-file={}/dnsmasq.conf"), "kea": ("kea-dhcp4", "-t", "{}/kea-dhcp4.conf"), "dhcpd": ("dhcpd", "-t", "-cf", "{}/dhcpd.conf"),
            "nginx": ("nginx", "-t", "-c", "{}/nginx.conf", "-g", "pid {}/pid; error_log {}/log;")}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def main():
    weft, program = sys.argv[1:]
    os.environ["PATH"] += ":" + os.environ.get("WEFT_SBIN", "/usr/sbin:/sbin")
    command = COMMANDS[program]
    if shutil.which(command[0]) is None:
        return skips.whole(f"not installed: {command[0]}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "boot.img").write_bytes(b"image")
        (folder / "nodes").write_text("".join(f"{node} 02:00:00:00:{node // 256:02x}:{node % 256:02x}\n" for node in range(1024)), encoding="utf-8")
        kind = "dnsmasq" if program == "nginx" else program
        written = run(weft, "boot", "--image", str(folder / "boot.img"), "--nodes", f"file:{folder / 'nodes'}", f"--{kind}", str(folder / "config"), "--kernel-arguments", "console=ttyS0 quiet")
        if written.returncode != 0:
            print(written.stdout + written.stderr)
            return 1
        checked = run(*(word.replace("{}", str(folder / "config")) for word in command))
        print(checked.stdout + checked.stderr)
        if checked.returncode != 0:
            return 1
        # the check must see a fault
        file = folder / "config" / pathlib.Path(next(word for word in command if word.endswith(".conf"))).name
        file.write_text(file.read_text(encoding="utf-8") + "\nnonsense {\n", encoding="utf-8")
        return 0 if run(*(word.replace("{}", str(folder / "config")) for word in command)).returncode != 0 else 1


if __name__ == "__main__":
    sys.exit(main())
