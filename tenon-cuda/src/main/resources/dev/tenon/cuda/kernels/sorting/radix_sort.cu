// One pass of a stable radix sort of rows of keys, with the places that they came from: 8 bits of the keys, from `shift` on.
//
//   radix_count    counts[row][chunk][digit] = how often the chunk has the digit
//   radix_offsets  counts = where in the row the chunk's first key of the digit goes
//   radix_place    puts keys and places there, in order: tiles of the chunk are sorted in shared memory, so that neighbours are written together
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

// Of the lanes that are there, those with the same digit.
__device__ __forceinline__ u32 lanes_with(u32 digit, bool there) {
#if TENON_EMULATED
    return __match_any_sync(0xffffffffu, there ? digit : DIGITS);
#else
    u32 same = __ballot_sync(0xffffffffu, there);
#pragma unroll
    for (int bit = 0; bit < 8; bit++) {
        bool set = (digit >> bit & 1) != 0;
        u32 those = __ballot_sync(0xffffffffu, set);
        same &= set ? those : ~those;
    }
    return same;
#endif
}

constexpr int EACH = 64 / sizeof(T);  // keys of a thread: 16, or 8
constexpr int TILE = 256 * EACH;

// A tile, sorted by digit.
struct Tile {
    T keys[TILE];
    u32 places[TILE];
    u32 next[WARPS][DIGITS];  // how many of each digit a warp has met; then where in the tile its first goes
    u32 starts[DIGITS];       // where a digit's keys begin in the tile
    u32 bases[DIGITS];        // and in the row, less that
    u32 sums[WARPS];
};

// starts[thread] = the sum of `own` of the threads before; all 256 threads.
__device__ __forceinline__ void sum_before(Tile& tile, u32 own) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    u32 sum = own;
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
        u32 other = __shfl_up_sync(0xffffffffu, sum, apart);
        if (lane >= apart) sum += other;
    }
    if (lane == 31) tile.sums[warp] = sum;
    __syncthreads();
    u32 before = 0;
    for (int w = 0; w < warp; w++) before += tile.sums[w];
    tile.starts[threadIdx.x] = before + sum - own;
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(radix_place)(const void* keys, const void* places, void* sorted, void* sorted_places, const void* counts, i64 rows, i64 n, i64 chunks, i64 chunk, i32 shift) {
    __shared__ Tile tile;
    release_successor();
    await_predecessor();
    int thread = threadIdx.x;
    int warp = thread / 32, lane = thread % 32;
    for (i64 row = blockIdx.y; row < rows; row += gridDim.y) {
        const T* from = static_cast<const T*>(keys) + row * n;
        const u32* from_places = static_cast<const u32*>(places) + row * n;
        T* to = static_cast<T*>(sorted) + row * n;
        u32* to_places = static_cast<u32*>(sorted_places) + row * n;
        i64 chunk_end = (blockIdx.x + 1ll) * chunk;
        chunk_end = chunk_end < n ? chunk_end : n;
        u32 base = static_cast<const u32*>(counts)[(row * chunks + blockIdx.x) * DIGITS + thread];  // of the digit `thread`
        for (i64 begin = blockIdx.x * chunk; begin < chunk_end; begin += TILE) {
            int count = chunk_end - begin < TILE ? static_cast<int>(chunk_end - begin) : TILE;
            T own[EACH];
            u32 origins[EACH], ranks[EACH];
            int first = warp * 32 * EACH + lane;  // of the tile
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                bool there = first + 32 * e < count;
                i64 i = begin + first + 32 * e;
                own[e] = there ? from[i] : T(0);
                origins[e] = there && places != nullptr ? from_places[i] : static_cast<u32>(i);
            }
            for (int w = 0; w < WARPS; w++) tile.next[w][thread] = 0;
            __syncthreads();
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                bool there = first + 32 * e < count;
                u32 digit = digit_of(own[e], shift);
                u32 same = lanes_with(digit, there);
                int before = __popc(same & ((1u << lane) - 1));
                u32 met = there ? tile.next[warp][digit] : 0;
                __syncwarp();
                if (there && before == 0) tile.next[warp][digit] = met + __popc(same);
                ranks[e] = met + before;
                __syncwarp();
            }
            __syncthreads();
            u32 sum = 0;
            for (int w = 0; w < WARPS; w++) {
                u32 met = tile.next[w][thread];
                tile.next[w][thread] = sum;
                sum += met;
            }
            sum_before(tile, sum);
            tile.bases[thread] = base - tile.starts[thread];
            base += sum;
            __syncthreads();
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                if (first + 32 * e < count) {
                    u32 digit = digit_of(own[e], shift);
                    u32 at = tile.starts[digit] + tile.next[warp][digit] + ranks[e];
                    tile.keys[at] = own[e];
                    tile.places[at] = origins[e];
                }
            }
            __syncthreads();
            for (int i = thread; i < count; i += 256) {
                T key = tile.keys[i];
                u32 at = tile.bases[digit_of(key, shift)] + i;
                to[at] = key;
                to_places[at] = tile.places[i];
            }
            __syncthreads();
        }
    }
}
TENON_ENTRY(radix_place)
