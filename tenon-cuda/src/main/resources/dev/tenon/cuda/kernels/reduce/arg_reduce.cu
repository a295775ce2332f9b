// y[o][i] = the index of the largest (or smallest) x[o][.][i], the first or the last on ties; NaN wins, whichever is looked for. Elements are
// compared by their keys (sort_key.cuh). Where results are few and long, each is cut into parts, whose bests `arg_reduce` leaves in the
// workspace and `arg_reduce_parts` joins.
//
//   arg_reduce        lanes along the axis (inner is 1: neighbours in memory) or across results
//   arg_reduce_rows   the axis is innermost: `lanes` threads a row, a power of two up to 32, or 256; 16 bytes an access, or an element
//                     where rows do not begin on such boundaries; a lane compares the best keys of its accesses, which it meets in order,
//                     and the element is looked up at the end
//   arg_reduce_parts  a warp a result
//
// Launch: block (lanes, results) along, (results, lanes) across, the product at most 256; grid (results, parts); dynamic shared memory of 16
// bytes a thread. The lanes are a power of two. arg_reduce_rows: 256 threads, grid (ceil(results · lanes / 256), parts), static shared memory,
// fewer than 2^32 - 1 elements a row. Variants: TENON_T an unsigned integer as wide as the elements.
#include "sort_key.cuh"

typedef TENON_T T;
typedef KeyOf<sizeof(T)>::type K;

struct alignas(16) Best {
    u64 key;  // K, wide enough to leave no gap
    i64 at;  // below 0 for none
};

__device__ __forceinline__ Best better(Best a, Best b, i32 last) {
    if (a.at < 0) return b;
    if (b.at < 0) return a;
    if (a.key != b.key) return a.key > b.key ? a : b;
    return (a.at < b.at) != (last != 0) ? a : b;
}

// The larger the better: all bits for NaN, which no other number has either way round.
__device__ __forceinline__ K rank_of(Order order, T bits, i32 max) {
    constexpr K SIGN = static_cast<K>(1) << (8 * sizeof(T) - 1);
    constexpr K ALL = SIGN | (SIGN - 1);
    K key = sort_key(order, bits);
    return max || (order.kind == ORDER_FLOAT && key == ALL) ? key : ALL - key;
}

__device__ __forceinline__ Best meet_lanes(Best* bests, int lane, int lanes, int stride, i32 last) {
    for (int half = lanes / 2; half > 0; half /= 2) {
        __syncthreads();
        if (lane < half) bests[0] = better(bests[0], bests[half * stride], last);
    }
    return bests[0];
}

// Where parts is 1 y gets the results, else `partial` the bests, [result][part].
extern "C" __global__ void __launch_bounds__(256) TENON_NAME(arg_reduce)(const void* x, void* y, void* partial, i32 kind, i64 largest, i32 max, i32 last, i64 results, i64 n, i64 inner, i64 parts, i32 along) {
    TENON_DYNAMIC_SHARED(Best, all);
    release_successor();
    await_predecessor();
    Order order = {kind, static_cast<u64>(largest)};
    int lane = along ? threadIdx.x : threadIdx.y;
    int lanes = along ? blockDim.x : blockDim.y;
    int column = along ? threadIdx.y : threadIdx.x;
    int across = along ? blockDim.y : blockDim.x;
    int stride = along ? 1 : blockDim.x;
    Best* mine = all + threadIdx.y * blockDim.x + threadIdx.x;
    i64 part_size = (n + parts - 1) / parts;
    for (i64 part = blockIdx.y; part < parts; part += gridDim.y) {
        for (i64 first = static_cast<i64>(blockIdx.x) * across; first < results; first += static_cast<i64>(gridDim.x) * across) {
            i64 result = first + column;
            Best best = {0, -1};
            if (result < results) {
                i64 outer = result / inner;
                const T* from = static_cast<const T*>(x) + outer * n * inner + (result - outer * inner);
                i64 end = (part + 1) * part_size;
                end = end < n ? end : n;
#pragma unroll 4
                for (i64 j = part * part_size + lane; j < end; j += lanes) best = better(best, Best{rank_of(order, from[j * inner], max), j}, last);
            }
            *mine = best;
            Best whole = meet_lanes(mine, lane, lanes, stride, last);
            if (lane == 0 && result < results) {
                if (parts == 1) {
                    static_cast<i64*>(y)[result] = whole.at;
                } else {
                    static_cast<Best*>(partial)[result * parts + part] = whole;
                }
            }
            __syncthreads();
        }
    }
}
TENON_ENTRY(arg_reduce)

constexpr int WIDE = 16 / sizeof(T);
constexpr int AHEAD = 4;  // accesses of a thread on their way
constexpr int THREADS = 256;

// An order without the branches: a key is the element's bits, changed as its kind asks, and turned round where the least is looked for.
template <bool FLOAT>
__device__ __forceinline__ K fast_rank(T bits, K bias, K turn, K largest) {
    constexpr K SIGN = static_cast<K>(1) << (8 * sizeof(T) - 1);
    constexpr K ALL = SIGN | (SIGN - 1);
    K v = bits;
    if (!FLOAT) return v ^ bias ^ turn;
    v = v == SIGN ? 0 : v;  // both zeros are one
    K key = (v & SIGN) != 0 ? v ^ ALL : v ^ SIGN;
    return (v & (SIGN - 1)) > largest ? ALL : key ^ turn;
}

template <bool FLOAT, bool LAST, int V>
__device__ __forceinline__ Best best_of(const T* row, i64 first, i64 end, int step, Order order, i32 max) {
    constexpr K SIGN = static_cast<K>(1) << (8 * sizeof(T) - 1);
    K bias = order.kind == ORDER_SIGNED ? SIGN : 0, turn = max ? 0 : SIGN | (SIGN - 1), largest = static_cast<K>(order.largest);
    if (first >= end) return {0, -1};
    const Pack<T, V>* packs = reinterpret_cast<const Pack<T, V>*>(row);
    K key = 0;
    u32 at = static_cast<u32>(first);  // right where all have the key 0; where the last is wanted they win
    for (i64 pack = first; pack < end; pack += static_cast<i64>(step) * AHEAD) {
        Pack<T, V> some[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if (pack + step * a < end) some[a] = packs[pack + step * a];
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if (pack + step * a < end) {
                K most = fast_rank<FLOAT>(some[a].at[0], bias, turn, largest);
#pragma unroll
                for (int i = 1; i < V; i++) {
                    K other = fast_rank<FLOAT>(some[a].at[i], bias, turn, largest);
                    most = other > most ? other : most;
                }
                if (LAST ? most >= key : most > key) {
                    key = most;
                    at = static_cast<u32>(pack + step * a);
                }
            }
        }
    }
    return {static_cast<u64>(key), static_cast<i64>(at) * V};
}

// The same for f32, by the hardware's maximum and minimum, which pass over NaN: packs with one are found by themselves.
template <bool MAX, bool LAST>
__device__ __forceinline__ Best best_float(const T* row, i64 first, i64 end, int step, Order order) {
    constexpr int V = 4;
    if (first >= end) return {0, -1};
    const Pack<float, V>* packs = reinterpret_cast<const Pack<float, V>*>(row);
    float best = MAX ? -TENON_INFINITY : TENON_INFINITY;
    bool none = true;  // no NaN yet
    u32 at = static_cast<u32>(first);
    for (i64 pack = first; pack < end; pack += static_cast<i64>(step) * AHEAD) {
        Pack<float, V> some[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if (pack + step * a < end) some[a] = packs[pack + step * a];
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if (pack + step * a < end) {
                const float(&v)[V] = some[a].at;
                float most = MAX ? fmaxf(fmaxf(v[0], v[1]), fmaxf(v[2], v[3])) : fminf(fminf(v[0], v[1]), fminf(v[2], v[3]));
                bool wrong = v[0] != v[0] || v[1] != v[1] || v[2] != v[2] || v[3] != v[3];
                bool further = MAX ? (LAST ? most >= best : most > best) : (LAST ? most <= best : most < best);
                if (wrong ? LAST || none : none && further) {
                    best = most;
                    at = static_cast<u32>(pack + step * a);
                    none = !wrong;
                }
            }
        }
    }
    u32 bits = none ? __float_as_uint(best) : 0x7fffffffu;
    return {static_cast<u64>(fast_rank<true>(static_cast<T>(bits), 0, MAX ? 0 : ~K(0), static_cast<K>(order.largest))), static_cast<i64>(at) * V};
}

// The element that has the best key of a pack, of which only the first is known.
template <int V>
__device__ __forceinline__ Best element_of(Best best, const T* row, Order order, i32 max, i32 last) {
    if (best.at < 0 || V == 1) return best;
    i64 from = best.at;
    bool found = false;
#pragma unroll
    for (int i = 0; i < V; i++) {
        if (static_cast<u64>(rank_of(order, row[from + i], max)) == best.key && (last || !found)) {
            best.at = from + i;
            found = true;
        }
    }
    return best;
}

__device__ __forceinline__ Best over_lanes(Best best, int lanes, i32 last) {
#if __CUDA_ARCH__ >= 800
    if (sizeof(K) == 4 && lanes == 32) {  // two instructions: indices of rows fit into 32 bits
        u32 key = best.at < 0 ? 0 : static_cast<u32>(best.key);
        u32 most = __reduce_max_sync(0xffffffffu, key);
        bool mine = best.at >= 0 && key == most;
        u32 at = static_cast<u32>(best.at);
        at = last ? __reduce_max_sync(0xffffffffu, mine ? at + 1 : 0) - 1 : __reduce_min_sync(0xffffffffu, mine ? at : 0xffffffffu);
        return {most, at == 0xffffffffu ? -1 : static_cast<i64>(at)};
    }
#endif
    for (int apart = lanes / 2; apart > 0; apart /= 2) {
        Best other = {__shfl_xor_sync(0xffffffffu, best.key, apart), __shfl_xor_sync(0xffffffffu, best.at, apart)};
        best = better(best, other, last);
    }
    return best;
}

template <int V>
__device__ __forceinline__ Best best_by(const T* row, i64 first, i64 end, int step, Order order, i32 max, i32 last) {
    bool real = order.kind == ORDER_FLOAT;
    if (V == 4 && sizeof(T) == 4 && real) {
        if (max) return last ? best_float<true, true>(row, first, end, step, order) : best_float<true, false>(row, first, end, step, order);
        return last ? best_float<false, true>(row, first, end, step, order) : best_float<false, false>(row, first, end, step, order);
    }
    if (real && !last) return best_of<true, false, V>(row, first, end, step, order, max);
    if (real) return best_of<true, true, V>(row, first, end, step, order, max);
    if (!last) return best_of<false, false, V>(row, first, end, step, order, max);
    return best_of<false, true, V>(row, first, end, step, order, max);
}

extern "C" __global__ void __launch_bounds__(THREADS) TENON_NAME(arg_reduce_rows)(const T* x, void* y, void* partial, i32 kind, i64 largest, i32 max, i32 last, i64 results, i64 n, i64 parts, i32 lanes, i32 packed) {
    __shared__ Best shared[THREADS / 32];
    release_successor();
    await_predecessor();
    Order order = {kind, static_cast<u64>(largest)};
    int lane = threadIdx.x % lanes;
    int across = THREADS / lanes;
    i64 packs = packed ? n / WIDE : n;
    i64 part_size = (packs + parts - 1) / parts;
    for (i64 part = blockIdx.y; part < parts; part += gridDim.y) {
        i64 end = (part + 1) * part_size;
        end = end < packs ? end : packs;
        for (i64 first = static_cast<i64>(blockIdx.x) * across; first < results; first += static_cast<i64>(gridDim.x) * across) {
            i64 result = first + threadIdx.x / lanes;
            Best best = {0, -1};
            if (result < results) {
                const T* row = x + result * n;
                i64 from = part * part_size + lane;
                best = packed ? best_by<WIDE>(row, from, end, lanes, order, max, last) : best_by<1>(row, from, end, lanes, order, max, last);
            }
            best = over_lanes(best, lanes < 32 ? lanes : 32, last);
            if (lanes > 32) {
                if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = best;
                __syncthreads();
                best = over_lanes(shared[threadIdx.x % (THREADS / 32)], THREADS / 32, last);
                __syncthreads();
            }
            if (lane == 0 && result < results) {
                if (packed) best = element_of<WIDE>(best, x + result * n, order, max, last);
                if (parts == 1) {
                    static_cast<i64*>(y)[result] = best.at;
                } else {
                    static_cast<Best*>(partial)[result * parts + part] = best;
                }
            }
        }
    }
}
TENON_ENTRY(arg_reduce_rows)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(arg_reduce_parts)(const void* partial, void* y, i32 last, i64 results, i64 parts) {
    TENON_DYNAMIC_SHARED(Best, all);
    release_successor();
    await_predecessor();
    for (i64 result = blockIdx.x; result < results; result += gridDim.x) {
        Best best = {0, -1};
        for (i64 part = threadIdx.x; part < parts; part += blockDim.x) best = better(best, static_cast<const Best*>(partial)[result * parts + part], last);
        all[threadIdx.x] = best;
        Best whole = meet_lanes(all + threadIdx.x, threadIdx.x, blockDim.x, 1, last);
        if (threadIdx.x == 0) static_cast<i64*>(y)[result] = whole.at;
        __syncthreads();
    }
}
TENON_ENTRY(arg_reduce_parts)
