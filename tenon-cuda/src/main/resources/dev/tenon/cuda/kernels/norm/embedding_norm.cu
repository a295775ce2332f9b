// y[r] = LayerNorm(sum over t of table_t[index_t[r]], + summand[r mod period]) · gamma + beta: one warp a row, the row in its registers, R
// packs of 16 bytes of T a lane; or a team of L lanes a row of exactly L R packs, rows one behind the other. Sums in f32. An index below 0 counts
// from the end; one out of range is reported, and its row is 0.
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

// The summand's row that belongs to a row.
__device__ __forceinline__ i64 row_within(i64 row, i64 period) {
    bool small = ((row | period) >> 32) == 0;
    return small ? static_cast<i64>(static_cast<u32>(row) % static_cast<u32>(period)) : row % period;
}

// v += row `row` of a matrix, which is L R packs long.
template <int L, int R>
__device__ __forceinline__ void add_whole_row(float (&v)[R * V], const void* matrix, i32 flags, i64 row, int member) {
    constexpr int F = Widest<float>::value;
    i64 start = row * (L * R * V);
    if (sizeof(T) < 4 && (flags & FLOATS) != 0) {
        const float* from = static_cast<const float*>(matrix) + start;
#pragma unroll
        for (int r = 0; r < R; r++) {
#pragma unroll
            for (int part = 0; part < V / F; part++) {
                Pack<float, F> pack = load_pack<float, F>(from, (member + L * r) * (V / F) + part);
#pragma unroll
                for (int i = 0; i < F; i++) v[r * V + part * F + i] += pack.at[i];
            }
        }
    } else {
        const T* from = static_cast<const T*>(matrix) + start;
        Pack<T, V> packs[R];
#pragma unroll
        for (int r = 0; r < R; r++) packs[r] = load_pack<T, V>(from, member + L * r);
#pragma unroll
        for (int r = 0; r < R; r++) {
#pragma unroll
            for (int i = 0; i < V; i++) v[r * V + i] += to_compute(packs[r].at[i]);
        }
    }
}

template <int L>
__device__ __forceinline__ float sum_over_team(float v) {
#pragma unroll
    for (int lanes = L / 2; lanes > 0; lanes /= 2) v += __shfl_xor_sync(0xffffffffu, v, lanes);
    return v;
}

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
        if (summand.at != nullptr) add_row<R>(v, summand.at, summand.flags, row_within(row, summand.rows), cols);
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

template <int L, int R>
__device__ __forceinline__ void embed_whole(const Table (&tables)[3], const Table& summand, const T* gamma, const T* beta, T* y, i64 rows, i32,
                                            float epsilon, void* faults, i32 step) {
    typedef LayerNormRule<float> Rule;
    constexpr int ROWS = 32 / L;  // of a warp
    constexpr float COUNT = L * R * V;
    release_successor();
    await_predecessor();
    int lane = threadIdx.x % 32, member = lane % L;
    Pack<T, V> factors[R], addends[R];
#pragma unroll
    for (int r = 0; r < R; r++) {
        factors[r] = load_pack<T, V>(gamma, member + L * r);
        addends[r] = load_pack<T, V>(beta, member + L * r);
    }
    i64 first = (static_cast<i64>(blockIdx.x) * 4 + threadIdx.x / 32) * ROWS, step_rows = static_cast<i64>(gridDim.x) * 4 * ROWS;
#pragma unroll 1
    for (; first < rows; first += step_rows) {
        i64 row = first + lane / L;
        bool there = row < rows;
        float v[R * V] = {};
        i64 fronts[3];
#pragma unroll
        for (int t = 0; t < 3; t++) {
            fronts[t] = -1;
            if (tables[t].at == nullptr || !there) continue;
            i64 index = index_at(tables[t].indices, tables[t].flags & WIDE_INDICES, row);
            fronts[t] = from_front(index, tables[t].rows);
            if (fronts[t] < 0 && member == 0) report_fault(faults, step, index);
        }
#pragma unroll
        for (int t = 0; t < 3; t++) {
            if (fronts[t] >= 0) add_whole_row<L, R>(v, tables[t].at, tables[t].flags, fronts[t], member);
        }
        if (summand.at != nullptr && there) add_whole_row<L, R>(v, summand.at, summand.flags, row_within(row, summand.rows), member);
        float sum = 0, shift = 0, deviation = 0;
#pragma unroll
        for (int i = 0; i < R * V; i++) sum += v[i];
        float mean = sum_over_team<L>(sum) / COUNT;
#pragma unroll
        for (int i = 0; i < R * V; i++) {
            v[i] -= mean;
            shift += v[i];
            deviation = fmaf(v[i], v[i], deviation);
        }
        shift = sum_over_team<L>(shift);
        float rest = shift / COUNT;
        deviation = Rule::about_rest(sum_over_team<L>(deviation), shift, rest);
        float factor = reciprocal_root(deviation / COUNT + epsilon);
        if (!there) continue;
#pragma unroll
        for (int r = 0; r < R; r++) {
            Pack<T, V> out;
#pragma unroll
            for (int i = 0; i < V; i++) {
                out.at[i] = From<T>::of(fmaf((v[r * V + i] - rest) * factor, to_compute(factors[r].at[i]), to_compute(addends[r].at[i])));
            }
            store_pack<T, V>(y + row * (L * R * V), member + L * r, out);
        }
    }
}

#define KERNEL(name, ...)                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(128)                                                                                      \
        TENON_NAME(name)(const void* table_0, const void* indices_0, i64 rows_0, i32 flags_0, const void* table_1, const void* indices_1,  \
                         i64 rows_1, i32 flags_1, const void* table_2, const void* indices_2, i64 rows_2, i32 flags_2,                     \
                         const void* summand, i64 period, i32 flags, const T* gamma, const T* beta, T* y, i64 rows, i32 cols,              \
                         float epsilon, void* faults, i32 step) {                                                                          \
        Table tables[3] = {{table_0, indices_0, rows_0, flags_0}, {table_1, indices_1, rows_1, flags_1}, {table_2, indices_2, rows_2, flags_2}}; \
        __VA_ARGS__(tables, {summand, nullptr, period, flags}, gamma, beta, y, rows, cols, epsilon, faults, step);                         \
    }                                                                                                                                      \
    TENON_ENTRY(name)

KERNEL(embedding_norm_r1, embed<1>)
KERNEL(embedding_norm_r2, embed<2>)
KERNEL(embedding_norm_r4, embed<4>)
KERNEL(embedding_norm_r8, embed<8>)
KERNEL(embedding_norm_l16_r3, embed_whole<16, 3>)
KERNEL(embedding_norm_l32_r3, embed_whole<32, 3>)
