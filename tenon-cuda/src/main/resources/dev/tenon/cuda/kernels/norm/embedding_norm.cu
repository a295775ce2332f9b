// y[r] = LayerNorm(sum over t of table_t[index_t[r]], + summand[r mod period]) · gamma + beta: one warp a row, the row in its registers, R
// packs of 16 bytes of T a lane. Sums in f32. An index below 0 counts from the end; one out of range is reported, and its row is 0.
//
// Launch: 128 threads, any number of blocks. Rows of `cols` elements, which are whole packs, at most 32 R of them; all on 16-byte boundaries.
// table and summand may be null. flags: 1, indices are 64 bits wide; 2, rows are floats whatever T is.
// Variants: TENON_T one of float, f16, bf16.
#include "indices.cuh"
#include "norm_rules.cuh"
#include "row_edges.cuh"

typedef TENON_T T;
constexpr int V = Widest<T>::value;
constexpr int WIDE_INDICES = 1;
constexpr int FLOATS = 2;

struct Table {
    const void* at;
    const void* indices;
    i64 rows;
    i32 flags;
};

// v += row `row` of a matrix.
template <int R>
__device__ __forceinline__ void add_row(float (&v)[R * V + 1], const void* matrix, i32 flags, i64 row, i32 cols) {
    constexpr int F = Widest<float>::value;
    int lane = threadIdx.x % 32;
    i64 start = row * cols;
    if (sizeof(T) < 4 && (flags & FLOATS) != 0) {
        const float* from = static_cast<const float*>(matrix) + start;
#pragma unroll
        for (int r = 0; r < R; r++) {
#pragma unroll
            for (int part = 0; part < V / F; part++) {
                int column = (lane + 32 * r) * V + part * F;
                if (column >= cols) break;
                Pack<float, F> pack = *reinterpret_cast<const Pack<float, F>*>(from + column);
#pragma unroll
                for (int i = 0; i < F; i++) v[r * V + part * F + i] += pack.at[i];
            }
        }
    } else {
        const T* from = static_cast<const T*>(matrix) + start;
        Pack<T, V> packs[R];
#pragma unroll
        for (int r = 0; r < R; r++) {
            if ((lane + 32 * r) * V < cols) packs[r] = load_pack<T, V>(from, lane + 32 * r);
        }
#pragma unroll
        for (int r = 0; r < R; r++) {
            if ((lane + 32 * r) * V >= cols) break;
#pragma unroll
            for (int i = 0; i < V; i++) v[r * V + i] += to_compute(packs[r].at[i]);
        }
    }
}

template <int R>
__device__ __forceinline__ void embed(const Table (&tables)[3], const Table& summand, const T* gamma, const T* beta, T* y, i64 rows, i32 cols,
                                      float epsilon, void* faults, i32 step) {
    typedef LayerNormRule<float> Rule;
    release_successor();
    await_predecessor();
    int lane = threadIdx.x % 32;
    Affine<T, V> affine(gamma, beta, 0);
    for (i64 row = static_cast<i64>(blockIdx.x) * 4 + threadIdx.x / 32; row < rows; row += static_cast<i64>(gridDim.x) * 4) {
        float v[R * V + 1] = {};
        i64 fronts[3];
#pragma unroll
        for (int t = 0; t < 3; t++) {
            fronts[t] = -1;
            if (tables[t].at == nullptr) continue;
            i64 index = index_at(tables[t].indices, tables[t].flags & WIDE_INDICES, row);
            fronts[t] = from_front(index, tables[t].rows);
            if (fronts[t] < 0 && lane == 0) report_fault(faults, step, index);
        }
#pragma unroll
        for (int t = 0; t < 3; t++) {
            if (fronts[t] >= 0) add_row<R>(v, tables[t].at, tables[t].flags, fronts[t], cols);
        }
        if (summand.at != nullptr) add_row<R>(v, summand.at, summand.flags, row % summand.rows, cols);
        int count = 0;  // packs
#pragma unroll
        for (int r = 0; r < R; r++) {
            if ((lane + 32 * r) * V < cols) count = r + 1;
        }
        Rule::State whole = Rule::gather<V>(v, count, false);
        Rule::Scale scale = Rule::rescale(whole, whole, cols, epsilon);
#pragma unroll
        for (int r = 0; r < R; r++) {
            i32 column = (lane + 32 * r) * V;
            if (column >= cols) break;
            float result[V];
#pragma unroll
            for (int i = 0; i < V; i++) result[i] = Rule::apply_last(scale, v[r * V + i]);
            store_pack<T, V>(y + row * cols, lane + 32 * r, with_affine<Rule, T, V>(result, affine, column));
        }
    }
}

#define WARP(name, R)                                                                                                                      \
    extern "C" __global__ void __launch_bounds__(128)                                                                                      \
        TENON_NAME(name)(const void* table_0, const void* indices_0, i64 rows_0, i32 flags_0, const void* table_1, const void* indices_1,  \
                         i64 rows_1, i32 flags_1, const void* table_2, const void* indices_2, i64 rows_2, i32 flags_2,                     \
                         const void* summand, i64 period, i32 flags, const T* gamma, const T* beta, T* y, i64 rows, i32 cols,              \
                         float epsilon, void* faults, i32 step) {                                                                          \
        Table tables[3] = {{table_0, indices_0, rows_0, flags_0}, {table_1, indices_1, rows_1, flags_1}, {table_2, indices_2, rows_2, flags_2}}; \
        embed<R>(tables, {summand, nullptr, period, flags}, gamma, beta, y, rows, cols, epsilon, faults, step);                            \
    }                                                                                                                                      \
    TENON_ENTRY(name)

WARP(embedding_norm_r1, 1)
WARP(embedding_norm_r2, 2)
WARP(embedding_norm_r4, 4)
WARP(embedding_norm_r8, 8)
