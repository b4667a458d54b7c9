/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which configurations an operation has: the lists of values that are tried
 * for each knob, their legal combinations, and samples of them.
 */
#include "model/space.h"

#include <stdlib.h>
#include <string.h>

const char *const tg_config_names[TG_CONFIG_NAMED_COUNT] = {"stock",
                                                            "analytic"};
