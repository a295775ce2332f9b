// Checks of accesses by kernels. All fail for what is not allowed, and do nothing on threads that run no kernel.
#pragma once
#include <cstdint>

#include "memory.h"
#include "order.h"
#include "shared.h"

// For what is not a plain access to device memory: shared memory, the stack, globals. `bytes` > 0.
void check_elsewhere(uint64_t address, uint64_t bytes, Access access, const void* caller);

// Returns where the record of the shared memory is (Shared::locate).
int64_t check_shared(const void* address, uint32_t bytes, Access access, const char* what, const void* caller);
void check_global(const void* address, uint32_t bytes, const char* what, const void* caller);

[[noreturn]] void misaligned(uint64_t address, uint64_t bytes, Access access, const void* caller);

inline void check(const void* p, uint64_t bytes, Access access, const void* caller) {
    uint64_t address = reinterpret_cast<uint64_t>(p);
    uint64_t at = address - device_memory.base;
    if (at < device_memory.size) [[likely]] {
        if ((at & (granule - 1)) + bytes <= device_memory.valid[at >> granule_bits]) [[likely]] {
            if (order_checked) [[unlikely]] {
                check_order(address, bytes, access, caller);
            }
            return;
        }
    }
    check_elsewhere(address, bytes, access, caller);
}

inline void check_aligned(const void* p, uint64_t bytes, Access access, const void* caller) {
    if ((reinterpret_cast<uint64_t>(p) & (bytes - 1)) != 0) [[unlikely]] {
        misaligned(reinterpret_cast<uint64_t>(p), bytes, access, caller);
    }
    check(p, bytes, access, caller);
}
