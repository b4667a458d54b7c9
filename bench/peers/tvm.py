# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TVM through Relax: as it comes, and tuned by MetaSchedule; the faster of the two is the candidate.

Tuning takes minutes. Its records lie in the cache, one folder for each program: what is there counts towards the
trials, so a tuning that was stopped goes on, and one that is finished isn't done again.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx
from tvm.s_tir import meta_schedule

from bench import onnx_model
from bench.data import Array
from bench.graph import Graph
from bench.peers import Program

_BATCH = 16  # trials between two records of progress
_TIMEOUT_S = 300  # for a worker of the tuner, which imports TVM first: half a minute on a busy machine


def _host_target() -> tvm.target.Target:
    cpu = tvm.get_global_func("target.llvm_get_system_cpu")()
    return tvm.target.Target({"kind": "llvm", "mcpu": str(cpu), "num-cores": 1})


def _best_time(call: Callable[[], Any]) -> float:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


class Tvm:
    def __init__(self, cache: Path, trials: int) -> None:
        self.cache, self.trials = cache, trials
        self.target = _host_target()

    def _tune(self, module: tvm.IRModule, folder: Path) -> Any:
        """The database with at least the wanted number of trials."""
        folder.mkdir(parents=True, exist_ok=True)
        records = folder / "database_tuning_record.json"
        done_file = folder / "trials"
        done = int(done_file.read_text()) if done_file.exists() else 0
        if records.exists():
            done = max(done, sum(1 for _ in records.open()))
        builder = meta_schedule.builder.LocalBuilder(timeout_sec=_TIMEOUT_S, max_workers=1)
        runner = meta_schedule.runner.LocalRunner(timeout_sec=_TIMEOUT_S)
        while done < self.trials:
            count = min(_BATCH, self.trials - done)
            meta_schedule.relax_integration.tune_relax(
                module,
                {},
                self.target,
                str(folder),
                count,
                num_trials_per_iter=count,
                builder=builder,
                runner=runner,
                seed=done + 1,
            )
            done += count
            done_file.write_text(f"{done}\n")
        return meta_schedule.database.JSONDatabase(work_dir=str(folder))

    def _compile(self, module: tvm.IRModule, database: Any, data: list[Array]) -> Program:
        if database is not None:
            with self.target, database:
                module = relax.transform.MetaScheduleApplyDatabase()(module)
        machine = relax.VirtualMachine(tvm.compile(module, target=self.target), tvm.cpu())
        arguments = [tvm.runtime.tensor(d) for d in data]
        main = machine["main"]
        return Program(lambda: main(*arguments), lambda result: result.numpy())

    def prepare(self, graph: Graph, data: list[Array]) -> Program:
        model = onnx_model.write(graph)
        name = hashlib.sha256(model + str(self.target).encode()).hexdigest()[:16]
        with self.target:
            module = relax.get_pipeline("zero")(from_onnx(onnx.load_from_string(model)))
        candidates = [self._compile(module, None, data)]
        candidates.append(self._compile(module, self._tune(module, self.cache / name), data))
        return min(candidates, key=lambda p: _best_time(p.call))


def create(folder: Path, options: dict[str, Any]) -> Tvm:
    return Tvm(Path(options["cache"]) / "tvm", options["trials"])
