// Makes rows of a causal attention again by their definition (attention.cu) after a library made y, for which 0 times a value that is not
// finite is NaN where a key that is not seen has no part. Such a value shows in the last row of its head, which sees all keys: heads whose
// last row is finite are left alone, and of others the rows that have a NaN are made again.
//
// Launch: 128 threads, grid (any number of parts of a head's rows, heads, min(batches, 65535)). At most 256 elements of a value.
// Variants: TENON_T one of f16, bf16.
#include "attention.cuh"

typedef TENON_T T;
constexpr int WARPS = 4;

extern "C" __global__ void __launch_bounds__(128)
    TENON_NAME(attention_repair)(const T* q, i64 q_batch, i64 q_token, i64 q_head, const T* k, i64 k_batch, i64 k_token, i64 k_head, const T* v,
                                 i64 v_batch, i64 v_token, i64 v_head, T* y, i64 y_batch, i64 y_token, i64 y_head, const void* mask, i64 m_batch,
                                 i64 m_head, i64 m_query, i64 m_key, i64 batches, i32 group, i64 queries, i64 keys, i32 d, i32 dv, i32 kind,
                                 i32 causal, i64 window, float scale, float cap, i32 formula) {
    release_successor();
    await_predecessor();
    Heads<const T> qs = {q, q_batch, q_token, q_head};
    Heads<const T> ks = {k, k_batch, k_token, k_head};
    Heads<const T> vs = {v, v_batch, v_token, v_head};
    Heads<T> ys = {y, y_batch, y_token, y_head};
    Seen<T, float> seen = {mask, m_batch, m_head, m_query, m_key, kind, causal, window, queries, keys, cap, false};
    int lane = threadIdx.x % 32;
    i64 h = blockIdx.y;
    i64 key_head = static_cast<int>(blockIdx.y) / group;
    for (i64 b = blockIdx.z; b < batches; b += gridDim.z) {
        const T* last = ys.row(b, queries - 1, h);
        bool finite = true;
        for (int c = threadIdx.x; c < dv; c += blockDim.x) finite = finite && fabsf(to_compute(last[c])) <= LARGEST;
        if (!__syncthreads_or(!finite)) continue;
        // the last row is made by its definition already: nothing is kept from it
        for (i64 row = blockIdx.x * WARPS + threadIdx.x / 32; row < queries - 1; row += gridDim.x * WARPS) {
            const T* at = ys.row(b, row, h);
            bool odd = false;
            for (int c = lane; c < dv; c += 32) {
                float value = to_compute(at[c]);
                odd = odd || value != value;
            }
            if (__any_sync(0xffffffffu, odd)) attend_row(qs, ks, vs, ys, seen, b, h, key_head, row, d, dv, scale);
        }
    }
}
TENON_ENTRY(attention_repair)
