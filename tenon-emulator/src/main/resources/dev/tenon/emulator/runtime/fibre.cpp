#include "fibre.h"

#include <sys/mman.h>

#if defined(__x86_64__)
asm(R"(
    .text
    .globl tenon_switch
    .hidden tenon_switch
    .type tenon_switch, @function
    .p2align 4
tenon_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size tenon_switch, . - tenon_switch
)");
constexpr int saved_words = 6;
#elif defined(__aarch64__)
asm(R"(
    .text
    .globl tenon_switch
    .hidden tenon_switch
    .type tenon_switch, %function
    .p2align 4
tenon_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .size tenon_switch, . - tenon_switch
)");
#else
#error "the emulator knows x86-64 and aarch64 hosts"
#endif

namespace {
constexpr uint32_t usable = 128 * 1024;
constexpr uint32_t guard = 4096;
// Tops at the same offset of their pages would share cache sets.
constexpr uint32_t stagger = 192;
constexpr uint32_t staggered = 21;
}  // namespace

void* Stack::prepared(void (*entry)()) const {
    uint64_t* at = static_cast<uint64_t*>(top);
#if defined(__x86_64__)
    *--at = 0;  // where a return address would be: keeps the alignment of a called function
    *--at = reinterpret_cast<uint64_t>(entry);
    for (int i = 0; i < saved_words; i++) {
        *--at = 0;
    }
#else
    at -= 20;
    for (int i = 0; i < 20; i++) {
        at[i] = 0;
    }
    at[11] = reinterpret_cast<uint64_t>(entry);
#endif
    return at;
}

Stack* Stacks::take() {
    if (!free_.empty()) {
        Stack* stack = free_.back();
        free_.pop_back();
        return stack;
    }
    void* memory = mmap(nullptr, usable + guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) {
        return nullptr;
    }
    mprotect(memory, guard, PROT_NONE);
    uint8_t* low = static_cast<uint8_t*>(memory) + guard;
    void* top = low + usable - (all_.size() % staggered) * stagger;
    all_.push_back(new Stack{low, usable, top});
    return all_.back();
}

Stacks::~Stacks() {
    for (Stack* stack : all_) {
        munmap(stack->low - guard, stack->bytes + guard);
        delete stack;
    }
}
