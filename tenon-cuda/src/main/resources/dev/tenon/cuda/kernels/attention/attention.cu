// y = softmax(scale · q kᵀ, capped, masked) v for each head, any head size: the online softmax over tiles of 32 keys (Milakov and
// Gimelshein, arXiv:1805.02867), 16 queries a block, 8 threads a query. Sums in f32, of double in double.
//
// What keys that a query does not see count for is the formula of attention.cuh: as SEEN_ALONE they
// have no part in its row, and a row without keys is 0.
//
// Launch: 128 threads, grid (ceil(queries / 16), heads, min(batches, 65535)); dynamic shared memory 16·(d + dv) computed elements.
// Variants: TENON_T one of float, double, f16, bf16.
#include "attention_plain.cuh"

extern "C" __global__ void __launch_bounds__(128)
    TENON_NAME(attention)(const T* q, i64 q_batch, i64 q_token, i64 q_head, const T* k, i64 k_batch, i64 k_token, i64 k_head, const T* v,
                          i64 v_batch, i64 v_token, i64 v_head, T* y, i64 y_batch, i64 y_token, i64 y_head, const void* mask, i64 m_batch,
                          i64 m_head, i64 m_query, i64 m_key, i64 batches, i32 group, i64 queries, i64 keys, i32 d, i32 dv, i32 kind,
                          i32 causal, i64 window, A scale, A cap, i32 formula) {
    Problem at = {{q, q_batch, q_token, q_head}, {k, k_batch, k_token, k_head}, {v, v_batch, v_token, v_head}, {y, y_batch, y_token, y_head},
                  group, d, dv, scale, formula};
    attend(at, {mask, m_batch, m_head, m_query, m_key, kind, causal, window, queries, keys, cap, formula == GUARDED}, batches);
}
TENON_ENTRY(attention)
