# SPDX-License-Identifier: Apache-2.0
"""weft-node and the examples as processes of their own: what they print, and what is left when one is killed.

usage: test_node.py FOLDER_OF_PROGRAMS
"""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAMS = pathlib.Path(sys.argv.pop(1))
PATIENCE = 240  # seconds; nothing is measured by it
REQUEST_BYTES = 96  # of sw/driver/port.hpp
SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


class Node(unittest.TestCase):
    nodes = 2
    memory = 32  # MiB
    options = []

    def setUp(self):
        self.fabric = f"test-{os.getpid()}-{self.id().rsplit('.', maxsplit=1)[-1]}"[:60]
        self.running = []
        self.node = self.begin("weft-node", "--nodes", str(self.nodes), "--memory", str(self.memory), *self.options)
        self.assertEqual(self.node.stdout.readline(), f"weft-node '{self.fabric}': {self.nodes} nodes are ready\n")

    def tearDown(self):
        for process in reversed(self.running):
            if process.poll() is None:
                process.kill() if process is not self.node else process.terminate()
            process.communicate(timeout=PATIENCE)
        self.assertEqual(self.node.returncode, 0, "the node ends as it should")
        self.assertFalse([name for name in os.listdir("/dev/shm") if self.fabric in name])

    def begin(self, program, *arguments):
        process = subprocess.Popen(
            [PROGRAMS / program, "--fabric", self.fabric, *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.running.append(process)
        return process

    def end(self, process, code=0):
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, code, out + err)
        return out if code == 0 else err

    def ping_pong(self, rounds=3):
        pong = self.begin("weft-pingpong", "--node", 1, "--rounds", rounds)
        ping = self.begin("weft-pingpong", "--node", 0, "--rounds", rounds, 1)
        self.assertEqual(self.end(ping), f"{rounds} rounds of 1024 bytes with node 1\n")
        self.assertEqual(self.end(pong), f"{rounds} rounds of 1024 bytes answered\n")


class Examples(Node):
    def test_ping_pong(self):
        self.ping_pong()

    def test_copy(self):
        with tempfile.TemporaryDirectory() as folder:
            source, copy = pathlib.Path(folder, "source"), pathlib.Path(folder, "copy")
            source.write_bytes(os.urandom(300_001))
            offer = self.begin("weft-copy", "--node", 0, source)
            read = self.begin("weft-copy", "--node", 1, "--from", 0, copy)
            self.assertEqual(self.end(read), "300001 bytes read from node 0\n")
            self.assertEqual(self.end(offer), "300001 bytes offered and read\n")
            self.assertEqual(copy.read_bytes(), source.read_bytes())

    def measure(self, program, *options, code=0):
        """What the client of a measurement prints."""
        server = self.begin(program, "--node", 1, *options)
        client = self.begin(program, "--node", 0, *options, 1)
        out, err = client.communicate(timeout=PATIENCE)
        self.assertEqual(client.returncode, code, out + err)
        self.end(server)
        return out

    def rows(self, program, *options):
        return [line.split() for line in self.measure(program, *options).splitlines() if line.startswith(" ")]

    def test_bandwidth(self):
        header, *rows = self.rows("weft_write_bw", "-s", 65536, "-n", 20)[1:]
        self.assertEqual(header[:2], ["#bytes", "#iterations"])
        [(size, count, peak, average, rate)] = rows
        self.assertEqual((size, count), ("65536", "20"))
        self.assertGreater(float(average), 1000)
        self.assertLessEqual(float(average), float(peak))
        self.assertLess(float(peak), 32 * 250e6 / 2**20, "more than the data path carries")
        self.assertAlmostEqual(float(rate) * 65536 * 1e6 / 2**20, float(average), delta=0.05 * float(average))

    def test_all_sizes_in_gigabits(self):
        header, *rows = self.rows("weft_write_bw", "-a", "-n", 5, "-t", 2, "-N", "--report_gbits")[1:]
        self.assertEqual(header[3], "peak[Gb/sec]")
        self.assertEqual([int(row[0]) for row in rows], [2**power for power in range(1, 21)])
        self.assertTrue(all(row[2] == "0.00" for row in rows), "no peak is wanted")
        self.assertTrue(0 < float(rows[0][3]) < float(rows[-1][3]) < 32 * 8 * 0.25, rows)

    def test_latency(self):
        first = self.rows("weft_write_lat", "-s", 64, "-n", 10)
        self.assertEqual(first[2][:2], ["64", "10"])
        least, most = map(float, first[2][2:4])
        self.assertTrue(0.1 < least <= most < 100, first)

    def test_heads_are_those_of_perftest(self):
        """Of Debian's perftest 4.5+0.17-1, to the blank."""
        heads = {
            ("weft_write_bw",): " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]",
            ("weft_write_bw", "--report_gbits"): " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]",
            ("weft_write_lat",): " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] ",
            ("weft_write_lat", "-D", "0.00002"): " #bytes        #iterations       t_avg[usec]    tps average",
        }
        for (program, *options), head in heads.items():
            self.assertIn(head, self.measure(program, "-s", 64, "-n", 5, *options).splitlines())

    def test_bandwidth_for_a_time(self):
        [(size, count, peak, average, rate)] = self.rows("weft_write_bw", "-s", 4096, "-D", "0.0001")[2:]
        self.assertEqual((size, peak), ("4096", "0.00"))
        self.assertGreater(int(count), 20)
        self.assertAlmostEqual(int(count) / float(rate), 100, delta=20)  # microseconds
        self.assertGreater(float(average), 1000)

    def test_latency_for_a_time(self):
        _, head, row = self.rows("weft_write_lat", "-s", 64, "-D", "0.00005")
        self.assertEqual(head[-1], "average")
        self.assertGreater(int(row[1]), 5)
        self.assertAlmostEqual(float(row[3]) * float(row[2]) * 2, 1e6, delta=1e4)  # turns a second, half a turn
        self.assertAlmostEqual(int(row[1]) * float(row[2]) * 2, 50, delta=5)

    def test_one_result_alone(self):
        average = self.rows("weft_write_bw", "-s", 4096, "-n", 10)[2][3]
        self.assertAlmostEqual(float(self.measure("weft_write_bw", "-s", 4096, "-n", 10, "--output", "bandwidth")), float(average), delta=0.05 * float(average))
        rate = float(self.measure("weft_write_bw", "-s", 4096, "-n", 10, "--output=message_rate"))
        self.assertAlmostEqual(rate * 4096 * 1e6 / 2**20, float(average), delta=0.05 * float(average))
        self.assertRegex(self.measure("weft_write_lat", "-s", 64, "-n", 10, "--output=latency"), r"\A\d+\.\d+\n\Z")

    def test_limits(self):
        self.assertIn("BW result is below bw limit", self.measure("weft_write_bw", "-s", 64, "-n", 5, "-w", 1000000, code=1))
        self.assertIn("is below msg_rate limit", self.measure("weft_write_bw", "-s", 64, "-n", 5, "-y", 1000, code=1))
        self.assertNotIn("below", self.measure("weft_write_bw", "-s", 64, "-n", 5, "-w", 0.1, "-y", 0.001, "--perform_warm_up", "-F"))

    def test_results_as_json(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "results.json")
            rows = self.rows("weft_write_bw", "-s", 4096, "-n", 10, "--out_json", "--out_json_file", file)
            [result] = json.loads(file.read_text(encoding="utf-8"))["results"]
            self.assertEqual([f"{result['BW_peak']:.2f}", f"{result['BW_average']:.2f}", f"{result['MsgRate']:.6f}"], rows[2][2:])
            rows = self.rows("weft_write_lat", "-s", 64, "-n", 10, "--out_json", f"--out_json_file={file}")
            [result] = json.loads(file.read_text(encoding="utf-8"))["results"]
            self.assertEqual([f"{result[key]:.2f}" for key in ("t_min", "t_max", "t_typical", "t_avg", "t_stdev", "percentile_99", "percentile_99.9")], rows[2][2:])

    def test_clocks_and_each_result(self):
        lines = self.measure("weft_write_lat", "-s", 64, "-n", 7, "-C", "-U").splitlines()
        start = lines.index("#, cycles")
        each = [float(line.split(", ")[1]) for line in lines[start + 1:start + 8]]
        row = lines[start + 8].split()
        self.assertEqual([f"{min(each):.2f}", f"{max(each):.2f}"], row[2:4])
        self.assertGreater(min(each), 50, "clocks")
        lines = self.measure("weft_write_lat", "-s", 64, "-n", 7, "-H").splitlines()
        each = [float(line.split(", ")[1]) for line in lines[lines.index("#, usec") + 1:][:7]]
        self.assertEqual(each, sorted(each))


class Impatient(Node):
    """It goes on without who is stopped for longer than its patience, and the tools say so."""

    options = ["--patience", "50"]
    warning = r"\A{program}: the node did not wait for an application [1-9]\d* times: times are too long\n\Z"

    def said_when_stopped(self, program, who):
        """What the client says while the server or itself (0, 1) is stopped again and again."""
        server = self.begin(program, "--node", 1, "-s", 64, "-n", 500)
        client = self.begin(program, "--node", 0, "-s", 64, "-n", 500, 1)
        stopped = (server, client)[who]
        deadline = time.monotonic() + PATIENCE
        while client.poll() is None and time.monotonic() < deadline:
            stopped.send_signal(signal.SIGSTOP)
            time.sleep(0.1)
            stopped.send_signal(signal.SIGCONT)
            time.sleep(0.02)
        _, said = client.communicate(timeout=PATIENCE)
        self.assertEqual(client.returncode, 0, said)
        self.end(server)
        return said

    def test_server_is_stopped(self):
        self.assertRegex(self.said_when_stopped("weft_write_lat", 0), self.warning.format(program="weft_write_lat"))

    def test_client_is_stopped(self):
        self.assertRegex(self.said_when_stopped("weft_write_bw", 1), self.warning.format(program="weft_write_bw"))


class Patient(Impatient):
    """It waits for who is stopped, and nobody is warned."""

    options = ["--patience", "60000"]
    warning = r"\A\Z"


class Copies(Node):
    """Of files of all lengths that an application's memory has room for, and of one byte more."""

    memory = 2
    applications = 8
    rings = applications * 65536 + 4096  # at the front of the memory
    granule = 4096  # of regions; one is for a word
    most = (memory * 2**20 - rings) // applications // granule * granule - granule

    def copy(self, size):
        with tempfile.TemporaryDirectory() as folder:
            source, copy = pathlib.Path(folder, "source"), pathlib.Path(folder, "copy")
            source.write_bytes(os.urandom(size))
            offer = self.begin("weft-copy", "--node", 0, source)
            read = self.begin("weft-copy", "--node", 1, "--from", 0, copy)
            self.assertEqual(self.end(read), f"{size} bytes read from node 0\n")
            self.assertEqual(self.end(offer), f"{size} bytes offered and read\n")
            self.assertEqual(copy.read_bytes(), source.read_bytes())

    def test_lengths(self):
        for size in (0, 1, 65536, 65537, self.most):
            with self.subTest(size=size):
                self.copy(size)

    def test_what_cannot_be_copied(self):
        with tempfile.TemporaryDirectory() as folder:
            long = pathlib.Path(folder, "long")
            long.write_bytes(bytes(self.most + 1))
            self.assertEqual(self.end(self.begin("weft-copy", "--node", 0, long), 2),
                             f"weft-copy: node 0: no memory left for {self.granule} bytes\n")
            long.write_bytes(bytes(self.most + 2 * self.granule))
            self.assertRegex(self.end(self.begin("weft-copy", "--node", 0, long), 2), r"^weft-copy: node 0: no memory left for \d+ bytes\n$")
            missing = pathlib.Path(folder, "missing", "file")
            self.assertEqual(self.end(self.begin("weft-copy", "--node", 0, missing), 2), f"weft-copy: {missing}: cannot be read\n")
            long.write_bytes(b"short")
            offer = self.begin("weft-copy", "--node", 0, long)
            self.assertEqual(self.end(self.begin("weft-copy", "--node", 1, "--from", 0, missing), 2), f"weft-copy: {missing}: cannot be written\n")
            self.assertEqual(self.end(offer), "5 bytes offered and read\n")
            nobody = self.begin("weft-copy", "--node", 0, "--from", 1, long)
            with self.assertRaises(subprocess.TimeoutExpired):  # waits for the offer, 20,000,000 clocks
                nobody.wait(timeout=0.5)


class AsThePagesHaveIt(unittest.TestCase):
    """Commands and programs of the pages, but for the name of the fabric, on which nobody else may be."""

    fabric = f"page-{os.getpid()}"

    def blocks(self, page, language):
        return re.findall(rf"^```{language}\n(.*?)^```$", (SOURCE / "docs" / page).read_text(encoding="utf-8"), re.M | re.S)

    def run_page(self, page, files, nodes_options=""):
        """What its blocks of commands print, that with weft-node first; it is the first one that stays."""
        blocks = sorted(self.blocks(page, "sh"), key=lambda block: "weft-node --nodes" not in block)
        block = "".join(blocks)
        commands, programs = re.subn(r"^build/bin/\S+", rf"\g<0> --fabric {self.fabric}", block, flags=re.M)
        commands = re.sub(r"^build/bin/weft-node(?= )", rf"\g<0> {nodes_options}", commands, flags=re.M)
        self.assertGreater(programs, 0)
        sanitizers = re.findall(r"-f\S*sanitize\S*", os.environ.get("CXXFLAGS", ""))  # what the library was built with
        commands = re.sub(r"\b(g\+\+|gcc) ", lambda compiler: " ".join([compiler[1], *sanitizers, ""]), commands)
        commands = commands.replace("./write-c weft", f"./write-c {self.fabric}")
        with tempfile.TemporaryDirectory() as folder:
            for name in ("sw", "model", "docs"):
                pathlib.Path(folder, name).symlink_to(SOURCE / name)
            pathlib.Path(folder, "build").symlink_to(PROGRAMS.resolve().parent)
            for name, text in files.items():
                pathlib.Path(folder, name).write_text(text.replace('"weft"', f'"{self.fabric}"'), encoding="utf-8")
            script = f"set -e\ntrap 'kill %1; wait' EXIT\n{commands}for each in $(jobs -p | tail -n +2); do wait $each; done\n"
            got = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE)
        self.assertEqual((got.returncode, got.stderr), (0, ""), got.stdout)
        return got.stdout

    def test_driver(self):
        said = self.run_page("driver.md", {})
        self.assertIn("10 rounds of 1024 bytes with node 1\n", said)
        self.assertIn("10 rounds of 1024 bytes answered\n", said)
        self.assertIn("OK: written in C\n", said)
        size = (SOURCE / "docs/driver.md").stat().st_size
        self.assertIn(f"{size} bytes read from node 0\n", said)
        self.assertIn(f"{size} bytes offered and read\n", said)
        for node in (0, 1):
            self.assertIn(f"node {node}: 2 blocks of 4096 bytes, the own one written to 1\n", said)
            self.assertRegex(said, rf"(?m)^node {node}: 10 barriers of 2 nodes, \d+ clocks each$")
        self.assertRegex(said, r"(?m)^ 65536 +20 +\d")
        self.assertRegex(said, r"(?m)^ 64 +20 +\d")

    def test_first_transfer(self):
        write, room = self.blocks("first_transfer.md", "cpp")
        for options in ("", "--loss 0.05 --seed 1"):  # of this seed a packet comes after the last byte
            self.assertIn("4096 bytes are w\n", self.run_page("first_transfer.md", {"write.cpp": write, "room.cpp": room}, options))


class InC(Node):
    def run_in_c(self, program):
        return subprocess.run([PROGRAMS / program, self.fabric], capture_output=True, text=True, check=False, timeout=PATIENCE)

    def test_write(self):
        got = self.run_in_c("weft-write-c")
        self.assertEqual((got.returncode, got.stdout, got.stderr), (0, "OK: written in C\nBAD_KEY\n", ""))

    def test_every_function(self):
        got = self.run_in_c("weft-c-api-test")
        self.assertEqual((got.returncode, got.stderr), (0, ""))


class AllGather(Node):
    nodes = 6
    options = ["--loss", "0.01"]

    def gather(self, *options):
        ranks = [self.begin("weft-allgather", "--node", node, "--nodes", 6, *options) for node in range(6)]
        return [self.end(rank) for rank in ranks]

    def test_all_gather(self):
        self.assertEqual(self.gather(), [f"node {node}: 6 blocks of 4096 bytes, the own one written to 5\n" for node in range(6)])

    def test_along_trees(self):
        self.assertEqual(self.gather("--tree"), [f"node {node}: 6 blocks of 4096 bytes, the own one written to 3\n" for node in range(6)])


class Barriers(Node):
    nodes = 3
    options = ["--loss", "0.01"]

    def test_barriers(self):
        ranks = [self.begin("weft-node-barrier", "--node", node, "--nodes", 3, "--rounds", 20) for node in range(3)]
        for node, rank in enumerate(ranks):
            self.assertRegex(self.end(rank), rf"^node {node}: 20 barriers of 3 nodes, \d+ clocks each\n$")


class Trouble(Node):
    def test_no_such_node(self):
        self.assertEqual(self.end(self.begin("weft-pingpong", "--node", 7), 2),
                         f"weft-pingpong: weft-node '{self.fabric}': has no node 7: 0 to 1\n")

    def test_no_such_peer(self):
        for program in ("weft_write_bw", "weft_write_lat", "weft-pingpong"):
            self.assertEqual(self.end(self.begin(program, "--node", 0, 9), 2), f"{program}: the fabric has no node 9: 0 to 1\n")

    def test_bad_names(self):
        for name in ("", "a/b"):
            for program in ("weft-node", "weft-pingpong"):
                got = subprocess.run([PROGRAMS / program, "--fabric", name], capture_output=True, text=True, check=False, timeout=PATIENCE)
                self.assertEqual((got.returncode, got.stderr), (2, f"{program}: bad name of a fabric '{name}': it is empty or has a /\n"))

    def test_both_sides_are_told_the_same(self):
        for program, *options in (("weft_write_bw", "-n", 50), ("weft_write_lat", "-s", 64), ("weft_write_lat", "-D", 0.001), ("weft_write_bw", "-a")):
            size = {"weft_write_bw": 65536, "weft_write_lat": 2}[program]
            usual = f"-s {size} -n 100"
            other = {"-n": f"-s {size} -n 50", "-s": "-s 64 -n 100", "-D": f"-s {size} -D 0.001", "-a": "-a -n 100"}[options[0]]
            server = self.begin(program, "--node", 1)
            client = self.begin(program, "--node", 0, *options, 1)
            self.assertEqual(self.end(client, 2), f"{program}: both sides need the same options: {other} here, {usual} at node 1\n")
            self.assertEqual(self.end(server, 2), f"{program}: both sides need the same options: {usual} here, {other} at node 0\n")

    def test_no_weft_node(self):
        got = subprocess.run([PROGRAMS / "weft-pingpong", "--fabric", "none-" + self.fabric], capture_output=True, text=True, check=False)
        self.assertEqual(got.returncode, 2)
        self.assertIn("is not running", got.stderr)
        self.assertEqual(got.stderr.count("\n"), 1)

    def ask_rubbish(self, request):
        """What the node answers; nothing: it hangs up."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as way:
            way.connect(f"/tmp/weft-{os.getuid()}-{self.fabric}.socket")
            way.settimeout(PATIENCE)
            way.send(request)
            return way.recv(4096)

    def test_rubbish(self):
        """Who sends what is no request, or asks before it is attached; others go on."""
        self.assertEqual(self.ask_rubbish(b"hello"), b"")
        self.assertEqual(self.ask_rubbish(bytes(5000)), b"")
        publish = (8).to_bytes(4, "little")
        self.assertIn(b"not attached\0", self.ask_rubbish(publish.ljust(REQUEST_BYTES, b"\0")))
        self.assertIn(b"has no node 7: 0 to 1\0", self.ask_rubbish(bytes(4) + (7).to_bytes(4, "little") + bytes(REQUEST_BYTES - 8)))
        self.ping_pong()

    def test_second_of_this_name(self):
        self.assertIn("a weft-node of this name is running", self.end(self.begin("weft-node"), 2))
        self.ping_pong()

    def test_killed_in_the_middle(self):
        """More often than a node has places and queues: others go on, and what was held is free again."""
        for _ in range(10):
            pong = self.begin("weft-pingpong", "--node", 1, "--rounds", 100000)
            ping = self.begin("weft-pingpong", "--node", 0, "--rounds", 100000, 1)
            with self.assertRaises(subprocess.TimeoutExpired):
                ping.wait(timeout=0.5)
            pong.kill()
            ping.kill()
            pong.communicate()
            ping.communicate()
        self.ping_pong()

    def test_peer_is_told(self):
        pong = self.begin("weft-pingpong", "--node", 1, "--rounds", 100000)
        ping = self.begin("weft-pingpong", "--node", 0, "--rounds", 100000, 1)
        with self.assertRaises(subprocess.TimeoutExpired):
            ping.wait(timeout=1)
        pong.kill()
        self.assertRegex(self.end(ping, 2), "^weft-pingpong: (request 2 to node 1 ended with BAD_KEY|node 0: peer on node 1 has died)\n$")
        self.ping_pong()

    def test_node_is_killed(self):
        pong = self.begin("weft-pingpong", "--node", 1)
        with self.assertRaises(subprocess.TimeoutExpired):
            pong.wait(timeout=0.5)
        self.node.terminate()
        self.assertEqual(self.end(pong, 2), f"weft-pingpong: weft-node '{self.fabric}': is gone\n")


class Killed(Node):
    """A weft-node that got SIGKILL, and one of its name with fewer nodes."""

    nodes = 3

    def test_its_memory_goes(self):
        self.node.kill()
        self.node.communicate(timeout=PATIENCE)
        left = [name for name in os.listdir("/dev/shm") if self.fabric in name]
        self.assertEqual(len(left), 3)
        self.node = self.begin("weft-node", "--nodes", 2, "--memory", self.memory)
        self.node.stdout.readline()
        self.assertEqual(len([name for name in os.listdir("/dev/shm") if self.fabric in name]), 2)
        self.ping_pong()


class Deaths(Node):
    """SIGKILL in the middle: what its peers say, and that others go on."""

    nodes = 4
    options = ["--loss", "0.01"]

    def let_run(self, *processes):
        for process in processes:
            with self.assertRaises(subprocess.TimeoutExpired):
                process.wait(timeout=1)

    def others_go_on(self):
        pong = self.begin("weft-pingpong", "--node", 3)
        ping = self.begin("weft-pingpong", "--node", 2, 3)
        self.assertEqual(self.end(ping), "10 rounds of 1024 bytes with node 3\n")
        self.end(pong)

    def writes(self):
        terms = ("-s", 1 << 20, "-n", 20_000)
        server = self.begin("weft_write_bw", "--node", 1, *terms)
        client = self.begin("weft_write_bw", "--node", 0, *terms, "-t", 2, 1)
        self.let_run(server, client)
        return server, client

    def test_of_who_is_written_to(self):
        server, client = self.writes()
        server.kill()
        self.others_go_on()
        self.assertRegex(self.end(client, 2), r"^weft_write_bw: (request \d+ to node 1 ended with [A-Z_]+|node 0: peer on node 1 has died)\n$")
        self.ping_pong()

    def test_of_who_writes(self):
        server, client = self.writes()
        client.kill()
        self.others_go_on()
        self.assertEqual(self.end(server, 2), "weft_write_bw: node 1: peer on node 0 has died\n")
        self.ping_pong()

    def test_of_a_client_of_latency(self):
        terms = ("-s", 64, "-n", 1_000_000)
        server = self.begin("weft_write_lat", "--node", 1, *terms)
        client = self.begin("weft_write_lat", "--node", 0, *terms, 1)
        self.let_run(server, client)
        client.send_signal(signal.SIGINT)
        self.assertRegex(self.end(server, 2), r"^weft_write_lat: (request \d+ to node 0 ended with [A-Z_]+|node 1: peer on node 0 has died)\n$")
        self.ping_pong()

    def test_of_a_member_of_a_barrier(self):
        ranks = [self.begin("weft-node-barrier", "--node", node, "--nodes", 3, "--rounds", 1_000_000) for node in range(3)]
        self.let_run(*ranks)
        ranks[2].kill()
        self.others_go_on()
        for rank in ranks[:2]:
            self.assertEqual(self.end(rank, 2), "weft-node-barrier: barrier 0: node 2 is dead\n")
        self.ping_pong()


if __name__ == "__main__":
    unittest.main()
