// One pass of a stable radix sort of rows of keys, with the places that they came from: 8 bits of the keys, from `shift` on.
//
//   radix_count    counts[row][chunk][digit] = how often the chunk has the digit
//   radix_offsets  counts = where in the row the chunk's first key of the digit goes
//   radix_place    puts keys and places there, in order: each warp goes through a part of the chunk, 32 keys at a time
//
// Launch: radix_count, radix_place: 256 threads, grid (chunks, rows); radix_offsets: 256 threads, a block a row; grids may be smaller along
// the rows. Static shared memory. Keys and places of a row lie together; `places` may be null for 0, 1, 2, ... Fewer than 2^32 keys a row.
// Variants: TENON_T the keys' type, u32 or u64.
#include "pack.cuh"

typedef TENON_T T;

constexpr int DIGITS = 256;
constexpr int WARPS = 8;

__device__ __forceinline__ u32 digit_of(T key, i32 shift) { return static_cast<u32>(key >> shift) & (DIGITS - 1); }

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(radix_count)(const void* keys, void* counts, i64 rows, i64 n, i64 chunks, i64 chunk, i32 shift) {
    __shared__ u32 seen[DIGITS];
    release_successor();
    await_predecessor();
    int thread = threadIdx.x;
    for (i64 row = blockIdx.y; row < rows; row += gridDim.y) {
        const T* of_row = static_cast<const T*>(keys) + row * n;
        seen[thread] = 0;
        __syncthreads();
        i64 end = (blockIdx.x + 1ll) * chunk;
        end = end < n ? end : n;
        for (i64 i = blockIdx.x * chunk + thread; i < end; i += 256) atomicAdd(&seen[digit_of(of_row[i], shift)], 1u);
        __syncthreads();
        static_cast<u32*>(counts)[(row * chunks + blockIdx.x) * DIGITS + thread] = seen[thread];
        __syncthreads();
    }
}
TENON_ENTRY(radix_count)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(radix_offsets)(void* counts, i64 rows, i64 chunks) {
    __shared__ u32 sums[DIGITS];
    release_successor();
    await_predecessor();
    int digit = threadIdx.x;
    for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
        u32* of_digit = static_cast<u32*>(counts) + row * chunks * DIGITS + digit;
        u32 sum = 0;
#pragma unroll 4
        for (i64 c = 0; c < chunks; c++) sum += of_digit[c * DIGITS];
        sums[digit] = sum;
        for (int step = 1; step < DIGITS; step *= 2) {
            __syncthreads();
            u32 before = digit >= step ? sums[digit - step] : 0;
            __syncthreads();
            sums[digit] += before;
        }
        u32 at = sums[digit] - sum;
#pragma unroll 4
        for (i64 c = 0; c < chunks; c++) {
            u32 count = of_digit[c * DIGITS];
            of_digit[c * DIGITS] = at;
            at += count;
        }
        __syncthreads();
    }
}
TENON_ENTRY(radix_offsets)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(radix_place)(const void* keys, const void* places, void* sorted, void* sorted_places, const void* counts, i64 rows, i64 n, i64 chunks, i64 chunk, i32 shift) {
    __shared__ u32 next[WARPS][DIGITS];
    release_successor();
    await_predecessor();
    int thread = threadIdx.x;
    int warp = thread / 32;
    int lane = thread % 32;
    i64 part = (chunk + WARPS - 1) / WARPS;
    for (i64 row = blockIdx.y; row < rows; row += gridDim.y) {
        const T* from = static_cast<const T*>(keys) + row * n;
        const u32* from_places = static_cast<const u32*>(places) + row * n;
        T* to = static_cast<T*>(sorted) + row * n;
        u32* to_places = static_cast<u32*>(sorted_places) + row * n;
        i64 chunk_end = (blockIdx.x + 1ll) * chunk;
        chunk_end = chunk_end < n ? chunk_end : n;
        i64 begin = blockIdx.x * chunk + warp * part;
        i64 end = begin + part < chunk_end ? begin + part : chunk_end;

        for (int w = 0; w < WARPS; w++) next[w][thread] = 0;
        __syncthreads();
        for (i64 i = begin + lane; i < end; i += 32) atomicAdd(&next[warp][digit_of(from[i], shift)], 1u);
        __syncthreads();
        u32 at = static_cast<const u32*>(counts)[(row * chunks + blockIdx.x) * DIGITS + thread];
        for (int w = 0; w < WARPS; w++) {
            u32 count = next[w][thread];
            next[w][thread] = at;
            at += count;
        }
        __syncthreads();
        for (i64 base = begin; base < end; base += 32) {
            i64 i = base + lane;
            bool there = i < end;
            T key = there ? from[i] : T(0);
            u32 digit = there ? digit_of(key, shift) : DIGITS;
            u32 same = __match_any_sync(0xffffffffu, digit);
            int before = __popc(same & ((1u << lane) - 1));
            u32 first = there ? next[warp][digit] : 0;
            __syncwarp();
            if (there) {
                if (before == 0) next[warp][digit] = first + __popc(same);
                to[first + before] = key;
                to_places[first + before] = places == nullptr ? static_cast<u32>(i) : from_places[i];
            }
            __syncwarp();
        }
        __syncthreads();
    }
}
TENON_ENTRY(radix_place)
