/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The embedded weights: the bytes of a .tgw file, and their number as a size_t.
 * Declared in model/weights.h. Without a file the number is 0.
 */
        .section .rodata
        .balign 64
        .global tg_embedded_weights
        .type tg_embedded_weights, %object
tg_embedded_weights:
#ifdef TG_WEIGHTS_FILE
        .incbin TG_WEIGHTS_FILE
#endif
.Lend:
        .size tg_embedded_weights, .Lend - tg_embedded_weights
        .byte 0
        .balign 8
        .global tg_embedded_weights_nbytes
        .type tg_embedded_weights_nbytes, %object
        .size tg_embedded_weights_nbytes, 8
tg_embedded_weights_nbytes:
        .quad .Lend - tg_embedded_weights
        .section .note.GNU-stack, "", %progbits
