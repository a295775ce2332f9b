// One kernel for each thing that a kernel must not do. Tests look for the marked lines.
#include "tenon.cuh"

extern "C" __global__ void read_past_end(const float* x, float* y, int n) {
    __shared__ float s[32];
    int i = threadIdx.x;
    s[i] = i == 5 ? x[n] : x[i];  // LINE read_past_end
    __syncthreads();
    y[i] = s[31 - i];
}
TENON_ENTRY(read_past_end)

extern "C" __global__ void leave_early(float* y, int n) {
    __shared__ float s[32];
    int i = threadIdx.x;
    s[i] = i;
    if (i >= n) return;
    __syncthreads();
    y[i] = s[i];
}
TENON_ENTRY(leave_early)

extern "C" __global__ void barrier_in_branch(float* y) {
    if (threadIdx.x < 16) {
        __syncthreads();  // LINE barrier_in_branch
    }
    y[threadIdx.x] = 1;
}
TENON_ENTRY(barrier_in_branch)

extern "C" __global__ void barrier_in_odd_threads(float* y) {
    if (threadIdx.x % 2 == 1) {
        y[threadIdx.x] = 1;
        __syncthreads();  // LINE barrier_in_odd_threads
    }
}
TENON_ENTRY(barrier_in_odd_threads)

extern "C" __global__ void barrier_in_both_branches(float* y) {
    if (threadIdx.x < 16) {
        y[threadIdx.x] = 1;
        __syncthreads();
    } else {
        y[threadIdx.x] = 2;
        __syncthreads();  // LINE barrier_in_both_branches
    }
}
TENON_ENTRY(barrier_in_both_branches)

extern "C" __global__ void barriers_on_one_line(float* y) {
    if (threadIdx.x < 16) { y[threadIdx.x] = 1; __syncthreads(); } else { y[threadIdx.x] = 2; __syncthreads(); }  // LINE barriers_on_one_line
}
TENON_ENTRY(barriers_on_one_line)

__device__ __forceinline__ float met(float v) {
    __syncthreads();  // LINE barrier_in_a_function
    return v + 1;
}

extern "C" __global__ void barrier_in_a_function(float* y) {
    if (threadIdx.x < 16) {
        y[threadIdx.x] = met(y[threadIdx.x]);
    } else {
        y[threadIdx.x] = met(2 * y[threadIdx.x]);
    }
}
TENON_ENTRY(barrier_in_a_function)

// A compiler that copied the barrier into both arms of the first branch, where the second condition is known, would have threads wait at two.
extern "C" __global__ void barrier_between_branches(float* y) {
    float v = 1;
    if (threadIdx.x < 16) v = y[threadIdx.x] + 4;
    __syncthreads();
    if (threadIdx.x < 16) v = v * y[threadIdx.x + 1];
    for (u32 i = 0; i < 3; i++) {
        if (v > 2) v -= 1;
        v = met(v);
        if (v > 2) v -= 1;
    }
    y[threadIdx.x] = v;
}
TENON_ENTRY(barrier_between_branches)

extern "C" __global__ void barrier_in_uneven_loop(float* y) {
    for (u32 i = 0; i < threadIdx.x % 4; i++) {
        y[threadIdx.x] = i;
        __syncthreads();  // LINE barrier_in_uneven_loop
    }
}
TENON_ENTRY(barrier_in_uneven_loop)

extern "C" __global__ void deadlock(float* y) {
    if (threadIdx.x == 3) {
        y[0] = __shfl_sync(0xffffffffu, y[0], 0);  // LINE deadlock
    }
    __syncthreads();
}
TENON_ENTRY(deadlock)

extern "C" __global__ void mask_without_itself(float* y) {
    y[threadIdx.x] = __shfl_sync(0xfffffffeu, y[threadIdx.x], 1);  // LINE mask_without_itself
}
TENON_ENTRY(mask_without_itself)

extern "C" __global__ void masks_disagree(float* y) {
    y[threadIdx.x] = __ballot_sync(threadIdx.x < 16 ? 0xffffffffu : 0xffff0001u, 1);  // LINE masks_disagree
}
TENON_ENTRY(masks_disagree)

extern "C" __global__ void reads_absent_lane(float* y) {
    y[threadIdx.x] = __shfl_down_sync(0xffffffffu, y[threadIdx.x], 16);  // LINE reads_absent_lane
}
TENON_ENTRY(reads_absent_lane)

extern "C" __global__ void write_past_end(float* y, int n) {
    y[static_cast<int>(threadIdx.x) + (threadIdx.x == 7 ? n : 0)] = 1;  // LINE write_past_end
}
TENON_ENTRY(write_past_end)

extern "C" __global__ void write_null(float* y) {
    float* p = y == nullptr ? y : nullptr;
    p[threadIdx.x] = 1;  // LINE write_null
}
TENON_ENTRY(write_null)

extern "C" __global__ void index_past_array(float* y, int i) {
    __shared__ float s[32];
    s[threadIdx.x] = 1;
    __syncthreads();
    y[threadIdx.x] = s[i];  // LINE index_past_array
}
TENON_ENTRY(index_past_array)

extern "C" __global__ void past_static_shared(float* y, int i) {
    __shared__ float s[32];
    float* p = s;
    p[threadIdx.x] = 1;
    __syncthreads();
    y[threadIdx.x] = p[i];  // LINE past_static_shared
}
TENON_ENTRY(past_static_shared)

extern "C" __global__ void past_dynamic_shared(float* y, int i) {
    TENON_DYNAMIC_SHARED(float, s);
    s[threadIdx.x] = 1;
    __syncthreads();
    y[threadIdx.x] = s[i];  // LINE past_dynamic_shared
}
TENON_ENTRY(past_dynamic_shared)

extern "C" __global__ void uninitialised_shared(float* y) {
    __shared__ float s[64];
    s[threadIdx.x] = 1;
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x + 1];  // LINE uninitialised_shared
}
TENON_ENTRY(uninitialised_shared)

extern "C" __global__ void uninitialised_dynamic(float* y) {
    TENON_DYNAMIC_SHARED(u8, s);
    y[threadIdx.x] = s[threadIdx.x];  // LINE uninitialised_dynamic
}
TENON_ENTRY(uninitialised_dynamic)

extern "C" __global__ void misaligned_float4(const float* x, float* y) {
    float4 v = *reinterpret_cast<const float4*>(x + 1);  // LINE misaligned_float4
    y[threadIdx.x] = v.x + v.y + v.z + v.w;
}
TENON_ENTRY(misaligned_float4)

extern "C" __global__ void race_write_read(float* y) {
    __shared__ float s[64];
    s[threadIdx.x] = threadIdx.x;
    y[threadIdx.x] = s[threadIdx.x == 0 ? 0 : threadIdx.x - 1];  // LINE race_write_read
}
TENON_ENTRY(race_write_read)

extern "C" __global__ void race_write_write(float* y) {
    __shared__ float s;
    s = y[threadIdx.x];  // LINE race_write_write
    __syncthreads();
    y[threadIdx.x] = s;
}
TENON_ENTRY(race_write_write)

extern "C" __global__ void race_read_write(float* y) {
    __shared__ float s[64];
    s[threadIdx.x] = 1;
    __syncthreads();
    float v = s[0];
    if (threadIdx.x == 5) {
        s[0] = 2;  // LINE race_read_write
    }
    y[threadIdx.x] = v;
}
TENON_ENTRY(race_read_write)

extern "C" __global__ void neighbours_in_bytes(u8* y) {  // no race: each byte has one thread
    __shared__ u8 s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    y[threadIdx.x] = s[threadIdx.x ^ 1];
}
TENON_ENTRY(neighbours_in_bytes)

extern "C" __global__ void warp_is_no_block(float* y) {
    __shared__ float s[64];
    s[threadIdx.x] = 1;
    __syncwarp();
    y[threadIdx.x] = s[threadIdx.x ^ 32];  // LINE warp_is_no_block
}
TENON_ENTRY(warp_is_no_block)

extern "C" __global__ void spin_on_other_block(u32* flag) {
    if (blockIdx.x == 0) {
        while (atomicAdd(flag, 0u) == 0u) {  // LINE spin_on_other_block
        }
    }
}
TENON_ENTRY(spin_on_other_block)

extern "C" __global__ void spin_volatile(u32* flag) {
    while (*reinterpret_cast<volatile u32*>(flag) == 0u) {
    }
}
TENON_ENTRY(spin_volatile)

extern "C" __global__ void endless_loop(float* y, int step) {
    float sum = 0;
    for (int i = 0; i < 10; i += step) {
        sum = sum * 0.5f + i;
    }
    y[0] = sum;
}
TENON_ENTRY(endless_loop)

extern "C" __global__ void divide(int* y, int a, int b) {
    y[threadIdx.x] = a / b;  // LINE divide
}
TENON_ENTRY(divide)

extern "C" __global__ void trap(int* y, int a) {
    assert(a > 0);  // LINE trap
    y[threadIdx.x] = a;
}
TENON_ENTRY(trap)

extern "C" __global__ void read_before_wait(const float* x, float* y) {
    __shared__ __align__(16) float s[128];
    copy_async_16(s + threadIdx.x * 4, x + threadIdx.x * 4);
    copy_async_commit();
    float early = s[threadIdx.x * 4];  // LINE read_before_wait
    copy_async_wait<0>();
    y[threadIdx.x] = early;
}
TENON_ENTRY(read_before_wait)

extern "C" __global__ void meet_without_cooperation(u32* counter) {
    meet(counter, gridDim.x, 1);  // LINE meet_without_cooperation
}
TENON_ENTRY(meet_without_cooperation)

__device__ __noinline__ int deep(volatile int* p, int n) {
    volatile int local[1000];
    local[n % 1000] = n;
    return n == 0 ? *p : deep(p, n - 1) + local[n % 1000];
}

extern "C" __global__ void overflow_stack(int* y, int n) { y[0] = deep(y, n); }
TENON_ENTRY(overflow_stack)
