// The first k of each lane of x [outer][n][inner] in order, ascending or descending, the lower index first on ties, NaN the largest: values
// and indices [outer][k][inner]. Elements are compared by their keys (sort_key.cuh).
//
//   top_k_small   sorts whole lanes of at most 2048 elements in shared memory; block (threads, lanes)
//   top_k_select  a block a lane, k at most 2048. Where lanes are long and k is at most a quarter of the threads: the k-th of the threads' first
//                 keys bounds the k-th key, and few keys are before it; they are gathered in a second pass and sorted in shared memory. Else,
//                 or where they are more than there is room for, finds the k-th key by its digits of 8 bits, and gathers what comes before
//   top_k_keys    writes keys [lane][n] for a sort, 4 elements a thread
//   top_k_take    reads keys and places [lane][n] after it, likewise
//
// Launch: dynamic shared memory of `size` keys and places a lane (small), of twice as many a block (select); `size` is a power of two of at least 2 and at
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
        i64 outer = width == 1 ? lane : lane / width;
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

// Calls f(bits, index) for the elements of a thread: 16 bytes an access, four on their way, where neighbours are neighbours in memory.
template <typename F>
__device__ __forceinline__ void each(const Lane& lane, i64 n, F f) {
    constexpr int PACK = 16 / sizeof(T);
    constexpr int AHEAD = 4;
    i64 threads = blockDim.x, done = 0;
    if (lane.inner == 1 && reinterpret_cast<u64>(lane.from) % 16 == 0) {
        i64 packs = n / PACK;
        const Pack<T, PACK>* from = reinterpret_cast<const Pack<T, PACK>*>(lane.from);
        for (i64 at = threadIdx.x; at < packs; at += AHEAD * threads) {
            Pack<T, PACK> some[AHEAD];
#pragma unroll
            for (int a = 0; a < AHEAD; a++) {
                if (at + a * threads < packs) some[a] = from[at + a * threads];
            }
#pragma unroll
            for (int a = 0; a < AHEAD; a++) {
                if (at + a * threads < packs) {
#pragma unroll
                    for (int i = 0; i < PACK; i++) f(some[a].at[i], static_cast<u32>((at + a * threads) * PACK + i));
                }
            }
        }
        done = packs * PACK;
    }
#pragma unroll 4
    for (i64 i = done + threadIdx.x; i < n; i += threads) f(lane.at(i), static_cast<u32>(i));
}

// Gathers the keys up to a bound that at least k keys do not pass; more than `room` of them if it gives so many.
__device__ __forceinline__ u32 gather_bounded(const Lane& lane, i64 n, i64 k, Order order, bool descending, K* keys, u32* places, u32 room, u32& taken) {
    K first = ~K(0);
    each(lane, n, [&](T bits, u32) {
        K key = sort_key(order, bits, descending);
        first = key < first ? key : first;
    });
    // the largest bound that fewer than k threads' first keys are under, or one that k are under
    K bound = 0;
    bool under = false;
    for (int bit = 8 * static_cast<int>(sizeof(T)) - 1; bit >= 0 && !under; bit--) {
        K next = bound | static_cast<K>(1) << bit;
        int count = __syncthreads_count(first < next);
        under = count == static_cast<int>(k);
        if (count <= static_cast<int>(k)) bound = next;
    }
    if (under) bound -= 1;
    if (threadIdx.x == 0) taken = 0;
    __syncthreads();
    each(lane, n, [&](T bits, u32 place) {
        K key = sort_key(order, bits, descending);
        if (key > bound) return;
        u32 slot = atomicAdd(&taken, 1u);
        if (slot < room) {
            keys[slot] = key;
            places[slot] = place;
        }
    });
    __syncthreads();
    u32 count = taken;
    __syncthreads();
    return count;
}

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
    u32* places = reinterpret_cast<u32*>(keys + 2 * size);
    int thread = threadIdx.x;
    int warp = thread / 32;
    for (i64 number = blockIdx.x; number < lanes; number += gridDim.x) {
        Lane lane(x, number, n, k, inner);
        if (n >= 4ll * blockDim.x && 4 * k <= blockDim.x) {
            u32 count = gather_bounded(lane, n, k, order, descending != 0, keys, places, 2 * size, taken);
            if (count <= static_cast<u32>(2 * size)) {
                int whole = size;
                while (whole < static_cast<int>(count)) whole *= 2;
                for (int i = count + thread; i < whole; i += blockDim.x) {
                    keys[i] = ~K(0);
                    places[i] = NOWHERE;
                }
                sort_in_block(keys, places, whole, thread, blockDim.x);
                for (int i = thread; i < k; i += blockDim.x) lane.put(values, indices, i, places[i]);
                __syncthreads();
                continue;
            }
        }
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
    bool small = lanes * n <= 0x7fffffff;
    for (i64 first = static_cast<i64>(blockIdx.x) * 1024 + threadIdx.x; first < lanes * n; first += static_cast<i64>(gridDim.x) * 1024) {
        T some[4];
#pragma unroll
        for (int a = 0; a < 4; a++) {
            i64 at = first + 256 * a;
            if (at >= lanes * n) break;
            i64 number = small ? static_cast<u32>(at) / static_cast<u32>(n) : at / n;
            some[a] = Lane(x, number, n, 0, inner).at(at - number * n);
        }
#pragma unroll
        for (int a = 0; a < 4; a++) {
            if (first + 256 * a < lanes * n) static_cast<K*>(keys)[first + 256 * a] = sort_key(order, some[a], descending != 0);
        }
    }
}
TENON_ENTRY(top_k_keys)

// The element that a key was made of, if only one could be: not of NaN, nor of the zeros.
__device__ __forceinline__ bool element_of(Order order, K key, bool descending, T& bits) {
    constexpr K SIGN = static_cast<K>(1) << (8 * sizeof(T) - 1);
    constexpr K ALL = SIGN | (SIGN - 1);
    if (descending) key = ALL - key;
    bits = static_cast<T>(order.kind == ORDER_UNSIGNED ? key : order.kind == ORDER_SIGNED || key >= SIGN ? key ^ SIGN : ALL - key);
    return order.kind != ORDER_FLOAT || (key != SIGN && key != ALL);
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(top_k_take)(const void* x, const void* keys, const void* places, void* values, void* indices, i32 kind, i64 largest, i32 descending, i64 lanes, i64 n, i64 inner, i64 k) {
    release_successor();
    await_predecessor();
    Order order = {kind, static_cast<u64>(largest)};
    bool small = lanes * k <= 0x7fffffff;
    for (i64 first = static_cast<i64>(blockIdx.x) * 1024 + threadIdx.x; first < lanes * k; first += static_cast<i64>(gridDim.x) * 1024) {
        K sorted[4];
        u32 from[4];
        i64 to[4], numbers[4];
#pragma unroll
        for (int a = 0; a < 4; a++) {
            i64 at = first + 256 * a;
            if (at >= lanes * k) break;
            i64 number = small ? static_cast<u32>(at) / static_cast<u32>(k) : at / k;
            i64 i = at - number * k;
            sorted[a] = static_cast<const K*>(keys)[number * n + i];
            from[a] = static_cast<const u32*>(places)[number * n + i];
            to[a] = i;
            numbers[a] = number;
        }
#pragma unroll
        for (int a = 0; a < 4; a++) {
            if (first + 256 * a >= lanes * k) break;
            Lane lane(x, numbers[a], n, k, inner);
            T bits;
            if (!element_of(order, sorted[a], descending != 0, bits)) bits = lane.at(from[a]);
            static_cast<T*>(values)[lane.result + to[a] * inner] = bits;
            static_cast<i64*>(indices)[lane.result + to[a] * inner] = from[a];
        }
    }
}
TENON_ENTRY(top_k_take)
