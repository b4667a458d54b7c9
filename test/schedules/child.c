/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Generated code may crash, or never end: it runs in children.
 */
#include "test/schedules/child.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CPU_SECONDS = 60, WALL_SECONDS = 280 };

bool host_has(const char *target) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
            __builtin_cpu_supports("bmi2");
  bool v4 = v3 && __builtin_cpu_supports("avx512f") &&
            __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512cd") &&
            __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl");
  return !strncmp(target, "avx512", 6) ? v4
         : !strncmp(target, "avx2", 4) ? v3
                                       : true;
#else
  (void)target;
  return false;
#endif
}

struct report *create_report(void) {
  struct report *report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return report == MAP_FAILED ? NULL : report;
}

/* How the child ended, in words; NULL: well. */
static const char *ending(int status, const struct report *report) {
  static char text[700];
  if (WIFSIGNALED(status))
    snprintf(text, sizeof(text), "%s: %s", report->stage,
             strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status) == 0)
    return NULL;
  else
    snprintf(text, sizeof(text), "%s",
             report->fault[0] ? report->fault : report->stage);
  return text;
}

const char *in_child(int (*work)(void *data), void *data,
                     struct report *report) {
  report->fault[0] = 0;
  strcpy(report->stage, "start");
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    /* A busy machine must not look like a hang. */
    struct rlimit limit = {CPU_SECONDS, CPU_SECONDS};
    setrlimit(RLIMIT_CPU, &limit);
    alarm(WALL_SECONDS);
    _exit(work(data));
  }
  int status = 1;
  if (child < 0 || waitpid(child, &status, 0) < 0)
    return "no process";
  return ending(status, report);
}
