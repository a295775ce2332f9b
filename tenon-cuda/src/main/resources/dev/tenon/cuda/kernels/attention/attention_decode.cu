// y = softmax(scale · q kᵀ, capped, masked) v for few queries and many keys, at the pace of memory (Flash-Decoding, split keys): the queries
// of all heads that share keys, 16 rows of them a block, read keys and values once. A warp takes 16 keys at a time through a ring of its own
// in shared memory, with products on tensor cores; warps, then blocks, are put together in their order. Sums in f32. Rows as in attention.cu;
// those whose sums are NaN are made again by their definition.
//
// Row r of a key head is query r % queries of its head r / queries; tiles are 16 rows.
// Launch: 32 WARPS threads, grid (splits, key heads times tiles, min(batches, 65535)); dynamic shared memory: 16 rows for queries and
// 32 WARPS STAGES for keys and values, of D + 8 halves or D + 4 floats; at most 256 splits.
// With splits > 1 each block leaves its sums in `partial`, 16 (D + 2) floats of each of [batches, key heads times tiles, splits]; the last
// of a tile to arrive, by `counters` (one a tile, 0 before and after), puts them together.
// packed: rows of q, k, v and y start on 16-byte boundaries, d and dv are multiples of 16 bytes; else elements are staged one by one.
// Variants: TENON_T one of f16 (sm_75), bf16, float (TF32; sm_80); TENON_D one of 32, 64, 96, 128, 256.
#include "attention_split.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    TENON_NAME(attention_decode)(const T* q, i64 q_batch, i64 q_token, i64 q_head, const T* k, i64 k_batch, i64 k_token, i64 k_head, const T* v,
                                 i64 v_batch, i64 v_token, i64 v_head, T* y, i64 y_batch, i64 y_token, i64 y_head, const void* mask, i64 m_batch,
                                 i64 m_head, i64 m_query, i64 m_key, i64 batches, i32 group, i64 queries, i64 keys, i32 d, i32 dv, i32 kind,
                                 i32 causal, i64 window, float scale, float cap, i32 formula, i32 packed, float* partial, u32* counters) {
#if __CUDA_ARCH__ >= TENON_FROM || TENON_EMULATED
    Decode at = {{q, q_batch, q_token, q_head}, {k, k_batch, k_token, k_head}, {v, v_batch, v_token, v_head}, {y, y_batch, y_token, y_head},
                 group, static_cast<int>(queries), d, dv, scale, formula == PLAIN, packed != 0};
    decode(at, {mask, m_batch, m_head, m_query, m_key, kind, causal, window, queries, keys, cap, formula == GUARDED}, batches, partial, counters);
#endif
}
TENON_ENTRY(attention_decode)
