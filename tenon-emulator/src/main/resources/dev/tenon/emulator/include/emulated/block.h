// Barriers of a block and of a grid, fences, clocks.
#pragma once

TENON_DEVICE void __syncthreads(TENON_WHERE) { tenon_barrier(0, 0, line, file); }
TENON_DEVICE int __syncthreads_or(int predicate, TENON_WHERE) { return tenon_barrier(1, predicate, line, file); }
TENON_DEVICE int __syncthreads_and(int predicate, TENON_WHERE) { return tenon_barrier(2, predicate, line, file); }
TENON_DEVICE int __syncthreads_count(int predicate, TENON_WHERE) { return tenon_barrier(3, predicate, line, file); }

TENON_DEVICE void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
TENON_DEVICE void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
TENON_DEVICE void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
TENON_DEVICE void __nanosleep(unsigned int) { tenon_yield(); }

TENON_DEVICE long long clock64() { return tenon_clock(); }
TENON_DEVICE int clock() { return static_cast<int>(tenon_clock()); }
TENON_DEVICE unsigned long long globaltimer() { return static_cast<unsigned long long>(tenon_clock()); }
TENON_DEVICE void __trap(TENON_WHERE) { tenon_trap(line, file); }

#define assert(condition) ((condition) ? static_cast<void>(0) : __trap())

TENON_DEVICE void grid_barrier(u32* arrived, u32 number, TENON_WHERE) {
    tenon_barrier(0, 0, line, file);
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
        tenon_grid_check(line, file);
        u32 all = gridDim.x * gridDim.y * gridDim.z * number;
        __atomic_fetch_add(arrived, 1u, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(arrived, __ATOMIC_SEQ_CST) < all) {
            tenon_yield();
        }
    }
    tenon_barrier(0, 0, line, file);
}
