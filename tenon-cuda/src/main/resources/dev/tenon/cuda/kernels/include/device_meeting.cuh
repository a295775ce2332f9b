// A part of tenon.cuh: how blocks, clusters, launches and devices wait for one another, and what they hand over.
#pragma once

// Adds to a counter after everything that this thread, and those that it met at a barrier, wrote before; waits until a counter has
// reached a value, and sees what was written before it did. For blocks of a cooperative launch, which are all resident.
__device__ __forceinline__ void announce(u32* counter) {
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
}

__device__ __forceinline__ void wait_until(const u32* counter, u32 value) {
    u32 seen;
    do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
    } while (seen < value);
}

// What blocks of a cooperative launch hand to one another without a barrier: words that are looked at until they are no longer what they were.
// Each word arrives whole, and orders nothing but itself. Past the first cache, which would keep an old one.
__device__ __forceinline__ u32 load_handed(const u32* p) {
    u32 r;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(r) : "l"(p) : "memory");
    return r;
}

__device__ __forceinline__ uint2 load_handed(const uint2* p) {
    uint2 r;
    asm volatile("ld.relaxed.gpu.global.v2.u32 {%0,%1}, [%2];" : "=r"(r.x), "=r"(r.y) : "l"(p) : "memory");
    return r;
}

__device__ __forceinline__ uint4 load_handed(const uint4* p) {
    uint4 r;
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "l"(p) : "memory");
    return r;
}

__device__ __forceinline__ void store_handed(u32* p, u32 v) { asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }

__device__ __forceinline__ void store_handed(uint2* p, uint2 v) {
    asm volatile("st.relaxed.gpu.global.v2.u32 [%0], {%1,%2};" ::"l"(p), "r"(v.x), "r"(v.y) : "memory");
}

__device__ __forceinline__ void store_handed(uint4* p, uint4 v) {
    asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

// Before another look.
__device__ __forceinline__ void look_again() {}

// announce and wait_until between devices: the counter may lie in a peer's memory. The wait ends early, and is then false, when `stop` is no
// longer 0, for the peer may never come; counts may wrap.
__device__ __forceinline__ void announce_system(u32* counter) {
    asm volatile("red.release.sys.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
}

__device__ __forceinline__ u32 load_system(const u32* p) {
    u32 r;
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(r) : "l"(p) : "memory");
    return r;
}

__device__ __forceinline__ bool wait_until_system(const u32* counter, u32 value, const u32* stop) {
    u32 seen;
    u32 looks = 0;
    do {
        asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
        if ((++looks & 1023) == 0 && load_system(stop) != 0) return false;
    } while (static_cast<i32>(seen - value) < 0);
    return true;
}

// 16 bytes that devices exchange: each of the four words arrives whole, the four in any order.
__device__ __forceinline__ uint4 load_system(const uint4* p) {
    uint4 r;
    asm volatile("ld.relaxed.sys.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "l"(p) : "memory");
    return r;
}

__device__ __forceinline__ void store_system(uint4* p, uint4 v) {
    asm volatile("st.relaxed.sys.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

// Meets `blocks` blocks for the `number`th time (from 1) at a counter that was 0 at first.
__device__ __forceinline__ void meet(u32* counter, u32 blocks, u32 number) {
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
        announce(counter);
        wait_until(counter, blocks * number);
    }
    __syncthreads();
}

// A launch with the programmatic attribute starts while its predecessor still runs: nothing that this wrote may be read, or that it reads
// be written, before the wait. The release lets the successor start likewise. Both do nothing in other launches.
__device__ __forceinline__ void await_predecessor() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ __forceinline__ void release_successor() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Blocks of a cluster (compute capability 9.0): all are there between an arrival and the wait after it, and what was written before the one
// is seen after the other; but begin_cluster is an arrival that only says that the block is there. A store to the same place in another
// block's shared memory, by the block's number in the cluster.
__device__ __forceinline__ void begin_cluster() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#else
    __trap();
#endif
}

__device__ __forceinline__ void arrive_at_cluster() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#else
    __trap();
#endif
}

__device__ __forceinline__ void wait_for_cluster() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
    __trap();
#endif
}

__device__ __forceinline__ void store_in_cluster(float* shared, u32 block, float v) {
#if __CUDA_ARCH__ >= 900
    u32 address = static_cast<u32>(__cvta_generic_to_shared(shared));
    asm volatile("{ .reg .u32 there; mapa.shared::cluster.u32 there, %0, %1; st.shared::cluster.f32 [there], %2; }" ::"r"(address), "r"(block), "f"(v) : "memory");
#else
    __trap();
#endif
}

__device__ __forceinline__ void store_in_cluster(double* shared, u32 block, double v) {
#if __CUDA_ARCH__ >= 900
    u32 address = static_cast<u32>(__cvta_generic_to_shared(shared));
    asm volatile("{ .reg .u32 there; mapa.shared::cluster.u32 there, %0, %1; st.shared::cluster.f64 [there], %2; }" ::"r"(address), "r"(block), "d"(v) : "memory");
#else
    __trap();
#endif
}
