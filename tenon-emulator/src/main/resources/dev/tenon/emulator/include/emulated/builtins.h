// threadIdx and its kin. The runtime keeps them in thread-local storage and sets them whenever another thread of the block goes on.
// They are read by assembly: they never change while a kernel runs, so the compiler may keep them, and the access checks skip them.
#pragma once

namespace tenon {
TENON_DEVICE const char* thread_base() {
    const char* base;
#if defined(__x86_64__)
    unsigned long offset;
    asm("movq tenon_thread@gottpoff(%%rip), %0" : "=r"(offset));
    asm("movq %%fs:0, %0" : "=r"(base));
    return base + offset;
#elif defined(__aarch64__)
    unsigned long offset;
    asm("adrp %0, :gottprel:tenon_thread\n\tldr %0, [%0, #:gottprel_lo12:tenon_thread]" : "=r"(offset));
    asm("mrs %0, tpidr_el0" : "=r"(base));
    return base + offset;
#else
#error "the emulator knows x86-64 and aarch64 hosts"
#endif
}

TENON_DEVICE unsigned int thread_word(unsigned long offset) {
    unsigned int value;
#if defined(__x86_64__)
    asm("movl (%1), %0" : "=r"(value) : "r"(thread_base() + offset));
#else
    asm("ldr %w0, [%1]" : "=r"(value) : "r"(thread_base() + offset));
#endif
    return value;
}

TENON_DEVICE uint3 thread_triple(unsigned long offset) {
    return {thread_word(offset), thread_word(offset + 4), thread_word(offset + 8)};
}

TENON_DEVICE unsigned char* dynamic_shared() {
    unsigned char* value;
#if defined(__x86_64__)
    asm("movq (%1), %0" : "=r"(value) : "r"(thread_base() + __builtin_offsetof(TenonThread, dynamic_shared)));
#else
    asm("ldr %0, [%1]" : "=r"(value) : "r"(thread_base() + __builtin_offsetof(TenonThread, dynamic_shared)));
#endif
    return value;
}

TENON_DEVICE void note_leaving(const char* function) {
    const char* at = thread_base() + __builtin_offsetof(TenonThread, left);
#if defined(__x86_64__)
    asm volatile("movq %1, (%0)" ::"r"(at), "r"(function) : "memory");
#else
    asm volatile("str %1, [%0]" ::"r"(at), "r"(function) : "memory");
#endif
}

constexpr __attribute__((always_inline)) inline void leaving(const char* function) {
    if (!__builtin_is_constant_evaluated()) {
        note_leaving(function);
    }
}
}  // namespace tenon

#define threadIdx (::tenon::thread_triple(__builtin_offsetof(TenonThread, thread)))
#define blockIdx (::tenon::thread_triple(__builtin_offsetof(TenonThread, block)))
#define blockDim (::dim3(::tenon::thread_triple(__builtin_offsetof(TenonThread, block_dim))))
#define gridDim (::dim3(::tenon::thread_triple(__builtin_offsetof(TenonThread, grid_dim))))
#define warpSize 32

#define TENON_DYNAMIC_SHARED(type, name) type* const name = reinterpret_cast<type*>(::tenon::dynamic_shared())
