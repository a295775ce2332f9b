// What every kernel file includes: CUDA's built-ins plus the few names below. The only header that touches the hardware: the emulator
// brings one of the same name and the same contents for the host. No toolkit header, so NVRTC needs no include path.
#pragma once

#define TENON_EMULATED 0

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

// A kernel is written   extern "C" __global__ void TENON_NAME(softmax_warp)(…) { … }   and announced   TENON_ENTRY(softmax_warp)
// TENON_SUFFIX (a dtype, or nothing) is defined by the launch side: one file compiles once for each variant that is used.
#define TENON_PASTE_(a, b) a##b
#define TENON_PASTE(a, b) TENON_PASTE_(a, b)
#define TENON_NAME(name) TENON_PASTE(name, TENON_SUFFIX)
#define TENON_ENTRY(name)

// Dynamic shared memory, at most one a kernel. On a boundary of whole lines: an asynchronous copy whose warp writes across lines of shared
// memory asks L2 twice for each line of global memory (measured on an H200).
#define TENON_DYNAMIC_SHARED(type, name)                   \
    extern __shared__ __align__(128) u8 tenon_dynamic_[]; \
    type* const name = reinterpret_cast<type*>(tenon_dynamic_)

#define TENON_INFINITY __int_as_float(0x7f800000)
#define TENON_NAN __int_as_float(0x7fffffff)
#define TENON_INFINITY_F64 __longlong_as_double(0x7ff0000000000000ll)

struct alignas(2) f16 {
    u16 bits;
};

struct alignas(2) bf16 {
    u16 bits;
};

__device__ __forceinline__ float to_f32(f16 v) {
    float r;
    asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(v.bits));
    return r;
}

__device__ __forceinline__ float to_f32(bf16 v) { return __uint_as_float(static_cast<u32>(v.bits) << 16); }

// The two f16 numbers of a word.
__device__ __forceinline__ void to_f32(u32 two, float& low, float& high) {
    asm("{ .reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }" : "=f"(low), "=f"(high) : "r"(two));
}

// a b + c of the two f16 numbers of words, each rounded once.
__device__ __forceinline__ u32 fma_f16x2(u32 a, u32 b, u32 c) {
    u32 r;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}

// Round to nearest even; NaN stays NaN, too large becomes infinity.
__device__ __forceinline__ f16 to_f16(float v) {
    f16 r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r.bits) : "f"(v));
    return r;
}

__device__ __forceinline__ bf16 to_bf16(float v) {
    bf16 r;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(v));
#else
    u32 u = __float_as_uint(v);
    r.bits = v != v ? static_cast<u16>((u >> 16) | 0x40) : static_cast<u16>((u + 0x7fff + ((u >> 16) & 1)) >> 16);
#endif
    return r;
}

// Two numbers in a word, the first in its low half.
__device__ __forceinline__ u32 to_pair(float low, float high, f16) {
#if __CUDA_ARCH__ >= 800
    u32 r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
#else
    return to_f16(low).bits | static_cast<u32>(to_f16(high).bits) << 16;
#endif
}

__device__ __forceinline__ u32 to_pair(float low, float high, bf16) {
#if __CUDA_ARCH__ >= 800
    u32 r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
#else
    return to_bf16(low).bits | static_cast<u32>(to_bf16(high).bits) << 16;
#endif
}

// e^x and 2^x in one or two instructions, within 2 units in the last place for 2^x; e^x loses |x| / 2^24 beside. Special values as in exp.
__device__ __forceinline__ float fast_exp2(float x) {
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

// 1 / x within 1 unit in the last place, in one instruction. Special values as in division; subnormal x is 0.
__device__ __forceinline__ float fast_reciprocal(float x) {
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

// The larger, or NaN where a is; b is a number.
__device__ __forceinline__ float max_or_nan(float a, float b) {
#if __CUDA_ARCH__ >= 800
    asm("max.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
    return a;
#else
    return a < b ? b : a;
#endif
}

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

// The number itself, as one that the compiler knows nothing of: what is worked out from it is not kept in registers over a loop.
__device__ __forceinline__ int opaque(int v) {
    asm volatile("" : "+r"(v));
    return v;
}

// The same between devices: the counter may lie in a peer's memory. The wait ends early, and is then false, when `stop` is no longer 0, for
// the peer may never come; counts may wrap.
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

// Says that a step met a value which has no result. The 16 bytes at `faults`, in the host's memory and zeroed before the run, keep the first
// report: step + 1, 4 bytes unused, and the value.
__device__ __forceinline__ void report_fault(void* faults, int step, i64 value) {
    if (atomicCAS(static_cast<u32*>(faults), 0u, static_cast<u32>(step) + 1u) == 0u) static_cast<i64*>(faults)[1] = value;
}

#if __CUDA_ARCH__ >= 750
// Four 8×8 matrices of 16-bit elements from shared memory, in the layout that mma takes. Each lane gives the address of one row.
__device__ __forceinline__ void load_matrix_x4(u32 (&r)[4], const void* shared_row) {
    u32 address = static_cast<u32>(__cvta_generic_to_shared(shared_row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address));
}

__device__ __forceinline__ void load_matrix_x4_transposed(u32 (&r)[4], const void* shared_row) {
    u32 address = static_cast<u32>(__cvta_generic_to_shared(shared_row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address));
}

// d += a b on a warp: a 16×16, b 16×8, d 16×8 in float (PTX ISA, mma.m16n8k16; before sm_80 as two of mma.m16n8k8).
__device__ __forceinline__ void mma_16816(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], f16) {
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
#pragma unroll
    for (int i = 0; i < 2; i++) {
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[2 * i]), "r"(a[2 * i + 1]), "r"(b[i]));
    }
#endif
}
#endif

#if __CUDA_ARCH__ >= 800

__device__ __forceinline__ void mma_16816(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], bf16) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// The nearest number that tf32 has; of two as near the even one from sm_90 on, where that is one instruction instead of three.
__device__ __forceinline__ float to_tf32(float v) {
    u32 r;
#if __CUDA_ARCH__ >= 900
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(r) : "f"(v));
#else
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(v));
#endif
    return __uint_as_float(r);
}

// d += a b for a 16×8, b 8×8 in tf32 (mma.m16n8k8); the operands are floats whose low 13 bits are ignored.
__device__ __forceinline__ void mma_1688_tf32(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif

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
