// A part of tenon.cuh: accesses with a word for the caches, and copies to shared memory that pass no register.
#pragma once

// Loads and stores of 4, 8 and 16 bytes that do not stay in the caches: for data used once.
__device__ __forceinline__ uint4 load_streaming(const uint4* p) {
    uint4 r;
    asm volatile("ld.global.cs.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "l"(p));
    return r;
}

// The same of what no kernel writes while this one runs, in a load that is meant to be on its way for long.
__device__ __forceinline__ uint4 load_ahead(const uint4* p) {
    uint4 r;
    asm volatile("ld.global.nc.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "l"(p));
    return r;
}

__device__ __forceinline__ void store_streaming(uint4* p, uint4 v) {
    asm volatile("st.global.cs.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

// What L2 should do with the lines of an access: as it always does, let them go first, or keep them longest.
__device__ __forceinline__ u64 l2_normal() {
    u64 policy = 0;
#if __CUDA_ARCH__ >= 800
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
#endif
    return policy;
}

__device__ __forceinline__ u64 l2_let_go() {
    u64 policy = 0;
#if __CUDA_ARCH__ >= 800
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
#endif
    return policy;
}

__device__ __forceinline__ u64 l2_keep() {
    u64 policy = 0;
#if __CUDA_ARCH__ >= 800
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
#endif
    return policy;
}

__device__ __forceinline__ uint4 load_16(const void* global, u64 policy) {
#if __CUDA_ARCH__ >= 800
    uint4 v;
    asm volatile("ld.global.L2::cache_hint.v4.u32 {%0,%1,%2,%3}, [%4], %5;" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(global), "l"(policy));
    return v;
#else
    return *static_cast<const uint4*>(global);
#endif
}

__device__ __forceinline__ void store_16(void* global, uint4 v, u64 policy) {
#if __CUDA_ARCH__ >= 800
    asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1,%2,%3,%4}, %5;" ::"l"(global), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "l"(policy) : "memory");
#else
    *static_cast<uint4*>(global) = v;
#endif
}

// In one access; the compiler makes four where it chose the words.
__device__ __forceinline__ void store_16(void* global, const u32 (&v)[4]) {
    asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(global), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) : "memory");
}

// 16 bytes from global to shared memory, done at some time before the wait; without passing through registers.
__device__ __forceinline__ void copy_async_16(void* shared, const void* global) {
#if __CUDA_ARCH__ >= 800
    u32 address = static_cast<u32>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(global) : "memory");
#else
    *static_cast<uint4*>(shared) = *static_cast<const uint4*>(global);
#endif
}

__device__ __forceinline__ void copy_async_16(void* shared, const void* global, u64 policy) {
#if __CUDA_ARCH__ >= 800
    u32 address = static_cast<u32>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(address), "l"(global), "l"(policy) : "memory");
#else
    copy_async_16(shared, global);
#endif
}

// The same where `there`, and zeros where not; then nothing is read.
__device__ __forceinline__ void copy_async_16_if(void* shared, const void* global, bool there) {
#if __CUDA_ARCH__ >= 800
    u32 address = static_cast<u32>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(global), "r"(there ? 16 : 0) : "memory");
#else
    *static_cast<uint4*>(shared) = there ? *static_cast<const uint4*>(global) : uint4{};
#endif
}

__device__ __forceinline__ void copy_async_4(void* shared, const void* global) {
#if __CUDA_ARCH__ >= 800
    u32 address = static_cast<u32>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address), "l"(global) : "memory");
#else
    *static_cast<u32*>(shared) = *static_cast<const u32*>(global);
#endif
}

__device__ __forceinline__ void copy_async_commit() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most N committed groups are on their way.
template <int N>
__device__ __forceinline__ void copy_async_wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}
