// y = softmax(scale · q kᵀ, capped, masked) v on tensor cores, for heads of at most D elements, D one of 32, 64, 128 (FlashAttention-2,
// arXiv:2307.08691): 64 queries a block, 16 a warp, tiles of keys staged in shared memory, the next keys on their way while this tile's
// values are mixed. Sums in f32. Rows as in attention.cu with plain; keys that a mask keeps out must have finite values.
//
// Launch: 128 threads, grid (ceil(queries / 64), heads, min(batches, 65535)); dynamic shared memory for 64 queries
// and twice a tile's keys, in rows of D + 4 floats or D + 8 halves, and two floats a key. Rows of q, k, v and y start on 16-byte
// boundaries and d is a multiple of 16 bytes.
// Variants: TENON_T one of float (TF32), f16, bf16. From sm_80.
#include "attention.cuh"
#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
#include "attention_fragments.cuh"

typedef TENON_T T;
constexpr int WARPS = 4;
constexpr int QUERIES = 16 * WARPS;
constexpr float LOG2E = 1.4426950408889634f;

// Rows [from, from + ROWS) of a head; what lies beyond the last row or element is 0.
template <int D, int ROWS, int STRIDE>
__device__ __forceinline__ void fetch(T (*to)[STRIDE], Heads<const T> of, i64 b, i64 h, i64 from, i64 rows, int d) {
    constexpr int PACK = Widest<T>::value;
    constexpr int PACKS = D / PACK;
    for (int i = threadIdx.x; i < ROWS * PACKS; i += 32 * WARPS) {
        int r = i / PACKS;
        int c = i % PACKS * PACK;
        if (from + r < rows && c < d) {
            copy_async_16(&to[r][c], of.row(b, from + r, h) + c);
        } else {
            *reinterpret_cast<uint4*>(&to[r][c]) = make_uint4(0, 0, 0, 0);
        }
    }
}

// What is added to the scores of a tile of keys where all queries of a head see the same: the mask, in powers of 2; -inf past the last key.
template <int KEYS>
__device__ __forceinline__ void fetch_mask(float* to, const Seen<T, float>& seen, i64 b, i64 h, i64 from) {
    if (threadIdx.x < KEYS) {
        i64 key = from + threadIdx.x;
        float added = -TENON_INFINITY;
        if (key < seen.keys) {
            i64 at = b * seen.mask_batch + h * seen.mask_head + key * seen.mask_key;
            added = seen.kind == MASK_ADDED ? to_compute(static_cast<const T*>(seen.mask)[at]) * LOG2E : 0.0f;
        }
        to[threadIdx.x] = added;
    }
}

template <int D, int KEYS>
__device__ __forceinline__ void attend(Heads<const T> qs, Heads<const T> ks, Heads<const T> vs, Heads<T> ys, Seen<T, float> seen, i64 batches,
                                       int group, int d, float scale, int plain) {
    typedef Fragments<T, D> Frag;
    constexpr int STRIDE = Frag::STRIDE;
    TENON_DYNAMIC_SHARED(T, dynamic);
    T(*const own)[STRIDE] = reinterpret_cast<T(*)[STRIDE]>(dynamic);
    T(*const keys)[STRIDE] = own + QUERIES;
    T(*const values)[STRIDE] = keys + KEYS;
    float(*const masks)[KEYS] = reinterpret_cast<float(*)[KEYS]>(values + KEYS);  // of this tile of keys and the next
    release_successor();
    await_predecessor();
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    i64 h = blockIdx.y;
    i64 first = static_cast<i64>(blockIdx.x) * QUERIES;
    i64 last = first + QUERIES - 1 < seen.queries - 1 ? first + QUERIES - 1 : seen.queries - 1;
    i64 query = first + warp * 16 + lane / 4;  // and query + 8
    bool alike = !seen.causal && seen.window == 0 && seen.cap == 0.0f && (seen.kind == MASK_NONE || (seen.kind == MASK_ADDED && seen.mask_query == 0));
    for (i64 b = blockIdx.z; b < batches; b += gridDim.z) {
        i64 key = seen.first(first) / KEYS * KEYS;
        i64 end = seen.end(last);
        int turn = 0;
        __syncthreads();
        fetch<D, QUERIES, STRIDE>(own, qs, b, h, first, seen.queries, d);
        copy_async_commit();
        fetch<D, KEYS, STRIDE>(keys, ks, b, h / group, key, seen.keys, d);
        if (alike) fetch_mask<KEYS>(masks[turn], seen, b, h, key);
        copy_async_commit();
        fetch<D, KEYS, STRIDE>(values, vs, b, h / group, key, seen.keys, d);
        copy_async_commit();
        copy_async_wait<2>();
        __syncthreads();
        Frag frag;
        frag.load(own[warp * 16], lane);
        float o[D / 8][4] = {};
        float top[2] = {-TENON_INFINITY, -TENON_INFINITY};
        float total[2] = {0, 0};
        for (; key < end; key += KEYS) {
            float s[KEYS / 8][4] = {};
            copy_async_wait<1>();
            __syncthreads();
            frag.template scores<KEYS>(s, keys[0], lane);
            __syncthreads();
            fetch<D, KEYS, STRIDE>(keys, ks, b, h / group, key + KEYS, seen.keys, d);
            if (alike) fetch_mask<KEYS>(masks[turn ^ 1], seen, b, h, key + KEYS);
            copy_async_commit();
            float most[2] = {-TENON_INFINITY, -TENON_INFINITY};
#pragma unroll
            for (int n = 0; n < KEYS / 8; n++) {
                int column = n * 8 + lane % 4 * 2;
                if (alike) {
                    Pack<float, 2> added = *reinterpret_cast<const Pack<float, 2>*>(&masks[turn][column]);
#pragma unroll
                    for (int i = 0; i < 4; i++) s[n][i] = s[n][i] * (scale * LOG2E) + added.at[i % 2];
                } else {
#pragma unroll
                    for (int i = 0; i < 4; i++) {
                        i64 at = key + column + i % 2;
                        i64 row = query + i / 2 * 8;
                        bool inside = row < seen.queries && at < seen.keys;
                        s[n][i] = inside ? seen.score(s[n][i] * scale, b, h, row, at) * LOG2E : -TENON_INFINITY;
                    }
                }
#pragma unroll
                for (int i = 0; i < 4; i++) most[i / 2] = fmaxf(most[i / 2], s[n][i]);
            }
            turn ^= 1;
            float kept[2];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                most[i] = fmaxf(most[i], __shfl_xor_sync(0xffffffffu, most[i], 1));
                most[i] = fmaxf(most[i], __shfl_xor_sync(0xffffffffu, most[i], 2));
                float risen = fmaxf(top[i], most[i]);
                most[i] = risen == -TENON_INFINITY ? 0.0f : risen;
                kept[i] = fast_exp2(top[i] - most[i]);
                top[i] = risen;
                total[i] *= kept[i];
            }
#pragma unroll
            for (int n = 0; n < KEYS / 8; n++) {
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    s[n][i] = fast_exp2(s[n][i] - most[i / 2]);
                    total[i / 2] += s[n][i];
                }
            }
#pragma unroll
            for (int n = 0; n < D / 8; n++) {
#pragma unroll
                for (int i = 0; i < 4; i++) o[n][i] *= kept[i / 2];
            }
            copy_async_wait<1>();
            __syncthreads();
            frag.template mix<KEYS>(o, s, values[0], lane);
            __syncthreads();
            fetch<D, KEYS, STRIDE>(values, vs, b, h / group, key + KEYS, seen.keys, d);
            copy_async_commit();
        }
        copy_async_wait<0>();
#pragma unroll
        for (int i = 0; i < 2; i++) {
            total[i] += __shfl_xor_sync(0xffffffffu, total[i], 1);
            total[i] += __shfl_xor_sync(0xffffffffu, total[i], 2);
            i64 row = query + i * 8;
            bool none = seen.keys == 0 || (total[i] == 0.0f && !plain);
            float share = 1.0f / total[i];
            if (row < seen.queries) {
                T* to = ys.row(b, row, h);
#pragma unroll
                for (int n = 0; n < D / 8; n++) {
                    int c = n * 8 + lane % 4 * 2;
                    if (c < d) {
                        Pack<T, 2> pair;
                        pair.at[0] = From<T>::of(none ? 0.0f : o[n][2 * i] * share);
                        pair.at[1] = From<T>::of(none ? 0.0f : o[n][2 * i + 1] * share);
                        *reinterpret_cast<Pack<T, 2>*>(to + c) = pair;
                    }
                }
            }
        }
    }
}

#define ATTEND(D, KEYS) \
    attend<D, KEYS>({q, q_batch, q_token, q_head}, {k, k_batch, k_token, k_head}, {v, v_batch, v_token, v_head}, \
                    {y, y_batch, y_token, y_head}, {mask, m_batch, m_head, m_query, m_key, kind, causal, window, queries, keys, cap}, batches, \
                    group, d, scale, plain)
#else
typedef TENON_T T;
#define ATTEND(D, KEYS)
#endif

#define KERNEL(name, D, KEYS, BLOCKS)                                                                                                        \
    extern "C" __global__ void __launch_bounds__(128, BLOCKS) TENON_NAME(name)(                                                                \
        const T* q, i64 q_batch, i64 q_token, i64 q_head, const T* k, i64 k_batch, i64 k_token, i64 k_head, const T* v, i64 v_batch,       \
        i64 v_token, i64 v_head, T* y, i64 y_batch, i64 y_token, i64 y_head, const void* mask, i64 m_batch, i64 m_head, i64 m_query,       \
        i64 m_key, i64 batches, i32 group, i64 queries, i64 keys, i32 d, i32 dv, i32 kind, i32 causal, i64 window, float scale, float cap, \
        i32 plain) {                                                                                                                      \
        ATTEND(D, KEYS);                                                                                                                  \
    }                                                                                                                                     \
    TENON_ENTRY(name)

KERNEL(attention_mma_32, 32, 64, 4)
KERNEL(attention_mma_64, 64, 64, 3)
KERNEL(attention_mma_128, 128, 32, 2)
