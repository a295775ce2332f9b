// y = (x - mean) / sqrt(variance + epsilon) · scale + bias, over the rows of x [B · C, n], with the scale and the bias of the row's channel.
// Count, mean and squared deviations as in LayerNormRule: nothing cancels.
//
//   instance_norm         a block a row, which is read twice, the second time from the caches as far as it fits
//   instance_norm_parts   where rows are few and long: the states of parts of rows, into the workspace [row][part]
//   instance_norm_apply   their sequel: each block joins the states of its row, and writes its part
//
// Launch: whole warps a block, at most 512 threads; any number of blocks for instance_norm, else grid (parts, rows). Static shared memory.
// Variants: TENON_T float, double, f16, bf16.
#include "norm_rules.cuh"
#include "row_edges.cuh"
#include "walk.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;
typedef LayerNormRule<A> Rule;

constexpr int V = Widest<T>::value;
constexpr int BATCH = 4;  // packs that are under way at once

// What a thread has of a run of elements.
__device__ __forceinline__ Rule::State fold_run(const T* run, i64 count) {
    RowEdges<T, V> edges(run, count);
    Rule::State state = Rule::none();
    for (i64 pack = threadIdx.x; pack < edges.packs; pack += static_cast<i64>(BATCH) * blockDim.x) {
        Pack<T, V> held[BATCH];
        int there = 0;
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            i64 at = pack + static_cast<i64>(b) * blockDim.x;
            if (at < edges.packs) {
                held[b] = load_pack<T, V>(run + edges.head, at);
                there = b + 1;
            }
        }
        A v[BATCH * V];
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
#pragma unroll
            for (int i = 0; i < V; i++) v[b * V + i] = b < there ? to_compute(held[b].at[i]) : A(0);
        }
        state = Rule::fold(state, v, there * V);
    }
    for (i64 number = threadIdx.x; number < edges.loose; number += blockDim.x) {
        A v[1] = {to_compute(run[edges.column(static_cast<int>(number))])};
        state = Rule::fold(state, v, 1);
    }
    return state;
}

__device__ __forceinline__ void write_run(const T* from, T* to, i64 count, Rule::Scale scale, A factor, A summand) {
    RowEdges<T, V> edges(from, count);
    for (i64 pack = threadIdx.x; pack < edges.packs; pack += blockDim.x) {
        Pack<T, V> held = load_pack<T, V>(from + edges.head, pack);
#pragma unroll
        for (int i = 0; i < V; i++) held.at[i] = From<T>::of(Rule::apply(scale, to_compute(held.at[i])) * factor + summand);
        store_pack<T, V>(to + edges.head, pack, held);
    }
    for (i64 number = threadIdx.x; number < edges.loose; number += blockDim.x) {
        i64 column = edges.column(static_cast<int>(number));
        to[column] = From<T>::of(Rule::apply(scale, to_compute(from[column])) * factor + summand);
    }
}

extern "C" __global__ void __launch_bounds__(512) TENON_NAME(instance_norm)(const void* x, const void* factors, const void* summands, void* y, i64 rows, i64 cols, i64 channels, A epsilon) {
    __shared__ Rule::State slots[16];
    release_successor();
    await_predecessor();
    for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
        const T* from = static_cast<const T*>(x) + row * cols;
        Rule::State whole = merge_block<Rule, A>(fold_run(from, cols), slots);
        i64 channel = row % channels;
        A factor = to_compute(static_cast<const T*>(factors)[channel]), summand = to_compute(static_cast<const T*>(summands)[channel]);
        write_run(from, static_cast<T*>(y) + row * cols, cols, Rule::scale(whole, cols, epsilon), factor, summand);
    }
}
TENON_ENTRY(instance_norm)

// `each` elements a part, a multiple of those of a pack.
extern "C" __global__ void __launch_bounds__(512) TENON_NAME(instance_norm_parts)(const void* x, void* states, i64 rows, i64 cols, i64 each) {
    __shared__ Rule::State slots[16];
    release_successor();
    await_predecessor();
    i64 start = blockIdx.x * each;
    i64 count = min(each, cols - start);
    for (i64 row = blockIdx.y; row < rows; row += gridDim.y) {
        Rule::State part = merge_block<Rule, A>(fold_run(static_cast<const T*>(x) + row * cols + start, count), slots);
        if (threadIdx.x == 0) static_cast<Rule::State*>(states)[row * gridDim.x + blockIdx.x] = part;
    }
}
TENON_ENTRY(instance_norm_parts)

extern "C" __global__ void __launch_bounds__(512) TENON_NAME(instance_norm_apply)(const void* x, const void* factors, const void* summands, void* y, const void* states, i64 rows, i64 cols, i64 channels, i64 each, A epsilon) {
    __shared__ Rule::State slots[16];
    release_successor();
    await_predecessor();
    i64 start = blockIdx.x * each;
    i64 count = min(each, cols - start);
    for (i64 row = blockIdx.y; row < rows; row += gridDim.y) {
        Rule::State state = Rule::none();
        for (i64 part = threadIdx.x; part < gridDim.x; part += blockDim.x) {
            state = Rule::merge(state, static_cast<const Rule::State*>(states)[row * gridDim.x + part]);
        }
        Rule::State whole = merge_block<Rule, A>(state, slots);
        i64 channel = row % channels;
        A factor = to_compute(static_cast<const T*>(factors)[channel]), summand = to_compute(static_cast<const T*>(summands)[channel]);
        i64 at = row * cols + start;
        write_run(static_cast<const T*>(x) + at, static_cast<T*>(y) + at, count, Rule::scale(whole, cols, epsilon), factor, summand);
    }
}
TENON_ENTRY(instance_norm_apply)
