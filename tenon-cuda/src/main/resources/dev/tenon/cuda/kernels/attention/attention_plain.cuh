// Attention by threads, any head size: what attention.cu and its form for sequences of their own lengths share. Launch, shared memory and
// variants are in attention.cu.
#pragma once
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
    __syncthreads();  // all have read what was staged before
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

struct Problem {
    Heads<const T> qs;
    Heads<const T> ks;
    Heads<const T> vs;
    Heads<T> ys;
    int group;
    int d;
    int dv;
    A scale;
    int formula;
};

__device__ __forceinline__ void attend(const Problem& at, const Seen<T, A>& seen, i64 batches) {
    TENON_DYNAMIC_SHARED(A, dynamic);
    __shared__ Tiles tiles;
    const Heads<const T>& qs = at.qs;
    const Heads<const T>& ks = at.ks;
    const Heads<const T>& vs = at.vs;
    const Heads<T>& ys = at.ys;
    int group = at.group;
    int d = at.d;
    int dv = at.dv;
    A scale = at.scale;
    int formula = at.formula;
    i64 queries = seen.queries;
    i64 keys = seen.keys;
    A* const own = dynamic;            // the queries, [BR][d]
    A* const sums = dynamic + BR * d;  // the results so far, [BR][dv]
    release_successor();
    await_predecessor();
    int r = threadIdx.x / LANES;
    int lane = threadIdx.x % LANES;
    i64 h = blockIdx.y;
    i64 first_query = static_cast<i64>(blockIdx.x) * BR;
    i64 query = first_query + r;
    i64 last_query = first_query + BR - 1 < queries - 1 ? first_query + BR - 1 : queries - 1;
    for (i64 b = TENON_RAGGED ? 0 : blockIdx.z; b < batches; b += gridDim.z) {
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
