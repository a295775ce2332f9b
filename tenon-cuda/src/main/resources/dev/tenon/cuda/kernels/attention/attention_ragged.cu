// y = softmax(scale · q kᵀ, capped, masked) v for sequences of their own lengths, any head size: as attention.cu, whose header says shared memory.
//
// Sequences b of their own lengths (attention_ragged.cuh), positions from the ends: queries are the last of their keys. A query that sees no key
// and a token of no sequence give 0. slopes: a float a head, by the distance in keys added to capped scores (ALiBi, arXiv:2108.12409); null for none.
// Launch: as there, grid (ceil(longest / 16), heads, min(count, 65535)); blocks behind the end of a sequence have nothing to do.
// Variants: TENON_T one of float, double, f16, bf16.
#define TENON_RAGGED 1
#include "attention_ragged.cuh"
#include "attention_plain.cuh"

extern "C" __global__ void __launch_bounds__(128)
    TENON_NAME(attention_ragged)(const T* q, i64 q_token, i64 q_head, const T* k, i64 k_page, i64 k_token, i64 k_head, const T* v, i64 v_page,
                                 i64 v_token, i64 v_head, T* y, i64 y_token, i64 y_head, const i32* query_offsets, const i32* key_offsets,
                                 const i32* pages, const float* slopes, i64 count, i64 queries, i64 keys, i64 columns, i64 page, i64 longest,
                                 i32 heads, i32 group, i32 d, i32 dv, i32 causal, i64 window, A scale, A cap, void* faults, i32 step) {
    release_successor();
    await_predecessor();
    Sequences all = {query_offsets, key_offsets, pages, count, queries, keys, columns, page, longest, faults, step};
    clear_others(all, y, y_token, y_head, heads, dv);
    for (i64 b = blockIdx.z; b < count; b += gridDim.z) {
        Sequence one;
        __syncthreads();
        if (!find(all, b, one)) continue;
        if (one.keys == 0) {  // by all blocks, those behind its end, too
            clear(y, y_token, y_head, one.query, one.query + one.queries, heads, dv);
            continue;
        }
        if (static_cast<i64>(blockIdx.x) * BR >= one.queries) continue;
        Problem at = {one.own(q, q_token, q_head), one.others(k, k_page, k_token, k_head, page), one.others(v, v_page, v_token, v_head, page),
                      one.own(y, y_token, y_head), group, d, dv, scale, SEEN_ALONE};
        attend(at, {nullptr, 0, 0, 0, 0, MASK_NONE, causal, window, one.queries, one.keys, cap, false, slopes}, 1);
    }
}
TENON_ENTRY(attention_ragged)
