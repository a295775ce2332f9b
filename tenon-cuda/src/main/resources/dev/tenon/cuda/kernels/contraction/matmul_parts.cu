// y = fn(a b + bias) + residual by products of warpgroups (sm_90a), for results of so few tiles that blocks share each: the blocks of a cluster have a part of k
// each, and add up the tile's columns in equal shares, from the shared memory of all in the order of their parts. Sums in f32, one rounding.
//
// a [m,k], y [m,n], rows on 16-byte boundaries; b [n,k] (ALONG_B) or [k,n], likewise; bias [n] and residual [m,n] may be null. fn takes p0 and p1.
//
// Launch: 160 threads; a cluster a tile of 64 rows and 64 columns, tiles one above the other first; 1, 2, 4 or 8 blocks a cluster, at most one a step;
// steps: parts of 128 bytes that cover k. Dynamic shared memory: 1024 bytes, 8 stages of 16384 and 64 lines of 288. left: boxes of 64 rows of a, 128
// bytes each. right: boxes of b, of 64 rows of 128 bytes.
// Variants: TENON_T one of f16, bf16, float (TF32, ALONG_B); TENON_FN a function; TENON_ALONG_B. Compiled for sm_90a alone.
#include "kept_tile.cuh"
#include "product_ring.cuh"
#include "short_fn.cuh"

typedef TENON_T T;
constexpr bool ALONG_B = TENON_ALONG_B;
constexpr int ROWS = 64;
constexpr int COLUMNS = 64;
constexpr int STAGES = 8;
constexpr int CONSUMERS = ROWS * 2;
constexpr int THREADS = CONSUMERS + 32;
constexpr int LINE = COLUMNS + 8;  // of sums, in shared memory

#if __CUDA_ARCH_FEAT_SM90_ALL
using Ring = ProductRing<T, COLUMNS, STAGES, ALONG_B, ROWS>;

// Where a residual may cancel the result, what the short form is off by would show.
__device__ __forceinline__ float finished(float v, float p0, float p1, bool added) {
    if (TENON_FN == 0) return v;
    return added ? unary_fn(TENON_FN, v, p0, p1) : ShortFn<SumOf<T>::Type, TENON_FN>::of(v, p0, p1);
}

// What is added to a thread's results, of lines from row on.
__device__ __forceinline__ void load_residual(KeptPair<T> (&added)[COLUMNS / 8][2], const T* residual, int row, int column0, int m, int n) {
#pragma unroll
    for (int j = 0; j < COLUMNS / 8; j++) {
        int column = column0 + j * 8 + static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int r = row + 8 * i;
            const T* from = residual + static_cast<i64>(r) * n + column;
            if (r < m && column < n) added[j][i].both = *reinterpret_cast<const decltype(KeptPair<T>::both)*>(from);
        }
    }
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    TENON_NAME(matmul_parts)(TensorMap const __grid_constant__ left, TensorMap const __grid_constant__ right, const T* bias, T* y, i64 m, i64 n, i32 steps,
                             float p0, float p1, const T* residual) {
#if __CUDA_ARCH_FEAT_SM90_ALL
    TENON_DYNAMIC_SHARED(u8, dynamic);
    __shared__ u64 barriers[2 * STAGES];
    __shared__ alignas(8) float biases[COLUMNS];
    u8* space = reinterpret_cast<u8*>((reinterpret_cast<u64>(dynamic) + 1023) / 1024 * 1024);
    float(*shared)[LINE] = reinterpret_cast<float(*)[LINE]>(space + STAGES * Ring::STAGE);
    Ring ring = {shared_address(space), shared_address(barriers)};
    int part = in_cluster();
    int parts = of_cluster();
    int tile = static_cast<int>(blockIdx.x) / parts;
    int high = static_cast<int>(m + ROWS - 1) / ROWS;
    int row0 = tile % high * ROWS;
    int column0 = tile / high * COLUMNS;
    int from = steps * part / parts;
    int to = steps * (part + 1) / parts;
    if (threadIdx.x == 0) {
        ring.start();
        show_to_tensor_cores();
    }
    if (threadIdx.x == CONSUMERS) {
        prefetch_map(left);
        prefetch_map(right);
    }
    release_successor();
    await_predecessor();
    __syncthreads();
    if (threadIdx.x >= CONSUMERS) {
        if (threadIdx.x == CONSUMERS) {
            Ring::Place place;
            for (int step = from; step < to; step++) ring.fetch<64>(left, right, step, row0, column0, place);
        }
        if (parts == 1) return;
        __syncwarp();
    } else {
        if (threadIdx.x < COLUMNS) {
            int column = column0 + static_cast<int>(threadIdx.x);
            biases[threadIdx.x] = bias && column < n ? to_compute(bias[column]) : 0.0f;
        }
        int row = row0 + static_cast<int>(threadIdx.x) / 32 * 16 + static_cast<int>(threadIdx.x) % 32 / 4;
        KeptPair<T> added[COLUMNS / 8][2] = {};
        if (parts == 1 && residual) load_residual(added, residual, row, column0, static_cast<int>(m), static_cast<int>(n));
        float sums[COLUMNS / 8][4];
        Ring::Place place;
        ring.multiply<true>(sums, place, 0);
        u32 before = place.stage;
        place.next();
#pragma unroll 1
        for (int step = from + 1; step < to; step++) {
            ring.multiply<false>(sums, place, 0);
            ring.pass_on(place, before);
        }
        await_products<0>();
        if (parts == 1) {
            meet_at(1, CONSUMERS);
            KeptTile<T, COLUMNS> kept(static_cast<int>(m), static_cast<int>(n), shared_address(shared), static_cast<int>(threadIdx.x) / 32);
            kept.keep(row0, column0, [&](int j, int i) {
                float2 add = *reinterpret_cast<const float2*>(biases + j * 8 + static_cast<int>(threadIdx.x) % 4 * 2);
                float2 more = added[j][i].get();
                return float2{finished(sums[j][2 * i] + add.x, p0, p1, residual) + more.x, finished(sums[j][2 * i + 1] + add.y, p0, p1, residual) + more.y};
            });
            kept.store_all(y, static_cast<int>(n), [](KeptPair<T> pair) { return pair; });
            return;
        }
#pragma unroll
        for (int j = 0; j < COLUMNS / 8; j++) {
            int column = j * 8 + static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
            for (int i = 0; i < 2; i++) {
                float2 two = {sums[j][2 * i], sums[j][2 * i + 1]};
                *reinterpret_cast<float2*>(&shared[row - row0 + 8 * i][column]) = two;
            }
        }
    }
    meet_cluster();
    constexpr int V = Widest<T>::value;
    int share = COLUMNS / parts / V;  // packs of 16 bytes
    for (int i = static_cast<int>(threadIdx.x); i < ROWS * share; i += THREADS) {
        int row = i / share;
        int column = (part * share + i % share) * V;
        if (row0 + row >= m || column0 + column >= n) continue;
        T* to = y + (row0 + row) * n + column0 + column;
        Pack<T, V> pack = {};
        if (residual) pack = *reinterpret_cast<const Pack<T, V>*>(residual + (to - y));
        float4 all[V / 4] = {};
        for (int from_part = 0; from_part < parts; from_part++) {
#pragma unroll
            for (int v = 0; v < V / 4; v++) {
                float4 more = load_in_cluster(&shared[row][column + 4 * v], from_part);
                all[v].x += more.x, all[v].y += more.y, all[v].z += more.z, all[v].w += more.w;
            }
        }
        const float* each = reinterpret_cast<const float*>(all);
        const float* add = biases + column;
#pragma unroll
        for (int e = 0; e < V; e++) pack.at[e] = From<T>::of(finished(each[e] + add[e], p0, p1, residual) + to_compute(pack.at[e]));
        *reinterpret_cast<Pack<T, V>*>(to) = pack;
    }
    meet_cluster();  // none ends while its sums are read
#endif
}
TENON_ENTRY(matmul_parts)
