/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The opponent for matmuls: OpenBLAS, on one thread. */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/bench.h"

void tg_blas_run(void *user) {
  const struct tg_blas_user *u = user;
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, u->m, u->n, u->k, 1,
              u->call->buffers[0], u->k, u->call->buffers[1], u->n, 0,
              u->result, u->n);
}

char *tg_gemm_text(const int64_t gemm[3]) {
  static const char form[] =
      "func.func @main(%%a: tensor<%lldx%lldxf32>,\n"
      "                %%b: tensor<%lldx%lldxf32>) -> tensor<%lldx%lldxf32> "
      "{\n"
      "  %%zero = arith.constant 0.0 : f32\n"
      "  %%empty = tensor.empty() : tensor<%lldx%lldxf32>\n"
      "  %%init = linalg.fill ins(%%zero : f32)\n"
      "    outs(%%empty : tensor<%lldx%lldxf32>) -> tensor<%lldx%lldxf32>\n"
      "  %%result = linalg.matmul\n"
      "    ins(%%a, %%b : tensor<%lldx%lldxf32>, tensor<%lldx%lldxf32>)\n"
      "    outs(%%init : tensor<%lldx%lldxf32>) -> tensor<%lldx%lldxf32>\n"
      "  return %%result : tensor<%lldx%lldxf32>\n"
      "}\n";
  enum { ROOM = 2048 };
  char *text = malloc(ROOM);
  long long m = gemm[0], n = gemm[1], k = gemm[2];
  if (text)
    snprintf(text, ROOM, form, m, k, k, n, m, n, m, n, m, n, m, n, m, k, k, n,
             m, n, m, n, m, n);
  return text;
}
