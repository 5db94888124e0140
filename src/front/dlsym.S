/*
 * dlsym.S - dlsym, with the caller's identity kept; see handle.c.
 *
 * What dlsym finds may depend on its caller (RTLD_NEXT, RTLD_DEFAULT), which
 * dlsym knows by its return address. So this is a jump, not a call:
 *
 *     answer = sw_handle_look(handle, &name);
 *     if (answer)
 *         return answer;
 *     goto sw_real_dlsym(handle, name);
 */
#if defined(__x86_64__)
    .text
    .p2align 4
    .globl dlsym
    .type dlsym, @function
    .hidden sw_handle_look
    .hidden sw_real_dlsym
dlsym:
    .cfi_startproc
    endbr64
    subq $24, %rsp
    .cfi_adjust_cfa_offset 24
    movq %rdi, 8(%rsp)
    movq %rsi, 0(%rsp)
    movq %rsp, %rsi
    call sw_handle_look
    movq 0(%rsp), %rsi
    movq 8(%rsp), %rdi
    addq $24, %rsp
    .cfi_adjust_cfa_offset -24
    testq %rax, %rax
    je 1f
    ret
1:  jmp *sw_real_dlsym(%rip)
    .cfi_endproc
    .size dlsym, . - dlsym

    .section .note.gnu.property, "a"
    .p2align 3
    .long 4, 16, 5
    .asciz "GNU"
    .long 0xc0000002, 4, 3, 0
#elif defined(__aarch64__)
    .text
    .p2align 4
    .globl dlsym
    .type dlsym, %function
    .hidden sw_handle_look
    .hidden sw_real_dlsym
dlsym:
    .cfi_startproc
    hint 25
    .cfi_negate_ra_state
    stp x29, x30, [sp, -32]!
    .cfi_def_cfa_offset 32
    .cfi_offset 29, -32
    .cfi_offset 30, -24
    mov x29, sp
    stp x1, x0, [sp, 16]
    add x1, sp, 16
    bl sw_handle_look
    mov x16, x0
    ldp x1, x0, [sp, 16]
    ldp x29, x30, [sp], 32
    .cfi_restore 29
    .cfi_restore 30
    .cfi_def_cfa_offset 0
    hint 29
    .cfi_negate_ra_state
    cbz x16, 1f
    mov x0, x16
    ret
1:  adrp x16, sw_real_dlsym
    ldr x16, [x16, :lo12:sw_real_dlsym]
    br x16
    .cfi_endproc
    .size dlsym, . - dlsym

    .section .note.gnu.property, "a"
    .p2align 3
    .long 4, 16, 5
    .asciz "GNU"
    .long 0xc0000000, 4, 3, 0
#endif
    .section .note.GNU-stack, "", %progbits
