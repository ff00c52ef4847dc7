# SPDX-License-Identifier: Apache-2.0
"""An image to many nodes at once over UDP multicast: packets that got lost go to all again, round by round, until every node has said that it misses none.

A round: the packets, then END until each node has reported which it misses, in ranges, as many as a packet holds. The next round has what anyone misses. Who is silent too long is left to
fetch the image otherwise, as are those who begin when all is over.
"""

import hashlib
import socket
import struct
import time

GROUP, PORT = "239.255.4.4", 4004
PAYLOAD = 1400
HEADER = struct.Struct("!BIII")  # kind, round, number of the packet, packets of the image
DATA, END, REPORT, FINISHED = 1, 2, 3, 4
RANGE = struct.Struct("!II")  # first, last
MOST_RANGES = 150
END_SECONDS = 0.1  # between two asks for reports
MOST_ASKS = 20
SILENCE = 5  # seconds, after which a node gives up


class Failed(Exception):
    pass


def ranges_of(numbers):
    """[(first, last)] of ascending numbers."""
    ranges = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges


class Sender:
    """@param link: UDP socket of the server; @param mbps: of payload and headers"""

    def __init__(self, link, address, image, mbps):
        self.link = link
        self.link.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(address))
        self.link.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 4)
        self.link.bind((address, PORT))
        self.image = image
        self.packets = -(-len(image) // PAYLOAD)
        self.seconds_a_byte = 8 / (mbps * 1e6)
        self.next = time.monotonic()

    def pace(self, size):
        time.sleep(max(0, self.next - time.monotonic()))
        self.next = max(self.next, time.monotonic() - 0.05) + (size + 66) * self.seconds_a_byte  # UDP, IP, Ethernet, gap

    def to_all(self, kind, turn, number, payload=b""):
        self.pace(HEADER.size + len(payload))
        self.link.sendto(HEADER.pack(kind, turn, number, self.packets) + payload, (GROUP, PORT))

    def reports(self, turn, nodes):
        """({packets that someone misses}, {nodes that miss none}, {nodes that are silent})"""
        missing, done, silent = set(), set(), set(nodes)
        for _ in range(MOST_ASKS):
            self.to_all(END, turn, len(self.image), hashlib.sha256(self.image).digest())
            end = time.monotonic() + END_SECONDS
            while silent and time.monotonic() < end:
                self.link.settimeout(max(0.001, end - time.monotonic()))
                try:
                    report, (node, _) = self.link.recvfrom(2048)
                except TimeoutError:
                    break
                kind, of_turn, count, _ = HEADER.unpack_from(report)
                if kind != REPORT or of_turn != turn or node not in silent:
                    continue
                silent.discard(node)
                ranges = [RANGE.unpack_from(report, HEADER.size + i * RANGE.size) for i in range(count)]
                missing.update(number for first, last in ranges for number in range(first, last + 1))
                if not ranges:
                    done.add(node)
            if not silent:
                break
        return missing, done, silent

    def send(self, nodes):
        """(packets of each round, nodes that did not answer)"""
        rounds, left_out, missing, waiting = [], set(), set(range(self.packets)), set(nodes)
        while waiting:
            for number in sorted(missing):
                self.to_all(DATA, len(rounds), number, self.image[number * PAYLOAD:(number + 1) * PAYLOAD])
            rounds.append(len(missing))
            missing, done, silent = self.reports(len(rounds) - 1, waiting)
            left_out |= silent
            waiting -= done | silent
        for _ in range(5):
            self.to_all(FINISHED, len(rounds), 0)
        return rounds, left_out


def receive(link, address):
    """The image. @param link: UDP socket of the node"""
    link.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_000_000)
    link.bind(("", PORT))
    link.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(GROUP) + socket.inet_aton(address))
    link.settimeout(SILENCE)
    pieces, size, digest = {}, None, None
    while True:
        try:
            packet, sender = link.recvfrom(2048)
        except TimeoutError as error:
            raise Failed("nothing is sent any more") from error
        kind, turn, number, packets = HEADER.unpack_from(packet)
        if kind == DATA:
            pieces[number] = packet[HEADER.size:]
        elif kind == END:
            size, digest = number, packet[HEADER.size:]
            ranges = ranges_of(number for number in range(packets) if number not in pieces)[:MOST_RANGES]
            link.sendto(HEADER.pack(REPORT, turn, len(ranges), packets) + b"".join(RANGE.pack(*each) for each in ranges), sender)
        elif kind == FINISHED:
            image = b"".join(pieces[number] for number in sorted(pieces))
            if size is None or len(image) != size or hashlib.sha256(image).digest() != digest:
                raise Failed("not all of the image has come")
            return image
