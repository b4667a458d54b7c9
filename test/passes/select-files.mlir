// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that can't be written: an error at the module, exit 1, no output and no
// half of a file.
// RUN: rm -rf %t && mkdir %t
// RUN: not %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic report=%t/none/r.json' > %t/out 2> %t/err
// RUN: FileCheck %s --check-prefix=REPORT < %t/err
// RUN: test ! -s %t/out
// REPORT: select-files.mlir:0:0: error: tgraph-select-layouts: {{.*}}/none/r.json: can't write: No such file or directory
// RUN: not %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic dump-graph=%t/none/g.npz' 2>&1 | FileCheck %s --check-prefix=NPZ
// NPZ: error: tgraph-select-layouts: {{.*}}/none/g.npz: {{.*}}No such file or directory
// RUN: not %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic dump-graph=%t/none/g.dot' 2>&1 | FileCheck %s --check-prefix=DOT
// DOT: error: tgraph-select-layouts: {{.*}}/none/g.dot: {{.*}}No such file or directory
// RUN: not %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic dump-graph=%t/g.png' 2>&1 | FileCheck %s --check-prefix=END
// END: error: tgraph-select-layouts: option 'dump-graph': '{{.*}}g.png' ends neither in .npz nor in .dot
// A folder stands where the file should.
// RUN: mkdir %t/r.json
// RUN: not %tgraph_opt %s --tgraph-select-layouts='target=avx2 model=analytic report=%t/r.json' 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: error: tgraph-select-layouts: {{.*}}r.json: {{.+}}
// RUN: ls %t | FileCheck %s --check-prefix=LEFT
// LEFT: err
// LEFT-NEXT: out
// LEFT-NEXT: r.json
// LEFT-NOT: {{.}}

func.func @one(%a: tensor<128x64xf32>, %b: tensor<64x96xf32>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x64xf32>, tensor<64x96xf32>)
                     outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
  return %r : tensor<128x96xf32>
}
