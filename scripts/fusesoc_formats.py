# SPDX-License-Identifier: Apache-2.0
"""FuseSoC's generator `formats`: one package of formats and registers from its spec. Called by FuseSoC with the file of its parameters."""

import pathlib
import subprocess
import sys

import yaml  # comes with FuseSoC


def main():
    job = yaml.safe_load(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    root = pathlib.Path(job["files_root"])
    spec = root / job["parameters"]["spec"]
    package = f"{spec.stem}_formats_pkg.sv"
    subprocess.run([sys.executable, root / "scripts" / "gen_formats.py", spec, "--sv", package], check=True)
    name = job["vlnv"]
    pathlib.Path(f"{spec.stem}_formats.core").write_text(
        f"CAPI=2:\nname: '{name}'\nfilesets:\n  rtl:\n    files: [{package}]\n    file_type: systemVerilogSource\n"
        "targets:\n  default:\n    filesets: [rtl]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
