/* Entries of all kinds, each of which must work patched or be refused. */
#include "begin.h"

long shared_word = 40;

#define FUNCTION(name, body) ".globl " #name "\n.type " #name ",@function\n.p2align 4\n" #name ":\n" body ".size " #name ",.-" #name "\n"

__asm__(".text\n"
    FUNCTION(relative, "  movq shared_word(%rip), %rax\n  addq %rdi, %rax\n  ret\n")
    FUNCTION(branches, "  testq %rdi, %rdi\n  je 1f\n  movl $1, %eax\n  ret\n1: movl $2, %eax\n  ret\n")
    FUNCTION(calls, "  subq $8, %rsp\n  call helper\n  addq $8, %rsp\n  addq $1, %rax\n  ret\n")
    FUNCTION(calls_first, "  call 1f\n1: popq %rax\n  leaq 1b(%rip), %rdx\n  subq %rdx, %rax\n  ret\n")
    FUNCTION(calls_pointer, "  pushq %rbx\n  call *helper_pointer(%rip)\n  popq %rbx\n  ret\n")
    FUNCTION(jumps, "  jmp helper\n")
    FUNCTION(tiny, "  movl %edi, %eax\n  ret\n")
    FUNCTION(nothing, "  ret\n")
    ".p2align 4\n.globl crowded\n.type crowded,@function\ncrowded: movl %edi, %eax\n  ret\n.size crowded,.-crowded\n"
    ".globl neighbour\n.type neighbour,@function\nneighbour: leaq 5(%rdi), %rax\n  nop\n  ret\n.size neighbour,.-neighbour\n"
    FUNCTION(looping, "  addq $-1, %rdi\n  jne looping\n  movl $3, %eax\n  ret\n")
    FUNCTION(entered, "  nop\n1: addq $-1, %rdi\n  jne 1b\n  movl $4, %eax\n  ret\n")
    FUNCTION(marked, "  endbr64\n  movl $6, %eax\n  ret\n")
    FUNCTION(helper, "  movq %rdi, %rax\n  addq $100, %rax\n  ret\n")
    ".data\nhelper_pointer: .quad helper\n.text\n");

long relative(long), branches(long), calls(long), calls_first(long), calls_pointer(long), jumps(long), tiny(long);
void nothing(long);
long crowded(long), neighbour(long), looping(long), entered(long), marked(long);

int main(void) {
    begin();
    nothing(0);
    printf("%ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld\n", relative(2), branches(0), branches(1), calls(1),
           calls_first(0), calls_pointer(2), jumps(3), tiny(7), crowded(8), neighbour(4), looping(5), entered(5), marked(0));
    return 0;
}
