/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef TGRAPH_TEST_CHILD_H
#define TGRAPH_TEST_CHILD_H

#include <stdbool.h>

#include "test/schedules/batch.h"

/* Does this machine run code for the target? */
bool host_has(const char *target);

/* Runs work(data), which returns 0 for success, in a process of its own and
 * for a limited time. NULL, or how it ended: valid until the next call. */
const char *in_child(int (*work)(void *data), void *data,
                     struct report *report);

/* A report that children share; NULL: no memory. */
struct report *create_report(void);

#endif
