// y = softmax(scale · q kᵀ, capped, masked) v for each head, any head size: the online softmax over tiles of 32 keys (Milakov and
// Gimelshein, arXiv:1805.02867), 16 queries a block, 8 threads a query. Sums in f32, of double in double.
//
// What keys that a query does not see count for is the formula of attention.cuh: as SEEN_ALONE they
// have no part in its row, and a row without keys is 0.
//
// Launch: 128 threads, grid (ceil(queries / 16), heads, min(batches, 65535)); dynamic shared memory 16·(d + dv) computed elements.
// Variants: TENON_T one of float, double, f16, bf16.
#include "attention.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;
constexpr int BR = 16;    // queries of a block
constexpr int BC = 32;    // keys of a tile
constexpr int LANES = 8;  // threads of a query
constexpr int DC = 64;    // head elements that are staged at a time
constexpr int THREADS = BR * LANES;

struct Tiles {
    A staged[BC][DC + 1];
    A weights[BR][BC + 1];
};

__device__ __forceinline__ void stage(Tiles& tiles, Heads<const T> from, i64 b, i64 key, i64 keys, i64 h, int d0, int d) {
    __syncthreads();  // nobody reads what was staged before
    int width = d - d0 < DC ? d - d0 : DC;
    for (int i = threadIdx.x; i < BC * DC; i += THREADS) {
        int r = i / DC;
        int c = i % DC;
        tiles.staged[r][c] = key + r < keys && c < width ? to_compute(from.row(b, key + r, h)[d0 + c]) : A(0);
    }
    __syncthreads();
}

template <typename F>
__device__ __forceinline__ A across(A v, F f) {
#pragma unroll
    for (int step = 1; step < LANES; step *= 2) v = f(v, __shfl_xor_sync(0xffffffffu, v, step));
    return v;
}

__device__ __forceinline__ A larger(A a, A b) { return a > b ? a : b; }

extern "C" __global__ void __launch_bounds__(128)
    TENON_NAME(attention)(const T* q, i64 q_batch, i64 q_token, i64 q_head, const T* k, i64 k_batch, i64 k_token, i64 k_head, const T* v,
                          i64 v_batch, i64 v_token, i64 v_head, T* y, i64 y_batch, i64 y_token, i64 y_head, const void* mask, i64 m_batch,
                          i64 m_head, i64 m_query, i64 m_key, i64 batches, i32 group, i64 queries, i64 keys, i32 d, i32 dv, i32 kind,
                          i32 causal, i64 window, A scale, A cap, i32 formula) {
    TENON_DYNAMIC_SHARED(A, dynamic);
    __shared__ Tiles tiles;
    A* const own = dynamic;             // the queries, [BR][d]
    A* const sums = dynamic + BR * d;   // the results so far, [BR][dv]
    release_successor();
    await_predecessor();
    Heads<const T> qs = {q, q_batch, q_token, q_head};
    Heads<const T> ks = {k, k_batch, k_token, k_head};
    Heads<const T> vs = {v, v_batch, v_token, v_head};
    Heads<T> ys = {y, y_batch, y_token, y_head};
    Seen<T, A> seen = {mask, m_batch, m_head, m_query, m_key, kind, causal, window, queries, keys, cap, formula == GUARDED};
    int r = threadIdx.x / LANES;
    int lane = threadIdx.x % LANES;
    i64 h = blockIdx.y;
    i64 first_query = static_cast<i64>(blockIdx.x) * BR;
    i64 query = first_query + r;
    i64 last_query = first_query + BR - 1 < queries - 1 ? first_query + BR - 1 : queries - 1;
    for (i64 b = blockIdx.z; b < batches; b += gridDim.z) {
        __syncthreads();
        for (int i = lane; i < d; i += LANES) own[r * d + i] = query < queries ? to_compute(qs.row(b, query, h)[i]) : A(0);
        for (int i = lane; i < dv; i += LANES) sums[r * dv + i] = A(0);
        A top = A(-TENON_INFINITY);
        A total = A(0);
        i64 end = seen.end(last_query);
        for (i64 key = seen.first(first_query) / BC * BC; key < end; key += BC) {
            A s[BC / LANES] = {};
            for (int d0 = 0; d0 < d; d0 += DC) {
                stage(tiles, ks, b, key, keys, h / group, d0, d);
                int width = d - d0 < DC ? d - d0 : DC;
                for (int i = 0; i < width; i++) {
                    A x = own[r * d + d0 + i];
#pragma unroll
                    for (int j = 0; j < BC / LANES; j++) s[j] += x * tiles.staged[lane + LANES * j][i];
                }
            }
            A most = A(-TENON_INFINITY);
#pragma unroll
            for (int j = 0; j < BC / LANES; j++) {
                i64 at = key + lane + LANES * j;
                bool inside = query < queries && at < keys;
                s[j] = inside ? seen.score(s[j] * scale, b, h, query, at) : A(-TENON_INFINITY);
                most = larger(s[j], most);
            }
            most = across(most, larger);
            A risen = larger(most, top);
            A base = risen == A(-TENON_INFINITY) ? A(0) : risen;
            A kept = exp(top - base);
            A added = A(0);
#pragma unroll
            for (int j = 0; j < BC / LANES; j++) {
                i64 at = key + lane + LANES * j;
                A p = exp(s[j] - base);
                added += p;
                // below 0: has no part, whatever the value
                bool out = at >= keys || (formula == SEEN_ALONE && s[j] == A(-TENON_INFINITY));
                tiles.weights[r][lane + LANES * j] = out ? A(-1) : p;
            }
            total = total * kept + across(added, [](A a, A c) { return a + c; });
            top = risen;
            for (int d0 = 0; d0 < dv; d0 += DC) {
                stage(tiles, vs, b, key, keys, h / group, d0, dv);
                int width = dv - d0 < DC ? dv - d0 : DC;
                for (int i = lane; i < width; i += LANES) {
                    A sum = sums[r * dv + d0 + i] * kept;
                    for (int c = 0; c < BC; c++) {
                        A p = tiles.weights[r][c];
                        if (!(p < A(0))) sum += p * tiles.staged[c][i];
                    }
                    sums[r * dv + d0 + i] = sum;
                }
            }
        }
        if (query < queries) {
            bool none = keys == 0 || (total == A(0) && formula != PLAIN);
            bool isnan = seen.guarded && total != total;
            total = isnan ? A(1) : seen.divisor(total);
            for (int i = lane; i < dv && isnan; i += LANES) {  // weights count as 0
                A sum = A(0);
                for (i64 key = 0; key < keys; key++) sum += A(0) * to_compute(vs.row(b, key, h / group)[i]);
                sums[r * dv + i] = sum;
            }
            none = none && !seen.guarded;
            for (int i = lane; i < dv; i += LANES) ys.row(b, query, h)[i] = From<T>::of(none ? A(0) : sums[r * dv + i] / total);
        }
    }
}
TENON_ENTRY(attention)
