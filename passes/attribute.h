/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The attribute tgraph.config: a configuration in the words of the operation,
 * for people to read and to write. docs/config-attribute.md describes it.
 */
#ifndef TGRAPH_PASSES_ATTRIBUTE_H
#define TGRAPH_PASSES_ATTRIBUTE_H

#include <mlir-c/IR.h>

#include "model/error.h"
#include "model/nest.h"
#include "model/plan.h"

#define TG_CONFIG_ATTRIBUTE "tgraph.config"
#define TG_TARGET_ATTRIBUTE "tgraph.target"
#define TG_MODEL_ATTRIBUTE "tgraph.model"
#define TG_SKIP_ATTRIBUTE "tgraph.skip"
#define TG_CHOSEN_ATTRIBUTE "tgraph.chosen"

enum { TG_CONFIG_VERSION = 1 };

MlirAttribute tg_config_to_attribute(MlirContext context,
                                     const struct tg_kernel *kernel,
                                     const struct tg_config *config);
/* Sets kernel->prepacked from the entry `prepack`; where there is none, none
 * is. Refuses what isn't a list of inputs that are marked weights of `op`. */
enum tg_status tg_prepack_from_attribute(MlirAttribute attribute,
                                         MlirOperation op,
                                         struct tg_kernel *kernel,
                                         struct tg_error *error);
/* Refuses unknown, missing and contradictory entries. Whether the machine can
 * carry the configuration out is for tg_plan_make to say. */
enum tg_status tg_config_from_attribute(MlirAttribute attribute,
                                        const struct tg_kernel *kernel,
                                        struct tg_config *config,
                                        struct tg_error *error);

/* The same for a nest, whose configuration is its vector loop and the vectors
 * of a body. */
MlirAttribute tg_nest_config_to_attribute(MlirContext context,
                                          const struct tg_config *config);
enum tg_status tg_nest_config_from_attribute(MlirAttribute attribute,
                                             const struct tg_nest *nest,
                                             struct tg_config *config,
                                             struct tg_error *error);

/* The target that the module names in tgraph.target; TG_BAD_INPUT where the
 * attribute is malformed, the host's description where there is none. */
enum tg_status tg_get_target(MlirOperation module, struct tg_target *target,
                             struct tg_error *error);

#endif
