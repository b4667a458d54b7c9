/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Run by the build after it is linked: do the embedded weights fit this code?
 * Prints why not and exits with 1, which stops the build.
 */
#include <stdio.h>

#include "model/infer.h"
#include "model/weights.h"

int main(void) {
  struct tg_error error;
  struct tg_model *model = NULL;
  if (tg_model_create_from_memory("the weights to embed", tg_embedded_weights,
                                  tg_embedded_weights_nbytes, &model,
                                  &error) != TG_OK) {
    fprintf(stderr,
            "error: %s\n"
            "       Train again (model/train), or build with "
            "-DTGRAPH_WEIGHTS=none to measure first.\n",
            error.message);
    return 1;
  }
  tg_model_destroy(model);
  return 0;
}
