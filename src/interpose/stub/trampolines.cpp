// What the stub exports: a jump through a slot per function, which leaves all arguments as they
// are whatever they are. A slot leads to resolve() at first, then to the function itself.
asm(R"(
  .pushsection .data.unisono_slots, "aw"
  .p2align 3
  .globl unisono_slots
  .hidden unisono_slots
unisono_slots:
  .popsection
)");

#if defined(__x86_64__)

#define UNISONO_SYMBOL(name)                                                                    \
  asm(".pushsection .text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name    \
      ":\n  endbr64\n  jmp *slot_" #name "(%rip)\n.size " #name ", . - " #name "\nfirst_" #name \
      ":\n  endbr64\n  movl $(slot_" #name                                                      \
      " - unisono_slots) / 8, %eax\n  jmp unisono_first_call\n.popsection\n"                    \
      ".pushsection .data.unisono_slots, \"aw\", @progbits\nslot_" #name ": .quad first_" #name \
      "\n.popsection\n");

// Keeps the six argument registers over the call; at entry the stack holds the return address.
asm(R"(
  .pushsection .text
  .p2align 4
  .type unisono_first_call, @function
unisono_first_call:
  .cfi_startproc
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  pushq %rcx
  .cfi_adjust_cfa_offset 8
  pushq %r8
  .cfi_adjust_cfa_offset 8
  pushq %r9
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  movl %eax, %edi
  movq 56(%rsp), %rsi
  call unisono_resolve
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %r9
  .cfi_adjust_cfa_offset -8
  popq %r8
  .cfi_adjust_cfa_offset -8
  popq %rcx
  .cfi_adjust_cfa_offset -8
  popq %rdx
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  jmp *%rax
  .cfi_endproc
  .size unisono_first_call, . - unisono_first_call
  .popsection
)");

#elif defined(__aarch64__)

#define UNISONO_SYMBOL(name)                                                                    \
  asm(".pushsection .text\n.p2align 4\n.globl " #name "\n.type " #name ", %function\n" #name    \
      ":\n  hint #34\n  adrp x16, slot_" #name "\n  ldr x16, [x16, #:lo12:slot_" #name          \
      "]\n  br x16\n.size " #name ", . - " #name "\nfirst_" #name                               \
      ":\n  hint #34\n  adrp x17, slot_" #name "\n  add x17, x17, #:lo12:slot_" #name           \
      "\n  b unisono_first_call\n.popsection\n"                                                 \
      ".pushsection .data.unisono_slots, \"aw\", %progbits\nslot_" #name ": .quad first_" #name \
      "\n.popsection\n");

// Keeps the eight argument registers and the return address over the call.
asm(R"(
  .pushsection .text
  .p2align 4
  .type unisono_first_call, %function
unisono_first_call:
  .cfi_startproc
  stp x29, x30, [sp, #-80]!
  .cfi_adjust_cfa_offset 80
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  adrp x0, unisono_slots
  add x0, x0, #:lo12:unisono_slots
  sub x0, x17, x0
  lsr x0, x0, #3
  mov x1, x30
  bl unisono_resolve
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldp x29, x30, [sp], #80
  .cfi_restore x29
  .cfi_restore x30
  .cfi_adjust_cfa_offset -80
  br x16
  .cfi_endproc
  .size unisono_first_call, . - unisono_first_call
  .popsection
)");

#else
#error "the stub has trampolines for x86-64 and aarch64; preload a flavour library directly"
#endif

#include "interpose/stub/symbols.inc"
