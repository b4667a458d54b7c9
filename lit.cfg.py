# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""lit configuration: `lit test` here, or through ctest as the test named lit.

Parameters (`--param name=value`), each with an environment variable and a
default:
  build     TGRAPH_BUILD     the build folder                 ./build
  llvm_bin  TGRAPH_LLVM_BIN  the folder of mlir-opt           /usr/lib/llvm-22/bin
  sanitize  TGRAPH_SANITIZE  sanitizers of the build, if any

Substitutions:
  %tgraph_opt  mlir-opt with the plugin loaded
  %mlir_opt    mlir-opt alone
  %plugin      the path of the plugin
  %tgraph      the tool
  %inputs      test/Inputs
  %root        the repository
  %python      the Python that runs lit
"""

import os
import shlex
import shutil
import subprocess
import sys

import lit.formats

config = globals()["config"]
lit_config = globals()["lit_config"]


def parameter(name: str, variable: str, default: str) -> str:
    return lit_config.params.get(name) or os.environ.get(variable) or default


def program(name: str, folder: str) -> str:
    """The program from LLVM's folder, or NAME-22 or NAME on the path."""
    found = shutil.which(name, path=folder) or shutil.which(name + "-22") or shutil.which(name)
    if not found:
        lit_config.fatal(f"{name} was found neither in {folder} nor on the path")
    return shlex.quote(found)


def sanitizer_prefix(names: str) -> str:
    """The sanitizers' runtimes must be loaded before the plugin is."""
    libraries = [
        subprocess.run(
            ["cc", f"-print-file-name=lib{library}.so"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        for name, library in (("address", "asan"), ("undefined", "ubsan"))
        if name in names.split(",")
    ]
    return f"env LD_PRELOAD={':'.join(libraries)} "


root = os.path.dirname(os.path.abspath(__file__))
build = os.path.abspath(parameter("build", "TGRAPH_BUILD", os.path.join(root, "build")))
llvm_bin = parameter("llvm_bin", "TGRAPH_LLVM_BIN", "/usr/lib/llvm-22/bin")
sanitize = parameter("sanitize", "TGRAPH_SANITIZE", "")

plugin = os.path.join(build, "libtgraph.so")
tool = os.path.join(build, "bin", "tgraph")
if not os.path.exists(plugin):
    lit_config.fatal(f"{plugin} does not exist: build first, or give --param build=")

config.name = "TGraph"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "fuzz", "python", "model", "build", "build-sanitize"]
config.test_source_root = root
config.test_exec_root = os.path.join(build, "test")
os.makedirs(config.test_exec_root, exist_ok=True)

mlir_opt = program("mlir-opt", llvm_bin)
if sanitize:
    mlir_opt = sanitizer_prefix(sanitize) + mlir_opt
    # libMLIR keeps what it allocates once until the process ends.
    config.environment["ASAN_OPTIONS"] = "detect_leaks=0"
config.substitutions += [
    ("%tgraph_opt", f"{mlir_opt} --load-pass-plugin={shlex.quote(plugin)}"),
    (r"%tgraph\b", shlex.quote(tool)),
    ("%mlir_opt", mlir_opt),
    ("%mlir_translate", program("mlir-translate", llvm_bin)),
    ("%llc", program("llc", llvm_bin)),
    ("%plugin", shlex.quote(plugin)),
    ("%root", shlex.quote(root)),
    ("%python", shlex.quote(sys.executable)),
    ("%inputs", shlex.quote(os.path.join(root, "test", "Inputs"))),
    (r"(?<![-\w])FileCheck\b", program("FileCheck", llvm_bin)),
    (r"(?<![-\w])not(?![-\w])", program("not", llvm_bin)),
]
config.environment["OPENBLAS_NUM_THREADS"] = "1"
if os.path.exists(tool):
    config.available_features.add("tool")
