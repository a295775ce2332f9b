// y[kept] = the reduction, by number, of x over the other dims. Both sets of dims are walks over x; each result is folded by `lanes` threads of a
// block, which take every lanes-th element, and met in a fixed order: results do not depend on timing. Where results are few and long, each is
// cut into parts, whose states `reduce` leaves in the workspace and `reduce_parts` joins.
//
//   reduce        lanes along the reduced elements (rows: neighbours in memory) or across results (columns)
//   reduce_parts  a warp a result
//
// Launch: block (across, lanes): `across` results side by side; grid (ceil(results / across), parts); dynamic shared memory of a state a
// thread. Sums of short floats are kept in f32, in blocks of 16; integers are exact; NaN wins max and min.
// Variants: TENON_T float, double, f16, bf16; or TENON_INTEGERS, the type (bool among them) an argument.
#include "reduce.cuh"
#include "walk.cuh"

#if TENON_INTEGERS
// Integers are folded exactly; logarithms and roots of them as doubles.
struct alignas(16) State {
    FloatState<double> real;
    i64 whole;
};

__device__ __forceinline__ bool is_real(int fn) { return fn == REDUCE_L2 || fn == REDUCE_LOG_SUM || fn == REDUCE_LOG_SUM_EXP; }

__device__ __forceinline__ i64 whole_none(int fn, int type) {
    i64 lowest = static_cast<i64>(0x8000000000000000ull);
    if (fn == REDUCE_MAX) return type == TYPE_U64 ? 0 : lowest;
    if (fn == REDUCE_MIN) return type == TYPE_U64 ? -1 : 0x7fffffffffffffffll;
    return fn == REDUCE_PROD || fn == REDUCE_ALL;
}

__device__ __forceinline__ State none(int fn, int type) { return {float_none<double>(fn), whole_none(fn, type)}; }

__device__ __forceinline__ State join(int fn, int type, const State& a, const State& b) {
    if (is_real(fn)) return {float_join(fn, a.real, b.real), 0};
    i64 r;
    switch (fn) {
        case REDUCE_MAX: r = less(type, a.whole, b.whole) ? b.whole : a.whole; break;
        case REDUCE_MIN: r = less(type, b.whole, a.whole) ? b.whole : a.whole; break;
        case REDUCE_PROD: r = integer_product(a.whole, b.whole); break;
        case REDUCE_ANY: r = a.whole != 0 || b.whole != 0; break;
        case REDUCE_ALL: r = a.whole != 0 && b.whole != 0; break;
        default: r = integer_sum(a.whole, b.whole); break;
    }
    return {a.real, r};
}

__device__ __forceinline__ State one(int fn, int type, const void* x, i64 at) {
    i64 v = load_integer(type, x, at);
    State s = none(fn, type);
    if (is_real(fn)) {
        s.real = float_one(fn, integer_to_double(type, v));
    } else {
        s.whole = fn == REDUCE_L1 && !is_unsigned(type) && v < 0 ? integer_negative(v) : fn == REDUCE_SUM_SQUARE ? integer_product(v, v) : v;
    }
    return s;
}

__device__ __forceinline__ void finish(int fn, int type, const State& s, i64 count, void* y, i64 at) {
    if (is_real(fn)) {
        store_integer(type, y, at, float_to_integer(type, float_result(fn, s.real, count)));
    } else {
        store_integer(type, y, at, fn == REDUCE_MEAN ? integer_divide(FN_DIV, !is_unsigned(type), s.whole, count) : s.whole);
    }
}
#else
typedef TENON_T T;
typedef Compute<T>::type A;
typedef FloatState<A> State;

__device__ __forceinline__ State none(int fn, int) { return float_none<A>(fn); }
__device__ __forceinline__ State join(int fn, int, const State& a, const State& b) { return float_join(fn, a, b); }
__device__ __forceinline__ State one(int fn, int, const void* x, i64 at) { return float_one<A>(fn, to_compute(static_cast<const T*>(x)[at])); }
__device__ __forceinline__ void finish(int fn, int, const State& s, i64 count, void* y, i64 at) {
    static_cast<T*>(y)[at] = From<T>::of(float_result(fn, s, count));
}
#endif

// Joins the states of the threads of one result, which lie `stride` apart in shared memory; lanes is a power of two.
__device__ __forceinline__ State meet_lanes(int fn, int type, State* states, int lane, int lanes, int stride) {
    for (int half = lanes / 2; half > 0; half /= 2) {
        __syncthreads();
        if (lane < half) states[0] = join(fn, type, states[0], states[half * stride]);
    }
    return states[0];
}

// Where parts is 1 y gets the results, else `partial` the states, [result][part].
extern "C" __global__ void __launch_bounds__(256) TENON_NAME(reduce)(const void* x, void* y, void* partial, i32 fn, i32 type, i64 results, i64 count, Walk1 kept, Walk1 reduced, i64 parts, i32 along) {
    TENON_DYNAMIC_SHARED(State, all);
    release_successor();
    await_predecessor();
    // along: lanes are neighbours in a warp, so that a row's elements are read together; else results are
    int lane = along ? threadIdx.x : threadIdx.y;
    int lanes = along ? blockDim.x : blockDim.y;
    int column = along ? threadIdx.y : threadIdx.x;
    int across = along ? blockDim.y : blockDim.x;
    State* mine = all + threadIdx.y * blockDim.x + threadIdx.x;
    int stride = along ? 1 : blockDim.x;
    bool small = count <= 0x7fffffff;
    i64 part_size = (count + parts - 1) / parts;
    for (i64 part = blockIdx.y; part < parts; part += gridDim.y) {
        for (i64 first = static_cast<i64>(blockIdx.x) * across; first < results; first += static_cast<i64>(gridDim.x) * across) {
            i64 result = first + column;
            State state = none(fn, type);
            if (result < results) {
                i64 base[1];
                locate(kept, result, results <= 0x7fffffff, base);
                i64 end = (part + 1) * part_size;
                end = end < count ? end : count;
                for (i64 j = part * part_size + lane; j < end; j += 16 * lanes) {
                    State block = none(fn, type);
                    for (int k = 0; k < 16; k++) {
                        i64 element = j + static_cast<i64>(k) * lanes;
                        if (element < end) {
                            i64 at[1];
                            locate(reduced, element, small, at);
                            block = join(fn, type, block, one(fn, type, x, base[0] + at[0]));
                        }
                    }
                    state = join(fn, type, state, block);
                }
            }
            *mine = state;
            State sum = meet_lanes(fn, type, mine, lane, lanes, stride);
            if (lane == 0 && result < results) {
                if (parts == 1) {
                    finish(fn, type, sum, count, y, result);
                } else {
                    static_cast<State*>(partial)[result * parts + part] = sum;
                }
            }
            __syncthreads();
        }
    }
}
TENON_ENTRY(reduce)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(reduce_parts)(const void* partial, void* y, i32 fn, i32 type, i64 results, i64 count, i64 parts) {
    TENON_DYNAMIC_SHARED(State, all);
    release_successor();
    await_predecessor();
    const State* states = static_cast<const State*>(partial);
    for (i64 result = blockIdx.x; result < results; result += gridDim.x) {
        State state = none(fn, type);
        for (i64 part = threadIdx.x; part < parts; part += blockDim.x) state = join(fn, type, state, states[result * parts + part]);
        all[threadIdx.x] = state;
        State sum = meet_lanes(fn, type, all + threadIdx.x, threadIdx.x, blockDim.x, 1);
        if (threadIdx.x == 0) finish(fn, type, sum, count, y, result);
        __syncthreads();
    }
}
TENON_ENTRY(reduce_parts)
