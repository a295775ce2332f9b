// What the compiler calls before accesses with -fsanitize=thread. Its own library is not linked: it cannot live in a JVM, and knows nothing
// of blocks.
#include "check.h"

#include "../include/emulated/abi.h"

#define CALLER __builtin_return_address(0)

#define ACCESSES(bytes)                                                                                              \
    void __tsan_read##bytes(void* p) { check_aligned(p, bytes, Access::Read, CALLER); }                              \
    void __tsan_write##bytes(void* p) { check_aligned(p, bytes, Access::Write, CALLER); }                            \
    void __tsan_read_write##bytes(void* p) { check_aligned(p, bytes, Access::Read, CALLER), check(p, bytes, Access::Write, CALLER); } \
    void __tsan_unaligned_read##bytes(void* p) { check(p, bytes, Access::Read, CALLER); }                            \
    void __tsan_unaligned_write##bytes(void* p) { check(p, bytes, Access::Write, CALLER); }                          \
    void __tsan_unaligned_read_write##bytes(void* p) { check(p, bytes, Access::Read, CALLER), check(p, bytes, Access::Write, CALLER); } \
    void __tsan_volatile_read##bytes(void* p) {                                                                      \
        check_aligned(p, bytes, Access::AtomicRead, CALLER);                                                         \
        tenon_spin();                                                                                                \
    }                                                                                                                \
    void __tsan_volatile_write##bytes(void* p) { check_aligned(p, bytes, Access::AtomicStore, CALLER); }             \
    void __tsan_unaligned_volatile_read##bytes(void* p) {                                                            \
        check(p, bytes, Access::AtomicRead, CALLER);                                                                 \
        tenon_spin();                                                                                                \
    }                                                                                                                \
    void __tsan_unaligned_volatile_write##bytes(void* p) { check(p, bytes, Access::AtomicStore, CALLER); }

#pragma GCC visibility push(default)
extern "C" {
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

void __tsan_read_range(void* p, unsigned long bytes) {
    if (bytes > 0) {
        check(p, bytes, Access::Read, CALLER);
    }
}
void __tsan_write_range(void* p, unsigned long bytes) {
    if (bytes > 0) {
        check(p, bytes, Access::Write, CALLER);
    }
}
void __tsan_vptr_update(void** p, void*) { check(p, 8, Access::Write, CALLER); }
void __tsan_vptr_read(void** p) { check(p, 8, Access::Read, CALLER); }

// What clang calls for these, instead of the C library.
void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
    if (bytes > 0) {
        check(from, bytes, Access::Read, CALLER);
        check(to, bytes, Access::Write, CALLER);
    }
    return __builtin_memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, unsigned long bytes) {
    if (bytes > 0) {
        check(from, bytes, Access::Read, CALLER);
        check(to, bytes, Access::Write, CALLER);
    }
    return __builtin_memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, unsigned long bytes) {
    if (bytes > 0) {
        check(to, bytes, Access::Write, CALLER);
    }
    return __builtin_memset(to, value, bytes);
}

void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}
}

// The program's memory order is not needed: sequential consistency is at least as strong.
#define UPDATE(bits, T, name)                                                \
    T __tsan_atomic##bits##_fetch_##name(volatile T* p, T v, int) {          \
        check_aligned(const_cast<T*>(p), sizeof(T), Access::AtomicUpdate, CALLER); \
        T old = __atomic_fetch_##name(p, v, __ATOMIC_SEQ_CST);               \
        tenon_spin();                                                        \
        return old;                                                          \
    }

#define EXCHANGE(bits, T, strength, weak)                                                                          \
    int __tsan_atomic##bits##_compare_exchange_##strength(volatile T* p, T* expected, T v, int, int) {             \
        check_aligned(const_cast<T*>(p), sizeof(T), Access::AtomicUpdate, CALLER);                                 \
        bool done = __atomic_compare_exchange_n(p, expected, v, weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);         \
        tenon_spin();                                                                                              \
        return done;                                                                                               \
    }

#define ATOMICS(bits, T)                                                                                           \
    T __tsan_atomic##bits##_load(const volatile T* p, int) {                                                       \
        check_aligned(const_cast<T*>(p), sizeof(T), Access::AtomicRead, CALLER);                                   \
        T value = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                            \
        tenon_spin();                                                                                              \
        return value;                                                                                              \
    }                                                                                                              \
    void __tsan_atomic##bits##_store(volatile T* p, T v, int) {                                                    \
        check_aligned(const_cast<T*>(p), sizeof(T), Access::AtomicStore, CALLER);                                  \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                                  \
    }                                                                                                              \
    T __tsan_atomic##bits##_exchange(volatile T* p, T v, int) {                                                    \
        check_aligned(const_cast<T*>(p), sizeof(T), Access::AtomicStore, CALLER);                                  \
        T old = __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                                       \
        tenon_spin();                                                                                              \
        return old;                                                                                                \
    }                                                                                                              \
    UPDATE(bits, T, add)                                                                                           \
    UPDATE(bits, T, sub)                                                                                           \
    UPDATE(bits, T, and)                                                                                           \
    UPDATE(bits, T, or)                                                                                            \
    UPDATE(bits, T, xor)                                                                                           \
    UPDATE(bits, T, nand)                                                                                          \
    EXCHANGE(bits, T, strong, false)                                                                               \
    EXCHANGE(bits, T, weak, true)                                                                                  \
    T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T expected, T v, int, int) {                       \
        check_aligned(const_cast<T*>(p), sizeof(T), Access::AtomicUpdate, CALLER);                                 \
        __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                   \
        tenon_spin();                                                                                              \
        return expected;                                                                                           \
    }

extern "C" {
ATOMICS(8, unsigned char)
ATOMICS(16, unsigned short)
ATOMICS(32, unsigned int)
ATOMICS(64, unsigned long)
}
#pragma GCC visibility pop
