// How grids run: shapes, atomics, cooperative launches, globals, intrinsics.
#include "tenon.cuh"

extern "C" __global__ void shapes(u32* out) {
    u32 block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    u32 thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    u32 threads = blockDim.x * blockDim.y * blockDim.z;
    out[block * threads + thread] = threadIdx.x | threadIdx.y << 4 | threadIdx.z << 8 | blockIdx.x << 12 | blockIdx.y << 16 | blockIdx.z << 20;
}
TENON_ENTRY(shapes)

extern "C" __global__ void reverse(const int* x, int* y) {
    __shared__ int s[1024];
    u32 n = blockDim.x;
    s[threadIdx.x] = x[blockIdx.x * n + threadIdx.x];
    __syncthreads();
    y[blockIdx.x * n + threadIdx.x] = s[n - 1 - threadIdx.x];
}
TENON_ENTRY(reverse)

// Two stages per thread of dynamic shared memory, as much as is allowed.
extern "C" __global__ void large_shared(int* y, int n) {
    TENON_DYNAMIC_SHARED(int, s);
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = i;
    __syncthreads();
    int sum = 0;
    for (int i = n - 1 - static_cast<int>(threadIdx.x); i >= 0; i -= blockDim.x) sum += s[i];
    atomicAdd(y, sum);
}
TENON_ENTRY(large_shared)

extern "C" __global__ void atomics(int* i, u32* u, u64* l, float* f, double* d) {
    int n = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    atomicAdd(&i[0], 1);
    atomicMax(&i[1], n * 7919 % 1000);
    atomicMin(&i[2], -(n * 7919 % 1000));
    atomicSub(&i[3], 2);
    atomicOr(&u[0], 1u << n % 32);
    atomicAnd(&u[1], ~(1u << n % 31));
    atomicXor(&u[2], static_cast<u32>(n));
    atomicExch(&u[3], 7u);
    atomicInc(&u[4], 9u);
    atomicAdd(l, static_cast<u64>(n) << 20);
    atomicAdd(f, 1.0f);
    atomicAdd(d, 0.5);
    u32 seen = u[5];  // a lock-free maximum by compare and swap
    while (seen < static_cast<u32>(n)) {
        u32 old = atomicCAS(&u[5], seen, static_cast<u32>(n));
        if (old == seen) break;
        seen = old;
    }
}
TENON_ENTRY(atomics)

extern "C" __global__ void shared_atomics(int* y) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, static_cast<int>(threadIdx.x));
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
TENON_ENTRY(shared_atomics)

// A lock held by threads of the same block: the others wait in a loop.
extern "C" __global__ void lock(u32* mutex, int* y) {
    while (atomicCAS(mutex, 0u, 1u) != 0u) {
    }
    y[0] = y[0] + 1;
    __threadfence();
    atomicExch(mutex, 0u);
}
TENON_ENTRY(lock)

// Each round every block adds what all blocks wrote in the round before.
extern "C" __global__ void rounds(int* sums, u32* counter, int rounds) {
    __shared__ int mine;
    if (threadIdx.x == 0) mine = blockIdx.x + 1;
    for (int r = 0; r < rounds; r++) {
        __syncthreads();
        if (threadIdx.x == 0) sums[r * gridDim.x + blockIdx.x] = mine;
        meet(counter, gridDim.x, r + 1);
        int all = 0;
        for (u32 b = 0; b < gridDim.x; b++) all += sums[r * gridDim.x + b];
        __syncthreads();
        if (threadIdx.x == 0) mine = all % 1000;
    }
}
TENON_ENTRY(rounds)

__constant__ float weights[4] = {1.0f, 2.0f, 4.0f, 8.0f};
__device__ int launches = 0;

extern "C" __global__ void globals(float* y) {
    y[0] = static_cast<float>(++launches);
    for (int i = 0; i < 4; i++) y[1 + i] = weights[i];
}
TENON_ENTRY(globals)

struct Strides {
    i64 of[4];
    i32 rank;
};

extern "C" __global__ void structs(const Strides s, i64* y, double d, u8 b) {
    i64 sum = b;
    for (int i = 0; i < s.rank; i++) sum += s.of[i];
    y[0] = sum + static_cast<i64>(d);
}
TENON_ENTRY(structs)

extern "C" __global__ void empty() {}
TENON_ENTRY(empty)

extern "C" __global__ void bits(const u32* x, u32* y) {
    u32 v = x[threadIdx.x], w = x[(threadIdx.x + 1) % 32];
    u32* o = y + threadIdx.x * 12;
    o[0] = __popc(v);
    o[1] = __clz(v);
    o[2] = __ffs(v);
    o[3] = __brev(v);
    o[4] = __umulhi(v, w);
    o[5] = __mulhi(static_cast<int>(v), static_cast<int>(w));
    o[6] = __byte_perm(v, w, 0x7045);
    o[7] = __funnelshift_l(v, w, 5);
    o[8] = __funnelshift_r(v, w, 37);
    o[9] = __float_as_uint(__uint_as_float(v & 0x7f7fffffu));
    o[10] = __popcll(static_cast<u64>(v) << 32 | w);
    o[11] = __float2int_rn(static_cast<float>(static_cast<int>(v)));
}
TENON_ENTRY(bits)

extern "C" __global__ void mathematics(const float* x, float* y) {
    float v = x[threadIdx.x];
    float* o = y + threadIdx.x * 10;
    o[0] = expf(v);
    o[1] = logf(fabsf(v));
    o[2] = rsqrtf(fabsf(v));
    o[3] = erff(v);
    o[4] = tanhf(v);
    o[5] = fmaf(v, v, -1.0f);
    o[6] = max(v, 0.5f) + min(v, 0.25f);
    o[7] = __saturatef(v);
    o[8] = fast_exp2(v);
    o[9] = powf(fabsf(v), 0.3f);
}
TENON_ENTRY(mathematics)
