/* Every register but rax (the result) is as before after a call of `quiet`, as -fipa-ra lets its callers expect. */
#include "begin.h"

extern long quiet(void);
extern long check(void);
extern long arguments(long, long, long, long, long, long, long, double, double);

__asm__(
    ".text\n.globl quiet\n.type quiet,@function\nquiet:\n"
    "  movq $77, %rax\n  ret\n.size quiet,.-quiet\n"
    ".globl arguments\n.type arguments,@function\narguments:\n"
    "  leaq (%rdi,%rsi), %r11\n  addq %rdx, %r11\n  addq %rcx, %r11\n  addq %r8, %r11\n  addq %r9, %r11\n"
    "  addq 8(%rsp), %r11\n  addsd %xmm1, %xmm0\n  cvttsd2si %xmm0, %rax\n  addq %r11, %rax\n  ret\n"
    ".size arguments,.-arguments\n"
    ".globl check\n.type check,@function\ncheck:\n"
    "  push %rbx\n  push %rbp\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n  subq $8, %rsp\n"
    "  movq $1, %rbx\n  movq $2, %rbp\n  movq $3, %r12\n  movq $4, %r13\n  movq $5, %r14\n  movq $6, %r15\n"
    "  movq $11, %rcx\n  movq $12, %rdx\n  movq $13, %rsi\n  movq $14, %rdi\n"
    "  movq $15, %r8\n  movq $16, %r9\n  movq $17, %r10\n  movq $18, %r11\n"
    "  movq %rcx, %xmm0\n  movq %r11, %xmm15\n  pcmpeqd %xmm7, %xmm7\n"
    "  call quiet\n"
    "  cmpq $77, %rax\n  jne 1f\n  cmpq $1, %rbx\n  jne 1f\n  cmpq $2, %rbp\n  jne 1f\n  cmpq $3, %r12\n  jne 1f\n"
    "  cmpq $4, %r13\n  jne 1f\n  cmpq $5, %r14\n  jne 1f\n  cmpq $6, %r15\n  jne 1f\n"
    "  cmpq $11, %rcx\n  jne 1f\n  cmpq $12, %rdx\n  jne 1f\n  cmpq $13, %rsi\n  jne 1f\n  cmpq $14, %rdi\n  jne 1f\n"
    "  cmpq $15, %r8\n  jne 1f\n  cmpq $16, %r9\n  jne 1f\n  cmpq $17, %r10\n  jne 1f\n  cmpq $18, %r11\n  jne 1f\n"
    "  movq %xmm0, %rax\n  cmpq $11, %rax\n  jne 1f\n  movq %xmm15, %rax\n  cmpq $18, %rax\n  jne 1f\n"
    "  movq %xmm7, %rax\n  cmpq $-1, %rax\n  jne 1f\n"
    "  movl $1, %eax\n  jmp 2f\n1: xorl %eax, %eax\n2:\n"
    "  addq $8, %rsp\n  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbp\n  pop %rbx\n  ret\n"
    ".size check,.-check\n");

int main(void) {
    begin();
    for (int i = 0; i < 10000; i++)
        if (!check()) return 1;
    printf("%ld\n", arguments(1, 2, 3, 4, 5, 6, 7, 8.0, 9.0));
    return 0;
}
