/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What identifies the stock lowering, for caches of its results. */
#ifndef TGRAPH_PASSES_STOCK_H
#define TGRAPH_PASSES_STOCK_H

/* The text of the pass pipeline; static. */
const char *tg_stock_pipeline(void);

#endif
