// y = softmax(scale · q kᵀ, capped, masked) v on tensor cores, for heads of at most D elements (FlashAttention-2, arXiv:2307.08691): QUERIES
// queries a block, ROWS times 16 a warp, tiles of keys staged in shared memory, the next tile on its way while this one is worked on.
// Sums in f32, for heads of at most 64 halves of rounded weights. Rows as in attention.cu: a row whose sums are NaN is made again by its
// definition, for a key that is not seen may have values that are not finite.
//
// Launch: 32 WARPS threads, grid (ceil(queries / QUERIES), heads, min(batches, 65535)); dynamic shared memory for QUERIES queries and four
// times a tile's keys, in rows of D + 4 floats or D + 8 halves, and two floats a key.
// packed: rows of q, k, v and y start on 16-byte boundaries, d and dv are multiples of 16 bytes; else elements are staged one by one.
// Variants: TENON_T one of f16 (sm_75), bf16, float (TF32; sm_80); TENON_D one of 32, 64, 96, 128, 256; the shape of tiles.
#include "attention_tile.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    TENON_NAME(attention_mma)(const T* q, i64 q_batch, i64 q_token, i64 q_head, const T* k, i64 k_batch, i64 k_token, i64 k_head, const T* v,
                              i64 v_batch, i64 v_token, i64 v_head, T* y, i64 y_batch, i64 y_token, i64 y_head, const void* mask, i64 m_batch,
                              i64 m_head, i64 m_query, i64 m_key, i64 batches, i32 group, i64 queries, i64 keys, i32 d, i32 dv, i32 kind,
                              i32 causal, i64 window, float scale, float cap, i32 formula, i32 packed) {
#if __CUDA_ARCH__ >= TENON_FROM || TENON_EMULATED
    Problem at = {{q, q_batch, q_token, q_head}, {k, k_batch, k_token, k_head}, {v, v_batch, v_token, v_head}, {y, y_batch, y_token, y_head},
                  d, dv, scale, formula == PLAIN, packed != 0};
    attend(at, {mask, m_batch, m_head, m_query, m_key, kind, causal, window, queries, keys, cap, formula == GUARDED}, batches, group);
#endif
}
TENON_ENTRY(attention_mma)
