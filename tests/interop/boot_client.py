# SPDX-License-Identifier: Apache-2.0
"""What iPXE does on a node, as far as our scripts need it: DHCP, TFTP of the script, HTTP of the image, the backup if that fails."""

import os
import socket
import struct
import time
import urllib.parse

DISCOVER, OFFER, REQUEST, ACK = 1, 2, 3, 5
COOKIE = b"\x63\x82\x53\x63"
WINDOW = 32768  # bytes under way to a node: equal windows share a link evenly
BOOTP = struct.Struct("!BBBBIHHIIII16s64s128s")


class Failed(Exception):
    pass


def options_of(data):
    options, at = {}, 0
    while at < len(data) and data[at] != 255:
        if data[at] == 0:
            at += 1
            continue
        options[data[at]] = data[at + 2:at + 2 + data[at + 1]]
        at += 2 + data[at + 1]
    return options


class Dhcp:
    """@param user_class: "iPXE" once that runs; b"" for the firmware; architecture: of RFC 4578, option 93; None: not said; client: identifier, option 61; b"": none"""

    def __init__(self, mac, user_class, architecture=None, client=b""):
        self.mac = bytes.fromhex(mac.replace(":", ""))
        self.user_class = user_class
        self.more = b"" if architecture is None else bytes((93, 2)) + architecture.to_bytes(2, "big")
        if client:
            self.more += bytes((61, len(client))) + client
        self.exchange = int.from_bytes(os.urandom(4), "big")
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"eth0")
        self.socket.bind(("", 68))
        self.socket.settimeout(1)

    def ask(self, kind, more, wanted, tries=8):
        """(address, next server, boot file, options) of the first answer"""
        broadcast = 0x8000
        fixed = BOOTP.pack(1, 1, 6, 0, self.exchange, 0, broadcast, 0, 0, 0, 0, self.mac, b"", b"")
        options = bytes((53, 1, kind, 55, 5, 1, 3, 17, 66, 67)) + more + self.more
        if self.user_class:
            options += bytes((77, len(self.user_class))) + self.user_class
        for _ in range(tries):
            self.socket.sendto(fixed + COOKIE + options + b"\xff", ("255.255.255.255", 67))
            end = time.monotonic() + 1
            while time.monotonic() < end:
                try:
                    answer = self.socket.recv(2048)
                except TimeoutError:
                    break
                fields = BOOTP.unpack_from(answer)
                found = options_of(answer[BOOTP.size + 4:])
                if fields[4] == self.exchange and found.get(53) == bytes((wanted,)):
                    file = found.get(67) or fields[13]
                    return socket.inet_ntoa(struct.pack("!I", fields[8])), socket.inet_ntoa(struct.pack("!I", fields[9])), file.split(b"\0")[0].decode(), found
        raise Failed("no DHCP server answers")

    def lease(self):
        """(address, next server, boot file, root path)"""
        with self.socket:
            address, _, _, found = self.ask(DISCOVER, b"", OFFER)
            chosen = bytes((50, 4)) + socket.inet_aton(address) + bytes((54, 4)) + found[54]
            address, server, file, found = self.ask(REQUEST, chosen, ACK)
            return address, server, file, found.get(17, b"").decode()


def tftp(link, server, name):
    """@param link: UDP socket of the node"""
    link.settimeout(2)
    text, block = b"", 1
    link.sendto(b"\0\1" + name.encode() + b"\0octet\0", (server, 69))
    while True:
        data, peer = link.recvfrom(2048)
        if data[:2] != b"\0\3":
            raise Failed(f"tftp {server} {name}: {data[4:]}")
        if data[2:4] == struct.pack("!H", block):
            text += data[4:]
            link.sendto(b"\0\4" + data[2:4], peer)
            if len(data) < 516:
                return text.decode()
            block += 1


def http(link, url, silence):
    """The whole answer or Failed. @param link: TCP socket of the node; silence: seconds without a byte, after which the server is given up; None: never, as iPXE without --timeout"""
    parts = urllib.parse.urlsplit(url)
    try:
        with link:
            link.settimeout(silence)
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, WINDOW)
            link.connect((parts.hostname, 80))
            link.sendall(f"GET {parts.path} HTTP/1.0\r\nHost: {parts.hostname}\r\n\r\n".encode())
            answer = b"".join(iter(lambda: link.recv(65536), b""))
    except OSError as error:
        raise Failed(f"{url}: {error}") from error
    head, _, body = answer.partition(b"\r\n\r\n")
    length = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    if b" 200 " not in head.split(b"\r\n")[0] or length != [len(body)]:
        raise Failed(f"{url}: only {len(body)} bytes")
    return body


def boot(script, fetch, tries=20):
    """Carries out a script until it boots. @param fetch: url, seconds of silence -> bytes, or Failed; @return (image, with the initrd behind it, urls that were tried)"""
    lines = [line for line in script.splitlines() if line and not line.startswith("#")]
    image, urls, at = None, [], 0
    while tries:
        words = lines[at].split()
        at += 1
        if words[0] == "boot" and image is not None:
            return image, urls
        if words[0] == "sleep":
            time.sleep(float(words[1]))
        elif words[0] == "goto":
            at = lines.index(":" + words[1])
        elif words[0] in ("kernel", "initrd"):
            tries -= 1
            silence = None
            if words[1] == "--timeout":
                silence = float(words[2]) / 1000
                del words[1:3]
            urls.append(words[1])
            try:
                got = fetch(words[1], silence)
                image = got if words[0] == "kernel" else image + got
            except Failed:
                at = lines.index(":" + words[words.index("goto") + 1])
        elif words[0] not in ("imgfree", "boot") and not words[0].startswith(":"):
            raise Failed(f"'{lines[at - 1]}' is nothing of iPXE that is known here")
    raise Failed("no server gives the image")
