/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What identifies the machine and the software, in words. */
#ifndef TGRAPH_TOOLS_VERSIONS_H
#define TGRAPH_TOOLS_VERSIONS_H

const char *tg_tool_version(void); /* "0.1.0" */
const char *tg_llvm_version(void); /* "22.1.8" */
/* LLVM's name of the CPU and its features; static once asked for. */
const char *tg_host_description(void);
/* The "model name" of /proc/cpuinfo, or "unknown". */
const char *tg_cpu_model(void);
/* The core OpenBLAS chose its kernels for, "SkylakeX". */
const char *tg_openblas_core(void);

#endif
