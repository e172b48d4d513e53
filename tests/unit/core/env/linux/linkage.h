/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The macros of the kernel's header of this name that assembly needs. */
#define SYM_FUNC_START(name)	.globl name; .type name, @function; name:
#define SYM_FUNC_END(name)	.size name, . - name
#define RET			ret

.section .note.GNU-stack, "", @progbits
.text
