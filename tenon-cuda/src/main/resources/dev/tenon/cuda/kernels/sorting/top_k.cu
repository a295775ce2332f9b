// The first k of each lane of x [outer][n][inner] in order, ascending or descending, the lower index first on ties, NaN the largest: values
// and indices [outer][k][inner]. Elements are compared by their keys (sort_key.cuh).
//
//   top_k_small   sorts whole lanes of at most 2048 elements in shared memory; block (threads, lanes)
//   top_k_select  finds the k-th key by its digits of 8 bits, gathers what comes before it, sorts that in shared memory; a block a lane, k at
//                 most 2048
//   top_k_keys    writes keys [lane][n] for a sort
//   top_k_take    reads places [lane][n] after it
//
// Launch: dynamic shared memory of `size` keys and places a lane (small) or a block (select); `size` is a power of two of at least 2 and at
// least n or k. Fewer than 2^32 - 1 elements a lane. Variants: TENON_T an unsigned integer as wide as the elements.
#include "block_sort.cuh"
#include "sort_key.cuh"

typedef TENON_T T;
typedef KeyOf<sizeof(T)>::type K;

constexpr u32 NOWHERE = 0xffffffffu;

// Where the elements of a lane lie.
struct Lane {
    const T* from;
    i64 inner;
    i64 result;  // of the first

    __device__ __forceinline__ Lane(const void* x, i64 lane, i64 n, i64 k, i64 width) {
        i64 outer = lane / width;
        i64 within = lane - outer * width;
        from = static_cast<const T*>(x) + outer * n * width + within;
        result = outer * k * width + within;
        inner = width;
    }

    __device__ __forceinline__ T at(i64 i) const { return from[i * inner]; }
    __device__ __forceinline__ void put(void* values, void* indices, i64 i, u32 place) const {
        static_cast<T*>(values)[result + i * inner] = at(place);
        static_cast<i64*>(indices)[result + i * inner] = place;
    }
};

extern "C" __global__ void __launch_bounds__(1024) TENON_NAME(top_k_small)(const void* x, void* values, void* indices, i32 kind, i64 largest, i32 descending, i64 lanes, i64 n, i64 inner, i64 k, i32 size) {
    TENON_DYNAMIC_SHARED(K, shared);
    release_successor();
    await_predecessor();
    Order order = {kind, static_cast<u64>(largest)};
    K* keys = shared + threadIdx.y * size;
    u32* places = reinterpret_cast<u32*>(shared + blockDim.y * size) + threadIdx.y * size;
    for (i64 first = static_cast<i64>(blockIdx.x) * blockDim.y; first < lanes; first += static_cast<i64>(gridDim.x) * blockDim.y) {
        bool mine = first + threadIdx.y < lanes;
        Lane lane(x, mine ? first + threadIdx.y : first, n, k, inner);
        for (int i = threadIdx.x; i < size; i += blockDim.x) {
            bool there = i < n;
            keys[i] = there ? sort_key(order, lane.at(i), descending != 0) : ~K(0);
            places[i] = there ? static_cast<u32>(i) : NOWHERE;
        }
        sort_in_block(keys, places, size, threadIdx.x, blockDim.x);
        for (int i = threadIdx.x; i < k && mine; i += blockDim.x) lane.put(values, indices, i, places[i]);
        __syncthreads();
    }
}
TENON_ENTRY(top_k_small)

extern "C" __global__ void __launch_bounds__(1024) TENON_NAME(top_k_select)(const void* x, void* values, void* indices, i32 kind, i64 largest, i32 descending, i64 lanes, i64 n, i64 inner, i64 k, i32 size) {
    TENON_DYNAMIC_SHARED(K, keys);
    __shared__ u32 counts[256];
    __shared__ u32 warps[32];
    __shared__ u32 digit;
    __shared__ u32 left;
    __shared__ u32 taken;
    release_successor();
    await_predecessor();
    Order order = {kind, static_cast<u64>(largest)};
    u32* places = reinterpret_cast<u32*>(keys + size);
    int thread = threadIdx.x;
    int warp = thread / 32;
    for (i64 number = blockIdx.x; number < lanes; number += gridDim.x) {
        Lane lane(x, number, n, k, inner);
        K prefix = 0;                   // the digits of the k-th key so far
        u32 need = static_cast<u32>(k);  // how many of those with the prefix are wanted
        int shift = 8 * sizeof(T);
        bool all = false;               // whether all with the prefix are wanted
        while (shift > 0 && !all) {
            shift -= 8;
            if (thread < 256) counts[thread] = 0;
            __syncthreads();
#pragma unroll 4
            for (i64 i = thread; i < n; i += blockDim.x) {
                K key = sort_key(order, lane.at(i), descending != 0);
                if (static_cast<u64>(key) >> (shift + 8 < 64 ? shift + 8 : 0) == static_cast<u64>(prefix) || shift == 8 * (static_cast<int>(sizeof(T)) - 1)) {
                    atomicAdd(&counts[static_cast<u32>(key >> shift) & 255], 1u);
                }
            }
            __syncthreads();
            u32 own = thread < 256 ? counts[thread] : 0;
            for (int step = 1; step < 256; step *= 2) {
                u32 before = thread >= step && thread < 256 ? counts[thread - step] : 0;
                __syncthreads();
                if (thread < 256) counts[thread] += before;
                __syncthreads();
            }
            if (thread < 256 && counts[thread] >= need && counts[thread] - own < need) {
                digit = thread;
                left = need - (counts[thread] - own);
                taken = own;
            }
            __syncthreads();
            prefix = static_cast<K>(prefix << 8) | static_cast<K>(digit);
            need = left;
            all = taken == need;
            __syncthreads();
        }
        if (thread == 0) taken = 0;
        for (int i = thread; i < size; i += blockDim.x) {
            keys[i] = ~K(0);
            places[i] = NOWHERE;
        }
        __syncthreads();
        // What comes before goes anywhere, for it is sorted yet; equals are counted in order, while some are wanted.
        u32 equals = 0;
        for (i64 base = 0; base < n; base += blockDim.x) {
            i64 i = base + thread;
            bool there = i < n;
            K key = there ? sort_key(order, lane.at(i), descending != 0) : K(0);
            K head = key >> shift;
            bool take = there && (head < prefix || (all && head == prefix));
            if (!all && equals < need) {
                u32 same = __ballot_sync(0xffffffffu, there && head == prefix);
                if (thread % 32 == 0) warps[warp] = __popc(same);
                __syncthreads();
                u32 before = equals;
                for (int w = 0; w < static_cast<int>(blockDim.x) / 32; w++) {
                    if (w < warp) before += warps[w];
                    equals += warps[w];
                }
                before += __popc(same & ((1u << (thread % 32)) - 1));
                take = take || (there && head == prefix && before < need);
                __syncthreads();
            }
            if (take) {
                u32 slot = atomicAdd(&taken, 1u);
                keys[slot] = key;
                places[slot] = static_cast<u32>(i);
            }
        }
        sort_in_block(keys, places, size, thread, blockDim.x);
        for (int i = thread; i < k; i += blockDim.x) lane.put(values, indices, i, places[i]);
        __syncthreads();
    }
}
TENON_ENTRY(top_k_select)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(top_k_keys)(const void* x, void* keys, i32 kind, i64 largest, i32 descending, i64 lanes, i64 n, i64 inner) {
    release_successor();
    await_predecessor();
    Order order = {kind, static_cast<u64>(largest)};
    for (i64 at = global_thread(); at < lanes * n; at += global_threads()) {
        i64 number = at / n;
        Lane lane(x, number, n, 0, inner);
        static_cast<K*>(keys)[at] = sort_key(order, lane.at(at - number * n), descending != 0);
    }
}
TENON_ENTRY(top_k_keys)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(top_k_take)(const void* x, const void* places, void* values, void* indices, i64 lanes, i64 n, i64 inner, i64 k) {
    release_successor();
    await_predecessor();
    for (i64 at = global_thread(); at < lanes * k; at += global_threads()) {
        i64 number = at / k;
        i64 i = at - number * k;
        Lane lane(x, number, n, k, inner);
        lane.put(values, indices, i, static_cast<const u32*>(places)[number * n + i]);
    }
}
TENON_ENTRY(top_k_take)
