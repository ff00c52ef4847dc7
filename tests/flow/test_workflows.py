# SPDX-License-Identifier: Apache-2.0
"""The workflows of .github/workflows can be read, and what they run is there: targets of the Makefile, files.

usage: test_workflows.py REPOSITORY. Needs PyYAML (Debian: python3-yaml).
"""

import pathlib
import re
import subprocess
import sys
import unittest

import yaml

ROOT = pathlib.Path(sys.argv.pop(1))
WORKFLOWS = ROOT / ".github" / "workflows"
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
TOP_KEYS = {"name", "on", "permissions", "jobs"}
JOB_KEYS = {"runs-on", "container", "timeout-minutes", "env", "steps"}
STEP_KEYS = {"name", "run", "uses", "with", "if"}


def faults(text):
    """What is wrong with a workflow, one line each."""
    try:
        workflow = yaml.safe_load(text)
    except yaml.YAMLError as error:
        return [f"no YAML: {error}"]
    found = [f"unknown key '{key}'" for key in workflow if key not in TOP_KEYS] + [f"no '{key}'" for key in TOP_KEYS if key not in workflow]
    for name, job in workflow.get("jobs", {}).items():
        found += [f"job {name}: unknown key '{key}'" for key in job if key not in JOB_KEYS] + [f"job {name}: no '{key}'" for key in ("runs-on", "timeout-minutes", "steps") if key not in job]
        for step in job.get("steps", []):
            found += [f"job {name}: unknown key '{key}'" for key in step if key not in STEP_KEYS]
            if ("run" in step) == ("uses" in step):
                found.append(f"job {name}: a step either runs or uses something: {step}")
            found += [f"job {name}: {line}" for line in faults_of_step(step)]
    return found


def faults_of_step(step):
    if not re.fullmatch(r"[\w-]+/[\w/-]+@v\d+", step.get("uses", "a/b@v1")):
        yield f"'{step['uses']}' names no version"
    command = step.get("run", "")
    if subprocess.run(["bash", "-n", "-c", command], check=False, capture_output=True).returncode:
        yield f"no shell: {command}"
    for target in re.findall(r"\bmake ([\w-]+)", command):
        if target not in TARGETS:
            yield f"the Makefile has no target '{target}'"
    for script in re.findall(r"\bbash ([\w./-]+)", command):
        if not (ROOT / script).is_file():
            yield f"{script} is not there"


class Workflows(unittest.TestCase):
    def test_all_are_sound(self):
        files = sorted(WORKFLOWS.glob("*.yml"))
        self.assertGreaterEqual(len(files), 2)
        for file in files:
            self.assertEqual(faults(file.read_text(encoding="utf-8")), [], file.name)

    def test_every_push_runs_every_test(self):
        """In a container that may make network namespaces; a test that is skipped anyway fails."""
        job = yaml.safe_load((WORKFLOWS / "check.yml").read_text(encoding="utf-8"))["jobs"]["check"]
        self.assertIn("bash .ci/run", [step.get("run") for step in job["steps"]])
        self.assertIn("--privileged", job["container"]["options"].split())
        self.assertEqual(str(job["env"]["WEFT_MUST_NOT_SKIP"]), "1")

    def test_what_is_too_long_for_every_push_is_run_each_week(self):
        workflow = yaml.safe_load((WORKFLOWS / "weekly.yml").read_text(encoding="utf-8"))
        self.assertRegex(workflow["on"]["schedule"][0]["cron"], r"^\d+ \d+ \* \* \d$")
        run = {step.get("run") for job in workflow["jobs"].values() for step in job["steps"]}
        self.assertLessEqual({"make lint", "make formal", "make figures QUICK=1", "make report-test", "make fpga", "make fusesoc", "make package"}, run)

    def test_faults_are_found(self):
        text = (WORKFLOWS / "weekly.yml").read_text(encoding="utf-8")
        for old, new, fault in (("make fpga", "make fgpa", "no target 'fgpa'"), ("    timeout-minutes: 180\n", "", "job fpga: no 'timeout-minutes'"), ("      - run: make package", "      - runs: make package", "unknown key 'runs'"),
                                ("make report-test", "make report-test &&", "no shell"), ("  report:\n", "  report: [\n", "no YAML"), ("upload-artifact@v4\n        with:\n          name: package", "upload-artifact\n        with:\n          name: package", "names no version")):
            self.assertEqual(text.count(old), 1, old)
            self.assertTrue(any(fault in line for line in faults(text.replace(old, new))), (old, faults(text.replace(old, new))))


if __name__ == "__main__":
    unittest.main()
