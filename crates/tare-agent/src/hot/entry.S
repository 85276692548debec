/* Between a stub and C: every general register is as it was when C is done, for GCC's -fipa-ra lets callers keep values in
   any of them. Vector registers are not touched at all. Flags are dead at a function's entry and exit. */

    .intel_syntax noprefix
    .text

    .macro save_all
    push rax
    push rcx
    push rdx
    push rsi
    push rdi
    push r8
    push r9
    push r10
    push r11
    .endm

    .macro restore_all
    pop r11
    pop r10
    pop r9
    pop r8
    pop rdi
    pop rsi
    pop rdx
    pop rcx
    pop rax
    .endm

    .macro call_aligned function
    push rbp
    mov rbp, rsp
    and rsp, -16
    call \function
    mov rsp, rbp
    pop rbp
    .endm

/* A stub has pushed the function's place and called. Above them is the return address of the function entered.
   Returns with the place popped and the carry flag set if the function is to run unwatched. */
    .section .text.tare, "ax", @progbits
    .globl tare_entry
    .hidden tare_entry
    .type tare_entry, @function
    .balign 64
tare_entry:
    save_all
    lea rdi, [rsp + 88]
    mov esi, [rsp + 80]
    call tare_enter_plain
    cmp eax, 1
    ja 2f
1:  restore_all
    ret 8
2:  lea rdi, [rsp + 88]
    mov esi, [rsp + 80]
    mov rdx, rsp
    call_aligned tare_enter
    cmp eax, 1
    jmp 1b
    .size tare_entry, . - tare_entry

/* A watched function has returned to its stub, which has pushed its place where the return address was.
   Goes on where the function would have returned to. */
    .globl tare_exit
    .hidden tare_exit
    .type tare_exit, @function
    .balign 64
tare_exit:
    save_all
    lea rdi, [rsp + 72]
    mov esi, [rsp + 72]
    call tare_leave_plain
    test rax, rax
    jz 2f
1:  mov [rsp + 72], rax
    restore_all
    ret
2:  lea rdi, [rsp + 72]
    mov esi, [rsp + 72]
    call_aligned tare_leave
    jmp 1b
    .size tare_exit, . - tare_exit
    .text

/* The stub of a function of the unwinder: as tare_entry, and it always goes on. */
    .globl tare_hook_entry
    .hidden tare_hook_entry
    .type tare_hook_entry, @function
    .balign 16
tare_hook_entry:
    save_all
    lea rdi, [rsp + 88]
    mov esi, [rsp + 80]
    call_aligned tare_hook
    restore_all
    ret 8
    .size tare_hook_entry, . - tare_hook_entry

/* XRay's sleds come here instead of to its own trampolines, with the function's id in r10d. Theirs save vector registers
   and flags too, which takes longer than the whole record. Not aligned: the C code needs no alignment of the stack.
   Entry: above the way back into the sled is the return address of the function entered. */
    .globl tare_sled_entry
    .hidden tare_sled_entry
    .type tare_sled_entry, @function
    .balign 64
tare_sled_entry:
    save_all
    mov edi, r10d
    lea rsi, [rsp + 80]
    mov rdx, rsp
    call tare_enter_sled
    restore_all
    ret
    .size tare_sled_entry, . - tare_sled_entry

/* The sled has taken the place of a return, and jumped. What a function returns may be in rax, rdx and vector registers. */
    .globl tare_sled_exit
    .hidden tare_sled_exit
    .type tare_sled_exit, @function
    .balign 64
tare_sled_exit:
    push rax
    push rdx
    mov edi, r10d
    lea rsi, [rsp + 16]
    call tare_leave_sled
    pop rdx
    pop rax
    ret
    .size tare_sled_exit, . - tare_sled_exit

/* Before the jump of a tail call, which may be a conditional one. */
    .globl tare_sled_tail_exit
    .hidden tare_sled_tail_exit
    .type tare_sled_tail_exit, @function
    .balign 64
tare_sled_tail_exit:
    pushfq
    save_all
    mov edi, r10d
    lea rsi, [rsp + 88]
    call tare_leave_sled
    restore_all
    popfq
    ret
    .size tare_sled_tail_exit, . - tare_sled_tail_exit

/* tare_call_saved(function, a, b): calls a function that may use vector registers, and gives them back. */
    .globl tare_call_saved
    .hidden tare_call_saved
    .type tare_call_saved, @function
    .balign 16
tare_call_saved:
    push rbp
    mov rbp, rsp
    sub rsp, 576
    and rsp, -64
    fxsave64 [rsp]
    mov rax, rdi
    mov rdi, rsi
    mov rsi, rdx
    call rax
    fxrstor64 [rsp]
    mov rsp, rbp
    pop rbp
    ret
    .size tare_call_saved, . - tare_call_saved

    .section .note.GNU-stack, "", @progbits
