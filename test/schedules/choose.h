/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef TGRAPH_TEST_CHOOSE_H
#define TGRAPH_TEST_CHOOSE_H

#include "model/plan.h"
#include "test/schedules/schedules.h"

/* A random legal configuration; false: the kernel has the stock one alone. */
bool choose_config(struct random *random, const struct tg_kernel *kernel,
                   const struct tg_target *target, struct tg_config *config);

#endif
