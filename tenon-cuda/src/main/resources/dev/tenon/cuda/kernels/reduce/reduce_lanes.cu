// y[kept] = the reduction, by number, of floats that lie side by side: the forms of reduce.cu for memory's full rate. Each access is of a pack
// of 16 bytes, or of an element where rows or columns do not begin on such boundaries; a thread has AHEAD of them on their way.
//
//   reduce_rows     the reduced elements are neighbours, a row `stride` after the other; `lanes` threads a row, a power of two up to 32, or 256
//   reduce_columns  the results are neighbours; a warp has 32 packs of them, 8 warps take every eighth element of a part
//
// Each element of a pack is folded by itself, in blocks of 4 · AHEAD, and all meet in a fixed order: results do not depend on timing. Where
// results are few and long, each is cut into parts, whose states are left in `partial`, [result][part], for reduce_parts (reduce.cu).
//
// Launch: 256 threads, static shared memory. reduce_rows: grid (ceil(results · lanes / 256), parts); reduce_columns: grid (groups of 32 packs
// of results, parts); kernels walk on where a grid is smaller. x on a boundary of its accesses.
// Variants: TENON_T float, double, f16, bf16.
#include "reduce.cuh"
#include "walk.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;
typedef FloatState<A> State;

constexpr int AHEAD = 4;
constexpr int WIDE = Widest<T>::value;
constexpr int THREADS = 256;

// What a reduction folds by: functions that differ in their results only share code.
template <int FN>
__device__ __forceinline__ State joined(const State& a, const State& b) {
    return float_join(FN, a, b);
}

template <int FN, int V>
__device__ __forceinline__ void fold(State (&states)[V], const Pack<T, V>& pack) {
#pragma unroll
    for (int i = 0; i < V; i++) states[i] = joined<FN>(states[i], float_one(FN, to_compute(pack.at[i])));
}

// Folds packs first, first + step, … below `packs`, each `apart` elements after the one before it.
template <int FN, int V>
__device__ __forceinline__ void fold_all(State (&states)[V], const T* from, i64 first, i64 packs, i64 step, i64 apart) {
    for (i64 at = first; at < packs;) {
        State block[V];
#pragma unroll
        for (int i = 0; i < V; i++) block[i] = float_none<A>(FN);
        for (int round = 0; round < 4 && at < packs; round++, at += step * AHEAD) {
            Pack<T, V> some[AHEAD];
            if (at + step * (AHEAD - 1) < packs) {
#pragma unroll
                for (int a = 0; a < AHEAD; a++) some[a] = *reinterpret_cast<const Pack<T, V>*>(from + (at + step * a) * apart);
#pragma unroll
                for (int a = 0; a < AHEAD; a++) fold<FN, V>(block, some[a]);
            } else {
#pragma unroll
                for (int a = 0; a < AHEAD; a++) {
                    if (at + step * a < packs) some[a] = *reinterpret_cast<const Pack<T, V>*>(from + (at + step * a) * apart);
                }
#pragma unroll
                for (int a = 0; a < AHEAD; a++) {
                    if (at + step * a < packs) fold<FN, V>(block, some[a]);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < V; i++) states[i] = joined<FN>(states[i], block[i]);
    }
}

// Where a result goes: y, or the states of its parts.
struct Answers {
    T* y;
    State* partial;
    i64 parts;
    i64 count;
    i32 fn;

    __device__ __forceinline__ void put(i64 result, i64 part, const State& state) const {
        if (parts == 1) {
            y[result] = From<T>::of(float_result(fn, state, count));
        } else {
            partial[result * parts + part] = state;
        }
    }
};

template <int FN>
__device__ __forceinline__ State over_lanes(State s, int lanes) {
    for (int apart = lanes / 2; apart > 0; apart /= 2) {
        State other = {__shfl_xor_sync(0xffffffffu, s.value, apart), A(0)};
        if (FN == REDUCE_LOG_SUM_EXP) other.sum = __shfl_xor_sync(0xffffffffu, s.sum, apart);
        s = joined<FN>(s, other);
    }
    return s;
}

template <int FN, int V>
__device__ __forceinline__ void rows(const T* x, const Answers& answers, i64 results, i64 stride, i32 lanes, State* shared) {
    i64 packs = answers.count / V;
    i64 part_size = (packs + answers.parts - 1) / answers.parts;
    int lane = threadIdx.x % lanes;
    int across = THREADS / lanes;
    for (i64 part = blockIdx.y; part < answers.parts; part += gridDim.y) {
        i64 end = (part + 1) * part_size;
        end = end < packs ? end : packs;
        for (i64 first = static_cast<i64>(blockIdx.x) * across; first < results; first += static_cast<i64>(gridDim.x) * across) {
            i64 result = first + threadIdx.x / lanes;
            State states[V];
#pragma unroll
            for (int i = 0; i < V; i++) states[i] = float_none<A>(FN);
            if (result < results) fold_all<FN, V>(states, x + result * stride, part * part_size + lane, end, lanes, V);
#pragma unroll
            for (int half = V / 2; half > 0; half /= 2) {
#pragma unroll
                for (int i = 0; i < half; i++) states[i] = joined<FN>(states[i], states[i + half]);
            }
            State whole = over_lanes<FN>(states[0], lanes < 32 ? lanes : 32);
            if (lanes > 32) {
                if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = whole;
                __syncthreads();
                whole = over_lanes<FN>(shared[threadIdx.x % (THREADS / 32)], THREADS / 32);
                __syncthreads();
            }
            if (lane == 0 && result < results) answers.put(result, part, whole);
        }
    }
}

template <int FN, int V>
__device__ __forceinline__ void columns(const T* x, const Answers& answers, i64 results, i64 stride, const Walk1& kept, State* shared) {
    int lane = threadIdx.x % 32, strand = threadIdx.x / 32;
    constexpr int STRANDS = THREADS / 32;
    i64 part_size = (answers.count + answers.parts - 1) / answers.parts;
    bool small = results <= 0x7fffffff;
    for (i64 part = blockIdx.y; part < answers.parts; part += gridDim.y) {
        i64 end = (part + 1) * part_size;
        end = end < answers.count ? end : answers.count;
        for (i64 first = static_cast<i64>(blockIdx.x) * 32 * V; first < results; first += static_cast<i64>(gridDim.x) * 32 * V) {
            i64 result = first + lane * V;
            State states[V];
#pragma unroll
            for (int i = 0; i < V; i++) states[i] = float_none<A>(FN);
            if (result < results) {
                i64 base[1];
                locate(kept, result, small, base);
                fold_all<FN, V>(states, x + base[0], part * part_size + strand, end, STRANDS, stride);
            }
#pragma unroll
            for (int i = 0; i < V; i++) shared[(strand * V + i) * 32 + lane] = states[i];
            __syncthreads();
            for (int one = threadIdx.x; one < 32 * V; one += THREADS) {
                State whole = shared[one];
                for (int s = 1; s < STRANDS; s++) whole = joined<FN>(whole, shared[s * V * 32 + one]);
                i64 to = first + one % 32 * V + one / 32;
                if (to < results) answers.put(to, part, whole);
            }
            __syncthreads();
        }
    }
}

// Calls `what` with the function and the width known to the compiler.
#define BY_FUNCTION(what, ...)                                                   \
    switch (fn) {                                                                \
        case REDUCE_MAX: what<REDUCE_MAX, V>(__VA_ARGS__); break;                \
        case REDUCE_MIN: what<REDUCE_MIN, V>(__VA_ARGS__); break;                \
        case REDUCE_PROD: what<REDUCE_PROD, V>(__VA_ARGS__); break;              \
        case REDUCE_L1: what<REDUCE_L1, V>(__VA_ARGS__); break;                  \
        case REDUCE_L2:                                                          \
        case REDUCE_SUM_SQUARE: what<REDUCE_SUM_SQUARE, V>(__VA_ARGS__); break;  \
        case REDUCE_LOG_SUM_EXP: what<REDUCE_LOG_SUM_EXP, V>(__VA_ARGS__); break; \
        default: what<REDUCE_SUM, V>(__VA_ARGS__); break;                        \
    }

template <int V>
__device__ __forceinline__ void rows_by(i32 fn, const T* x, const Answers& answers, i64 results, i64 stride, i32 lanes, State* shared) {
    BY_FUNCTION(rows, x, answers, results, stride, lanes, shared)
}

template <int V>
__device__ __forceinline__ void columns_by(i32 fn, const T* x, const Answers& answers, i64 results, i64 stride, const Walk1& kept, State* shared) {
    BY_FUNCTION(columns, x, answers, results, stride, kept, shared)
}

extern "C" __global__ void __launch_bounds__(THREADS) TENON_NAME(reduce_rows)(const T* x, T* y, void* partial, i32 fn, i64 results, i64 count, i64 stride, i64 parts, i32 lanes, i32 packed) {
    __shared__ __align__(16) State shared[THREADS / 32];
    release_successor();
    await_predecessor();
    Answers answers = {y, static_cast<State*>(partial), parts, count, fn};
    if (packed) {
        rows_by<WIDE>(fn, x, answers, results, stride, lanes, shared);
    } else {
        rows_by<1>(fn, x, answers, results, stride, lanes, shared);
    }
}
TENON_ENTRY(reduce_rows)

extern "C" __global__ void __launch_bounds__(THREADS) TENON_NAME(reduce_columns)(const T* x, T* y, void* partial, i32 fn, i64 results, i64 count, i64 stride, Walk1 kept, i64 parts, i32 packed) {
    __shared__ __align__(16) State shared[THREADS * WIDE];
    release_successor();
    await_predecessor();
    Answers answers = {y, static_cast<State*>(partial), parts, count, fn};
    if (packed) {
        columns_by<WIDE>(fn, x, answers, results, stride, kept, shared);
    } else {
        columns_by<1>(fn, x, answers, results, stride, kept, shared);
    }
}
TENON_ENTRY(reduce_columns)
