/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The weights of prepack-from-c.mlir are packed once, then it's called. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct memref2 {
  float *allocated, *aligned;
  int64_t offset, sizes[2], strides[2];
};
struct memref3 {
  float *allocated, *aligned;
  int64_t offset, sizes[3], strides[3];
};

/* linear(x, w): w is a weight, which becomes a panel of three dimensions. */
void _mlir_ciface_linear_prepack(struct memref3 *panel, struct memref2 *w);
void _mlir_ciface_linear_packed(struct memref2 *result, struct memref2 *x,
                                struct memref3 *panel);

static struct memref2 make(int64_t height, int64_t width, float value) {
  float *data = malloc((size_t)(height * width) * sizeof *data);
  for (int64_t i = 0; data && i < height * width; i++)
    data[i] = value;
  return (struct memref2){data, data, 0, {height, width}, {width, 1}};
}

int main(void) {
  struct memref2 x = make(100, 96, 1), w = make(96, 144, 0.5f), result;
  struct memref3 panel;
  if (!x.aligned || !w.aligned)
    return 1;
  _mlir_ciface_linear_prepack(&panel, &w);
  free(w.allocated); /* the panel is all that is needed from here on */
  for (int call = 1; call <= 3; call++) {
    for (int i = 0; i < 100 * 96; i++)
      x.aligned[i] = (float)call;
    _mlir_ciface_linear_packed(&result, &x, &panel);
    printf("%g %g\n", result.aligned[0], result.aligned[100 * 144 - 1]);
    free(result.allocated);
  }
  free(panel.allocated);
  free(x.allocated);
  return 0;
}
