// The first k of each row of x [rows][n] in order, as top_k.cu has it, for many short rows: a warp a row, the row's keys in its registers.
//
// The k-th key is found bit by bit, each by one count over the warp, and no further than until exactly k keys are before a bound. They are
// gathered in shared memory, of those that equal the k-th key the first ones by index, and sorted there.
//
// Launch: 256 threads, any number of blocks; dynamic shared memory of `size` keys and places a warp. `size` is a power of two of at least 2 and
// at least k; n is at most 32 · EACH. `packed`: rows begin on 16-byte boundaries, and end on them.
// Variants: TENON_T an unsigned integer as wide as the elements.
#include "block_sort.cuh"
#include "row_rules.cuh"
#include "sort_key.cuh"

typedef TENON_T T;
typedef KeyOf<sizeof(T)>::type K;

constexpr int EACH = 128 / sizeof(K);  // keys of a lane: 32, or 16
constexpr int WARPS = 8;
constexpr u32 NOWHERE = 0xffffffffu;
constexpr K LAST = ~K(0);

// A lane's key number r: packs of P neighbours, lane after lane.
template <int P>
__device__ __forceinline__ int index_of(int r, int lane) {
    return (r / P * 32 + lane) * P + r % P;
}

template <int P>
__device__ __forceinline__ void load_keys(K (&keys)[EACH], const T* row, int n, int lane, Order order, bool descending) {
#pragma unroll
    for (int r = 0; r < EACH; r += P) {
        Pack<T, P> some;
        bool there = index_of<P>(r, lane) < n;
        if (there) some = *reinterpret_cast<const Pack<T, P>*>(row + index_of<P>(r, lane));
#pragma unroll
        for (int i = 0; i < P; i++) keys[r + i] = there ? sort_key(order, some.at[i], descending) : LAST;
    }
}

__device__ __forceinline__ int count_before(const K (&keys)[EACH], K bound) {
    int count = 0;
#pragma unroll
    for (int r = 0; r < EACH; r++) count += keys[r] < bound;
    return sum_over_warp(count);
}

// How many of the lanes before have been counted.
__device__ __forceinline__ int before_lane(int count, int lane) {
    int sum = count;
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
        int other = __shfl_up_sync(0xffffffffu, sum, apart);
        if (lane >= apart) sum += other;
    }
    return sum - count;
}

// Sorts keys and places of a warp in shared memory, ascending, the lower place first among equals.
__device__ __forceinline__ void sort_in_warp(K* keys, u32* places, int size, int lane) {
    for (int run = 2; run <= size; run *= 2) {
        for (int apart = run / 2; apart > 0; apart /= 2) {
            __syncwarp();
            for (int t = lane; t < size / 2; t += 32) exchange(keys, places, t, run, apart);
        }
    }
    __syncwarp();
}

template <int P>
__device__ __forceinline__ void first_of_row(const T* row, T* values, i64* indices, int n, int k, Order order, bool descending, K* shared, u32* places, int size, int lane) {
    K keys[EACH];
    load_keys<P>(keys, row, n, lane, order, descending);
    K bound = 0;  // the keys before it are wanted, and some that equal it
    int before = 0;
    for (int bit = 8 * static_cast<int>(sizeof(T)) - 1; bit >= 0 && before < k; bit--) {
        K next = bound | static_cast<K>(1) << bit;
        int count = count_before(keys, next);
        if (count <= k) {
            bound = next;
            before = count;
        }
    }
    for (int i = k + lane; i < size; i += 32) {
        shared[i] = LAST;
        places[i] = NOWHERE;
    }
    int mine = 0;
#pragma unroll
    for (int r = 0; r < EACH; r++) mine += keys[r] < bound;
    int slot = before_lane(mine, lane);
#pragma unroll
    for (int r = 0; r < EACH; r++) {
        if (keys[r] < bound) {
            shared[slot] = keys[r];
            places[slot] = static_cast<u32>(index_of<P>(r, lane));
            slot++;
        }
    }
    if (before < k) {  // equals, by index
#pragma unroll
        for (int r = 0; r < EACH; r += P) {
            int equals = 0;
#pragma unroll
            for (int i = 0; i < P; i++) equals += keys[r + i] == bound && index_of<P>(r + i, lane) < n;
            slot = before + before_lane(equals, lane);
#pragma unroll
            for (int i = 0; i < P; i++) {
                if (keys[r + i] == bound && index_of<P>(r + i, lane) < n) {
                    if (slot < k) {
                        shared[slot] = bound;
                        places[slot] = static_cast<u32>(index_of<P>(r + i, lane));
                    }
                    slot++;
                }
            }
            before += sum_over_warp(equals);
        }
    }
    sort_in_warp(shared, places, size, lane);
    for (int i = lane; i < k; i += 32) {
        values[i] = row[places[i]];
        indices[i] = places[i];
    }
    __syncwarp();
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(top_k_warp)(const T* x, T* values, i64* indices, i32 kind, i64 largest, i32 descending, i64 rows, i64 n, i64 k, i32 size, i32 packed) {
    TENON_DYNAMIC_SHARED(K, all);
    release_successor();
    await_predecessor();
    constexpr int PACK = 16 / sizeof(T) < EACH ? 16 / sizeof(T) : EACH;
    Order order = {kind, static_cast<u64>(largest)};
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    K* shared = all + warp * size;
    u32* places = reinterpret_cast<u32*>(all + WARPS * size) + warp * size;
    for (i64 row = static_cast<i64>(blockIdx.x) * WARPS + warp; row < rows; row += static_cast<i64>(gridDim.x) * WARPS) {
        const T* from = x + row * n;
        if (packed) {
            first_of_row<PACK>(from, values + row * k, indices + row * k, static_cast<int>(n), static_cast<int>(k), order, descending != 0, shared, places, size, lane);
        } else {
            first_of_row<1>(from, values + row * k, indices + row * k, static_cast<int>(n), static_cast<int>(k), order, descending != 0, shared, places, size, lane);
        }
    }
}
TENON_ENTRY(top_k_warp)
