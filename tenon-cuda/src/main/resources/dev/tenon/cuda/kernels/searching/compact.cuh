// Numbers what is kept of a row of elements, in order, by chunks: a launch counts what each block keeps of its chunk, a second adds up the
// counts of the chunks before it. Blocks of 256 threads, one a chunk; a chunk is a multiple of 256 elements.
#pragma once
#include "walk.cuh"

// counts[chunk] = how many of the chunk's elements `keep` says yes to.
template <typename Keep>
__device__ __forceinline__ void count_kept(Keep keep, i64 n, i64 chunk, i64* counts) {
    __shared__ u32 kept;
    if (threadIdx.x == 0) kept = 0;
    __syncthreads();
    i64 end = (blockIdx.x + 1ll) * chunk;
    end = end < n ? end : n;
    u32 mine = 0;
#pragma unroll 4
    for (i64 i = blockIdx.x * chunk + threadIdx.x; i < end; i += 256) mine += keep(i) ? 1 : 0;
    atomicAdd(&kept, mine);
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = kept;
}

// Counts before a chunk (0) and of all (1), by all threads of a block.
__device__ __forceinline__ void sum_counts(const i64* counts, i64 chunks, i64 chunk, i64 (&sums)[2]) {
    __shared__ u64 both[2];
    if (threadIdx.x < 2) both[threadIdx.x] = 0;
    __syncthreads();
    u64 before = 0, whole = 0;
    for (i64 i = threadIdx.x; i < chunks; i += blockDim.x) {
        u64 count = static_cast<u64>(counts[i]);
        whole += count;
        if (i < chunk) before += count;
    }
    atomicAdd(&both[0], before);
    atomicAdd(&both[1], whole);
    __syncthreads();
    sums[0] = static_cast<i64>(both[0]);
    sums[1] = static_cast<i64>(both[1]);
    __syncthreads();
}

// put(i, kept, number of kept elements before it) for the elements of the block's chunk; returns how many are kept of all. Each warp goes
// through a part of the chunk, 32 elements at a time.
template <typename Keep, typename Put>
__device__ __forceinline__ i64 place_kept(Keep keep, Put put, i64 n, i64 chunks, i64 chunk, const i64* counts) {
    __shared__ u32 warps[8];
    i64 sums[2];
    sum_counts(counts, chunks, blockIdx.x, sums);
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    i64 part = chunk / 8;
    i64 begin = blockIdx.x * chunk + warp * part;
    i64 end = begin + part < n ? begin + part : n;
    u32 mine = 0;
#pragma unroll 4
    for (i64 base = begin; base < end; base += 32) mine += __popc(__ballot_sync(0xffffffffu, base + lane < end && keep(base + lane)));
    if (lane == 0) warps[warp] = mine;
    __syncthreads();
    i64 at = sums[0];
    for (int w = 0; w < warp; w++) at += warps[w];
    for (i64 base = begin; base < end; base += 32) {
        bool there = base + lane < end;
        bool kept = there && keep(base + lane);
        u32 all = __ballot_sync(0xffffffffu, kept);
        if (there) put(base + lane, kept, at + __popc(all & ((1u << lane) - 1)));
        at += __popc(all);
    }
    return sums[1];
}
