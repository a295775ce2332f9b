// y = residual + fn(a w + bias) for few rows: a [m,k], m at most ROWS, y [m,n], bias [n]. Time is that of reading w once.
//
//   gemv_along_k   w lies as [n,k]: a group of `share` warps (1, 2, 4 or 8 of a block's 8) sums COLUMNS columns, its lanes 16 bytes of k each
//   gemv_across_k  w lies as [k,n]: a lane sums the columns of 16 bytes, the warps of `splits` blocks share k
//
// Launch: 256 threads. along_k: any number of blocks, which walk over the groups of columns; `shares` is the warps of a group. across_k: any
// number of blocks, which walk over ceil(n / 32 lanes' columns) `shares` units, `shares` being the splits of k; the last block of a group of
// columns to arrive, by `counters` (one a group, 0 before and after), adds the sums in `partial`, [groups, splits, ROWS, columns], in the
// order of k. Shared: along_k 8 warps' sums; across_k a row of 8 warps' sums.
// packed: lines of w in memory (and along_k, rows of a) are whole 16-byte chunks; others are read element by element.
// Sums in A. bias and residual may be null; fn 0 leaves the sum as it is.
//
// Variants: TENON_T one of float, double, f16, bf16; TENON_ROWS one of 1, 2, 4, 8, 16.
#include "pack.cuh"
#include "unary_fn.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

constexpr int ROWS = TENON_ROWS;
constexpr int WARPS = 8;
constexpr int PACK = Widest<T>::value;
constexpr int COLUMNS = ROWS == 1 ? 2 : 4;
constexpr int AHEAD = 8;  // loads of w that a lane has on their way

__device__ __forceinline__ void finish(
    T* y, const T* bias, const T* residual, i64 n, i64 row, i64 column, A sum, i32 fn, A p0, A p1) {
    if (bias) sum += to_compute(bias[column]);
    if (fn) sum = unary_fn_call(fn, sum, p0, p1);
    if (residual) sum += to_compute(residual[row * n + column]);
    y[row * n + column] = From<T>::of(sum);
}

// Adds the products of V elements of k in N places, `stride` packs apart.
template <int V, int N>
__device__ __forceinline__ void add(A (&sums)[ROWS][COLUMNS], const T* const (&a)[ROWS], const T* const (&w)[COLUMNS], i64 at, i64 stride) {
    Pack<T, V> weights[N][COLUMNS];
#pragma unroll
    for (int i = 0; i < N; i++) {
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) weights[i][c] = load_pack<T, V>(w[c], at + i * stride);
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            Pack<T, V> left = load_pack<T, V>(a[r], at + i * stride);
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
#pragma unroll
                for (int e = 0; e < V; e++) sums[r][c] += to_compute(left.at[e]) * to_compute(weights[i][c].at[e]);
            }
        }
    }
}

template <int V>
__device__ __forceinline__ void add_all(A (&sums)[ROWS][COLUMNS], const T* const (&a)[ROWS], const T* const (&w)[COLUMNS], i64 packs, i64 first, i64 stride) {
    constexpr int N = AHEAD / COLUMNS;
    i64 at = first;
    for (; at + (N - 1) * stride < packs; at += N * stride) add<V, N>(sums, a, w, at, stride);
    for (; at < packs; at += stride) add<V, 1>(sums, a, w, at, stride);
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(gemv_along_k)(
    const T* a, const T* w, const T* bias, const T* residual, T* y, i64 m, i64 n, i64 k, i32 fn, A p0, A p1, i32 packed, i32 shares,
    A* partial, u32* counters) {
    __shared__ A space[WARPS][ROWS * COLUMNS];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    int part = warp % shares;
    i64 groups = (n + COLUMNS - 1) / COLUMNS;
    i64 at_once = WARPS / shares;
    release_successor();
    await_predecessor();
    const T* rows[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) rows[r] = a + (r < m ? r : m - 1) * k;
    for (i64 first = blockIdx.x * at_once; first < groups; first += gridDim.x * at_once) {
        i64 group = first + warp / shares;
        i64 column = group * COLUMNS;
        A sums[ROWS][COLUMNS] = {};
        if (group < groups) {
            const T* columns[COLUMNS];
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) columns[c] = w + (column + c < n ? column + c : n - 1) * k;
            if (packed) {
                add_all<PACK>(sums, rows, columns, k / PACK, part * 32 + lane, shares * 32);
            } else {
                add_all<1>(sums, rows, columns, k, part * 32 + lane, shares * 32);
            }
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
#pragma unroll
                for (int lanes = 16; lanes > 0; lanes /= 2) sums[r][c] += __shfl_xor_sync(0xffffffffu, sums[r][c], lanes);
                if (lane == (r * COLUMNS + c) % 32) space[warp][r * COLUMNS + c] = sums[r][c];
            }
        }
        __syncthreads();
        if (part == 0 && group < groups) {
            for (int i = lane; i < ROWS * COLUMNS; i += 32) {
                int row = i / COLUMNS;
                i64 at = column + i % COLUMNS;
                if (row >= m || at >= n) continue;
                A sum = space[warp][i];
                for (int s = 1; s < shares; s++) sum += space[warp + s][i];
                finish(y, bias, residual, n, row, at, sum, fn, p0, p1);
            }
        }
        __syncthreads();
    }
}
TENON_ENTRY(gemv_along_k)

constexpr int WIDTH = 32 * PACK;   // columns of a group
constexpr int TOGETHER = 16;       // sums of other blocks that a thread reads at once

// Adds the products of N rows of w. A lane has PACK neighbouring columns, or, not packed, every 32nd.
template <bool PACKED, int N>
__device__ __forceinline__ void add_rows(A (&sums)[ROWS][PACK], const T* a, const T* w, i64 m, i64 n, i64 k, i64 at, i64 left) {
    T weights[N][PACK];
#pragma unroll
    for (int i = 0; i < N; i++) {
        const T* row = w + (at + i) * n;
        if (PACKED) {
            Pack<T, PACK> pack = *reinterpret_cast<const Pack<T, PACK>*>(row);
#pragma unroll
            for (int e = 0; e < PACK; e++) weights[i][e] = pack.at[e];
        } else {
#pragma unroll
            for (int e = 0; e < PACK; e++) weights[i][e] = e * 32 < left ? row[e * 32] : From<T>::of(0);
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const T* row = a + (r < m ? r : m - 1) * k + at;
#pragma unroll
        for (int i = 0; i < N; i++) {
            A factor = to_compute(row[i]);
#pragma unroll
            for (int e = 0; e < PACK; e++) sums[r][e] += factor * to_compute(weights[i][e]);
        }
    }
}

template <bool PACKED>
__device__ __forceinline__ void add_span(A (&sums)[ROWS][PACK], const T* a, const T* w, i64 m, i64 n, i64 k, i64 from, i64 to, i64 left) {
    i64 at = from;
    for (; at + AHEAD <= to; at += AHEAD) add_rows<PACKED, AHEAD>(sums, a, w, m, n, k, at, left);
    for (; at < to; at++) add_rows<PACKED, 1>(sums, a, w, m, n, k, at, left);
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(gemv_across_k)(
    const T* a, const T* w, const T* bias, const T* residual, T* y, i64 m, i64 n, i64 k, i32 fn, A p0, A p1, i32 packed, i32 shares,
    A* partial, u32* counters) {
    __shared__ A space[WARPS][WIDTH];
    __shared__ bool last;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    i64 groups = (n + WIDTH - 1) / WIDTH;
    i64 each = (k + shares * WARPS - 1) / (shares * WARPS);  // of a warp
    release_successor();
    await_predecessor();
    for (i64 unit = blockIdx.x; unit < groups * shares; unit += gridDim.x) {
        i64 group = unit % groups;
        i64 share = unit / groups;
        i64 column0 = group * WIDTH;
        i64 from = (share * WARPS + warp) * each;
        i64 to = from + each < k ? from + each : k;
        A sums[ROWS][PACK] = {};
        if (packed) {
            i64 column = column0 + lane * PACK;
            add_span<true>(sums, a, w + (column < n ? column : n - PACK), m, n, k, from, to, 0);
        } else {
            i64 column = column0 + lane;
            add_span<false>(sums, a, w + column, m, n, k, from, to, n - column);
        }
        A* sheet = partial + (group * shares + share) * (ROWS * WIDTH);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int e = 0; e < PACK; e++) space[warp][packed ? lane * PACK + e : e * 32 + lane] = sums[r][e];
            __syncthreads();
            if (threadIdx.x < WIDTH) {
                A sum = space[0][threadIdx.x];
#pragma unroll
                for (int i = 1; i < WARPS; i++) sum += space[i][threadIdx.x];
                if (shares > 1) {
                    sheet[r * WIDTH + threadIdx.x] = sum;
                } else if (r < m && column0 + threadIdx.x < n) {
                    finish(y, bias, residual, n, r, column0 + threadIdx.x, sum, fn, p0, p1);
                }
            }
            __syncthreads();
        }
        if (shares == 1) continue;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) last = atomicAdd(counters + group, 1u) + 1 == static_cast<u32>(shares);
        __syncthreads();
        if (!last) continue;
        __threadfence();
        if (threadIdx.x == 0) counters[group] = 0;
        const A* first = partial + group * shares * (ROWS * WIDTH);
        for (i64 i = threadIdx.x; i < m * WIDTH; i += 256) {
            i64 column = column0 + i % WIDTH;
            if (column >= n) continue;
            A sum = 0;
            for (int s = 0; s < shares; s += TOGETHER) {
                A some[TOGETHER];
#pragma unroll
                for (int j = 0; j < TOGETHER; j++) some[j] = s + j < shares ? first[(s + j) * (ROWS * WIDTH) + i] : A(0);
#pragma unroll
                for (int j = 0; j < TOGETHER; j++) sum += some[j];
            }
            finish(y, bias, residual, n, i / WIDTH, column, sum, fn, p0, p1);
        }
    }
}
TENON_ENTRY(gemv_across_k)
