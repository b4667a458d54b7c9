/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of the machine and the software; see versions.h. */
#include "tools/versions.h"

#include <cblas.h>
#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef TGRAPH_VERSION
#define TGRAPH_VERSION "0.1.0"
#endif

const char *tg_tool_version(void) { return TGRAPH_VERSION; }

const char *tg_llvm_version(void) {
  static char text[32];
  unsigned major, minor, patch;
  LLVMGetVersion(&major, &minor, &patch);
  snprintf(text, sizeof text, "%u.%u.%u", major, minor, patch);
  return text;
}

const char *tg_host_description(void) {
  static char text[8192];
  if (!text[0]) {
    char *cpu = LLVMGetHostCPUName();
    char *features = LLVMGetHostCPUFeatures();
    snprintf(text, sizeof text, "%s %s", cpu, features);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
  }
  return text;
}

const char *tg_cpu_model(void) {
  static char text[128] = "unknown";
  FILE *file = fopen("/proc/cpuinfo", "r");
  char line[512];
  while (file && fgets(line, sizeof line, file)) {
    char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) || !colon)
      continue;
    colon[strcspn(colon, "\n")] = 0;
    snprintf(text, sizeof text, "%.120s", colon + 2);
    break;
  }
  if (file)
    fclose(file);
  return text;
}

/* Declared here: not every distribution's cblas.h has it. */
extern char *openblas_get_corename(void);

const char *tg_openblas_core(void) { return openblas_get_corename(); }
