// Barriers in shared memory, and copies that the copy engine does meanwhile (from compute capability 9.0 on).
#pragma once
#include "tenon.cuh"

#if __CUDA_ARCH__ >= 900
// Where something lies in shared memory.
__device__ __forceinline__ u32 shared_address(const void* shared) { return static_cast<u32>(__cvta_generic_to_shared(shared)); }

// A barrier in shared memory on which some threads arrive and others wait: its phases alternate between parity 0 and 1. What a thread wrote
// before it arrived is seen by those that waited.
__device__ __forceinline__ void start_barrier(u32 barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void arrive(u32 barrier) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory"); }

__device__ __forceinline__ void await_phase(u32 barrier, u32 parity) {
    asm volatile(
        "{ .reg .pred p;\n"
        "again%=: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
        "@p bra.uni done%=;\n"
        "bra.uni again%=;\n"
        "done%=: }" ::"r"(barrier), "r"(parity) : "memory");
}

// Arrives, and makes the phase wait for so many bytes of copies beside; one thread for all copies of a phase.
__device__ __forceinline__ void expect_bytes(u32 barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// Barriers that were started are seen by the copy engine.
__device__ __forceinline__ void show_barriers() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Whole accesses of 16 bytes from global to shared memory, done when the barrier has their bytes.
__device__ __forceinline__ void copy_bulk(u32 shared, const void* global, int bytes, u32 barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared), "l"(global), "r"(bytes), "r"(barrier) : "memory");
}
#endif
