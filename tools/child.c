/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Child processes with limits; see child.h. */
#define _GNU_SOURCE
#include "tools/child.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/timing.h"

void tg_child_limit_cpu(double seconds) {
  enum { PATIENCE = 30 }; /* seconds on the clock for one of the processor's */
  struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds}};
  setitimer(ITIMER_PROF, &timer, NULL);
  alarm(PATIENCE * (unsigned)seconds);
}

void tg_blob_destroy(struct tg_blob *blob) {
  if (blob->data)
    munmap(blob->data, blob->nbytes);
  memset(blob, 0, sizeof *blob);
}

_Noreturn static void run_work(const struct tg_child *child,
                               const struct tg_limits *limits, tg_work work,
                               void *user) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (limits->cpu_seconds > 0)
    tg_child_limit_cpu(limits->cpu_seconds);
  if (limits->memory_nbytes > 0) {
    struct rlimit memory = {(rlim_t)limits->memory_nbytes,
                            (rlim_t)limits->memory_nbytes};
    setrlimit(RLIMIT_AS, &memory);
  }
  if (limits->core >= 0)
    tg_pin_to_core(limits->core);
  dup2(child->log, STDOUT_FILENO);
  dup2(child->log, STDERR_FILENO);
  FILE *out = fdopen(child->output, "wb");
  struct tg_error error = {""};
  enum tg_status status =
      out ? work(user, out, &error) : tg_fail(&error, "no output file");
  if (out && fclose(out) && status == TG_OK)
    status = tg_fail(&error, "the child's result could not be written");
  if (status == TG_OUT_OF_MEMORY && !error.message[0])
    tg_fail(&error, "out of memory");
  *child->shared_error = error;
  _exit(status == TG_OK ? 0 : 1);
}

static void release(struct tg_child *child) {
  if (child->output >= 0)
    close(child->output);
  if (child->log >= 0)
    close(child->log);
  if (child->shared_error)
    munmap(child->shared_error, sizeof *child->shared_error);
  memset(child, 0, sizeof *child);
  child->output = child->log = -1;
}

enum tg_status tg_child_start(struct tg_child *child,
                              const struct tg_limits *limits, tg_work work,
                              void *user, struct tg_error *error) {
  memset(child, 0, sizeof *child);
  child->output = memfd_create("tgraph-output", MFD_CLOEXEC);
  child->log = memfd_create("tgraph-log", MFD_CLOEXEC);
  child->shared_error =
      mmap(NULL, sizeof *child->shared_error, PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (child->shared_error == MAP_FAILED)
    child->shared_error = NULL;
  if (child->output < 0 || child->log < 0 || !child->shared_error) {
    tg_fail(error, "cannot start a child process: %s", strerror(errno));
    release(child);
    return TG_BAD_INPUT;
  }
  fflush(NULL);
  /* Ignored, as some launchers leave it, it would take the exit status away. */
  signal(SIGCHLD, SIG_DFL);
  child->pid = fork();
  if (child->pid < 0) {
    tg_fail(error, "cannot start a child process: %s", strerror(errno));
    release(child);
    return TG_BAD_INPUT;
  }
  if (child->pid == 0)
    run_work(child, limits, work, user);
  child->deadline =
      limits->seconds > 0 ? tg_clock_seconds() + limits->seconds : 0;
  return TG_OK;
}

/* The last line that the child printed: LLVM names the cause of an abort. */
static void read_last_line(int log, char *line, size_t room) {
  off_t end = lseek(log, 0, SEEK_END);
  off_t start = end > (off_t)room - 1 ? end - (off_t)room + 1 : 0;
  ssize_t got = pread(log, line, room - 1, start);
  line[got > 0 ? got : 0] = 0;
  for (size_t n = strlen(line); n > 0 && line[n - 1] == '\n'; n--)
    line[n - 1] = 0;
  char *last = strrchr(line, '\n');
  if (last)
    memmove(line, last + 1, strlen(last));
}

static bool take_blob(int output, struct tg_blob *blob) {
  off_t nbytes = lseek(output, 0, SEEK_END);
  if (nbytes <= 0)
    return nbytes == 0;
  void *data = mmap(NULL, (size_t)nbytes, PROT_READ, MAP_PRIVATE, output, 0);
  if (data == MAP_FAILED)
    return false;
  blob->data = data;
  blob->nbytes = (size_t)nbytes;
  return true;
}

bool tg_child_poll(struct tg_child *child, enum tg_outcome *outcome,
                   struct tg_blob *blob, struct tg_error *error) {
  int status = 0;
  bool hung = false;
  pid_t ended = waitpid(child->pid, &status, WNOHANG);
  if (ended == 0) {
    if (child->deadline == 0 || tg_clock_seconds() < child->deadline)
      return false;
    hung = true;
    kill(child->pid, SIGKILL);
    waitpid(child->pid, &status, 0);
  }
  int reason = errno;
  char line[200];
  read_last_line(child->log, line, sizeof line);
  memset(blob, 0, sizeof *blob);
  if (ended < 0) {
    *outcome = TG_OUTCOME_FAILED;
    tg_fail(error, "the child is lost: %s", strerror(reason));
  } else if (hung || (WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM ||
                                              WTERMSIG(status) == SIGPROF))) {
    *outcome = TG_OUTCOME_HUNG;
    tg_fail(error, "stopped at its time limit");
  } else if (WIFSIGNALED(status)) {
    *outcome = TG_OUTCOME_CRASHED;
    tg_fail(error, "crashed: %s%s%s", strsignal(WTERMSIG(status)),
            line[0] ? ": " : "", line);
  } else if (WEXITSTATUS(status) != 0) {
    *outcome = TG_OUTCOME_FAILED;
    *error = *child->shared_error;
    if (!error->message[0])
      tg_fail(error, "failed: %s", line);
  } else if (take_blob(child->output, blob)) {
    *outcome = TG_OUTCOME_OK;
  } else {
    *outcome = TG_OUTCOME_FAILED;
    tg_fail_memory(error, "the child's result");
  }
  release(child);
  return true;
}

enum tg_outcome tg_child_run(const struct tg_limits *limits, tg_work work,
                             void *user, struct tg_blob *blob,
                             struct tg_error *error) {
  struct tg_child child;
  memset(blob, 0, sizeof *blob);
  if (tg_child_start(&child, limits, work, user, error) != TG_OK)
    return TG_OUTCOME_FAILED;
  enum tg_outcome outcome;
  long pause_ns = 200000;
  while (!tg_child_poll(&child, &outcome, blob, error)) {
    struct timespec pause = {0, pause_ns};
    nanosleep(&pause, NULL);
    if (pause_ns < 5000000)
      pause_ns = pause_ns * 3 / 2;
  }
  return outcome;
}

void tg_child_stop(struct tg_child *child) {
  if (child->pid > 0) {
    kill(child->pid, SIGKILL);
    waitpid(child->pid, NULL, 0);
    release(child);
  }
}
