// y = softmax(scale · q kᵀ, masked) v on tensor cores, for few keys and heads of at most D elements: all keys and values of a head lie in
// shared memory, 128 queries of it a block, 16 a warp at a time. Copies of one block go on while others of its multiprocessor compute.
// Nothing is causal. Masks differ by key, or with EACH by query and key. Sums in f32; those of weights are made of rounded
// weights, for halves on tensor cores as well. Rows as in attention.cu; those whose sums are NaN are made again by their definition.
//
// Launch: 32 WARPS threads, grid (ceil(queries / 128), heads, min(batches, 65535)); dynamic shared memory for the rows of min(128, queries)
// queries and twice those of all keys, both in tiles of 64, each of D + 4 floats or D + 8 halves; and a float a key.
// Rows of q, k, v and y start on 16-byte boundaries, d and dv are multiples of 16 bytes.
// Variants: TENON_T one of f16 (sm_75), bf16, float (TF32; sm_80); TENON_D one of 32, 64; TENON_WARPS; TENON_EACH; TENON_BLOCKS of a
// multiprocessor, by registers.
#include "attention_rows.cuh"
#if __CUDA_ARCH__ >= 750 || TENON_EMULATED
#include "attention_fragments.cuh"
#endif

typedef TENON_T T;
constexpr int D = TENON_D;
constexpr int WARPS = TENON_WARPS;
constexpr int THREADS = 32 * WARPS;
constexpr int ROWS = 1;  // 16s of queries of a warp: 2 take as long
constexpr bool EACH = TENON_EACH;  // each query has its own mask
constexpr int QUERIES = 128;
constexpr int TILE = 64;
constexpr int KEYS = TILE;  // of a step

#if __CUDA_ARCH__ >= TENON_FROM || TENON_EMULATED
typedef Fragments<T, D, ROWS, true> Frag;
constexpr int STRIDE = Frag::STRIDE;

struct Problem {
    Heads<const T> qs;
    Heads<const T> ks;
    Heads<const T> vs;
    Heads<T> ys;
    int group;
    int d;
    int dv;
    float scale;
    bool plain;
};

// `rows` rows of a head, which begins at `from`, in tiles; those past `there` and what lies beyond d are 0.
__device__ __forceinline__ void fetch(T (*to)[STRIDE], const T* from, i64 token, int rows, int there, int d) {
    constexpr int PACK = Widest<T>::value;
    constexpr int PACKS = D / PACK;
    constexpr int DOWN = THREADS / PACKS;
    int row = threadIdx.x / PACKS;
    int c = threadIdx.x % PACKS * PACK;
    const T* source = from + row * token + c;
    i64 step = DOWN * token;
    T* target = &to[row][c];
    int left = c < d ? there - row : 0;
#pragma unroll 1
    for (int tile = 0; tile < rows; tile += TILE) {
#pragma unroll
        for (int i = 0; i < TILE / DOWN; i++) {
            bool real = i * DOWN < left;
            copy_async_16_if(target + i * DOWN * STRIDE, real ? source : from, real);
            source += step;
        }
        left -= TILE;
        target += TILE * STRIDE;
    }
}

// 16 ROWS rows of a warp: sums of weighted values, and of weights.
struct Rows {
    float top[ROWS][2];
    float o[ROWS][D / 8][4];
    float sums[ROWS][4];  // of weights; finish() makes them totals, of two rows in 0 and 2

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                top[r][e / 2] = -TENON_INFINITY;
                sums[r][e] = 0;
            }
#pragma unroll
            for (int n = 0; n < D / 8; n++) {
#pragma unroll
                for (int e = 0; e < 4; e++) o[r][n][e] = 0;
            }
        }
    }

    // Scores, in powers of 2 of `factor`, to weights. Tops move where scores rise above them by more than SLACK (attention_rows.cuh), and what was
    // summed of earlier keys goes down then.
    __device__ __forceinline__ void weigh(float (&s)[ROWS][KEYS / 8][4], float factor, bool first) {
        float most[ROWS][2];
        bool higher = first;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int i = 0; i < 2; i++) {
                constexpr int CHAINS = 4;
                float tops[CHAINS];
#pragma unroll
                for (int c = 0; c < CHAINS; c++) tops[c] = fmaxf(s[r][c][2 * i], s[r][c][2 * i + 1]);
#pragma unroll
                for (int n = CHAINS; n < KEYS / 8; n++) tops[n % CHAINS] = fmaxf(tops[n % CHAINS], fmaxf(s[r][n][2 * i], s[r][n][2 * i + 1]));
                most[r][i] = fmaxf(fmaxf(tops[0], tops[1]), fmaxf(tops[2], tops[3]));
                higher = higher || most[r][i] * factor > top[r][i] * factor + Running<ROWS>::SLACK;
            }
        }
        if (__any_sync(0xffffffffu, higher)) move(most, factor, first);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int i = 0; i < 2; i++) {
                float base = (top[r][i] == -TENON_INFINITY ? 0.0f : top[r][i]) * factor;
#pragma unroll
                for (int n = 0; n < KEYS / 8; n++) {
#pragma unroll
                    for (int e = 0; e < 2; e++) s[r][n][2 * i + e] = fast_exp2(s[r][n][2 * i + e] * factor - base);
                }
            }
        }
    }

    __device__ __forceinline__ void move(const float (&most)[ROWS][2], float factor, bool first) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int i = 0; i < 2; i++) {
                float highest = fmaxf(most[r][i], __shfl_xor_sync(0xffffffffu, most[r][i], 1));
                highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, 2));
                highest = fmaxf(highest, top[r][i]);
                if (!first) {
                    float kept = fast_exp2((top[r][i] - (highest == -TENON_INFINITY ? 0.0f : highest)) * factor);
                    sums[r][2 * i] *= kept;
#pragma unroll
                    for (int n = 0; n < D / 8; n++) {
                        o[r][n][2 * i] *= kept;
                        o[r][n][2 * i + 1] *= kept;
                    }
                }
                top[r][i] = highest;
            }
        }
    }
};

// A lane's results of a row's 32 columns from c0 on, 16 bytes a store.
template <typename E>
__device__ __forceinline__ void store_columns(E* to, int c0, int dv, const float (&v)[4][2], bool there) {
    u32 words[4];
#pragma unroll
    for (int j = 0; j < 4; j++) words[j] = to_pair(v[j][0], v[j][1], E());
    transpose_4(words);
    int c = c0 + threadIdx.x % 4 * 8;
    if (there && c < dv) store_16(to + c, words);
}

__device__ __forceinline__ void store_columns(float* to, int c0, int dv, const float (&v)[4][2], bool there) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
        int c = c0 + j * 8 + threadIdx.x % 4 * 2;
        if (there && c < dv) *reinterpret_cast<float2*>(to + c) = make_float2(v[j][0], v[j][1]);
    }
}

// Rows whose results are not numbers again, by their definition.
__device__ __forceinline__ void mend(const Problem& at, const Seen<T, float>& seen, const Rows& rows, i64 b, i64 h, i64 first) {
    bool odd = false;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
#pragma unroll
        for (int n = 0; n < D / 8; n++) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                float v = rows.o[r][n][e] * rows.sums[r][e / 2 * 2];
                bool there = first + r * 16 + e / 2 * 8 + threadIdx.x % 32 / 4 < seen.queries;
                odd = odd || (there && v != v);
            }
        }
    }
    if (!__any_sync(0xffffffffu, odd)) return;
    __syncwarp();
    Problem here = at;  // copies, so that the originals need not lie in memory
    Seen<T, float> rules = seen;
#pragma unroll 1
    for (i64 row = first; row < first + 16 * ROWS && row < seen.queries; row++) {
        attend_row(here.qs, here.ks, here.vs, here.ys, rules, b, h, h / at.group, row, at.d, at.dv, at.scale);
    }
}

__device__ __forceinline__ void store(const Problem& at, const Seen<T, float>& seen, Rows& rows, i64 b, i64 h, i64 first) {
    int lane = threadIdx.x % 32;
    int left = static_cast<int>(seen.queries - first < 16 * ROWS ? seen.queries - first : 16 * ROWS);
    T* y = at.ys.row(b, first + lane / 4, h);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        Frag::finish(rows.sums[r]);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int row = r * 16 + i * 8;
            float total = seen.divisor(rows.sums[r][2 * i]);
            float share = total == 0.0f && (seen.keys == 0 || !at.plain) ? 0.0f : fast_reciprocal(total);
            rows.sums[r][2 * i] = share;
            T* to = y + row * at.ys.token;
#pragma unroll
            for (int n = 0; n < D / 8; n += 4) {
                float v[4][2];
#pragma unroll
                for (int j = 0; j < 4; j++) {
#pragma unroll
                    for (int e = 0; e < 2; e++) v[j][e] = rows.o[r][n + j][2 * i + e] * share;
                }
                store_columns(to, n * 8, at.dv, v, row + lane / 4 < left);
            }
        }
    }
    if (!at.plain) mend(at, seen, rows, b, h, first);
}

// Products to scores of the keys from `key` on, in powers of 2: scaled, and with what is added to each key.
__device__ __forceinline__ void mask_scores(float (&s)[ROWS][KEYS / 8][4], float scale, const float* masks, int key) {
#pragma unroll
    for (int n = 0; n < KEYS / 8; n++) {
        Pack<float, 2> more = *reinterpret_cast<const Pack<float, 2>*>(masks + key + n * 8 + threadIdx.x % 4 * 2);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int e = 0; e < 4; e++) s[r][n][e] = s[r][n][e] * scale + more.at[e % 2];
        }
    }
}

// The same with masks of the queries from `first` on.
__device__ __forceinline__ void mask_each(float (&s)[ROWS][KEYS / 8][4], float scale, const Seen<T, float>& seen, i64 b, i64 h, i64 first, int key) {
    int column = key + threadIdx.x % 4 * 2;
    int keys = static_cast<int>(seen.keys);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            i64 query = first + r * 16 + i * 8 + threadIdx.x % 32 / 4;
            query = query < seen.queries ? query : seen.queries - 1;
            i64 from = b * seen.mask_batch + h * seen.mask_head + query * seen.mask_query;
#pragma unroll
            for (int n = 0; n < KEYS / 8; n++) {
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    int k = column + n * 8 + e;
                    float more = -TENON_INFINITY;
                    if (k < keys) {
                        i64 element = from + k * seen.mask_key;
                        if (seen.kind == MASK_BOOLEAN) {
                            more = static_cast<const u8*>(seen.mask)[element] != 0 ? 0.0f : more;
                        } else {
                            more = in_powers_of_2(to_compute(static_cast<const T*>(seen.mask)[element]));
                        }
                    }
                    s[r][n][2 * i + e] = s[r][n][2 * i + e] * scale + more;
                }
            }
        }
    }
}

__device__ __forceinline__ void attend(const Problem& at, const Seen<T, float>& seen, i64 batches) {
    TENON_DYNAMIC_SHARED(T, dynamic);
    i64 first = static_cast<i64>(blockIdx.x) * QUERIES;
    int queries = static_cast<int>(seen.queries - first < QUERIES ? seen.queries - first : QUERIES);
    int staged = seen.queries <= TILE ? TILE : QUERIES;
    int keys = static_cast<int>(seen.keys);
    int all = (keys + TILE - 1) / TILE * TILE;
    T(*const own)[STRIDE] = reinterpret_cast<T(*)[STRIDE]>(dynamic);
    T(*const others)[STRIDE] = own + staged;
    T(*const values)[STRIDE] = others + all;
    float* const masks = reinterpret_cast<float*>(values + all);
    release_successor();
    await_predecessor();
    int lane = threadIdx.x % 32;
    i64 h = blockIdx.y;
    i64 key_head = static_cast<int>(blockIdx.y) / at.group;
    for (i64 b = blockIdx.z; b < batches; b += gridDim.z) {
        __syncthreads();
        fetch(own, at.qs.row(b, first, h), at.qs.token, staged, queries, at.d);
        fetch(others, at.ks.row(b, 0, key_head), at.ks.token, all, keys, at.d);
        fetch(values, at.vs.row(b, 0, key_head), at.vs.token, all, keys, at.dv);
        copy_async_commit();
        bool masked = EACH || at.scale <= 0.0f;
        for (int key = threadIdx.x; !EACH && key < all; key += THREADS) {
            float more = added(seen, b, h, key);
            masks[key] = more;
            masked = masked || more != 0.0f;
        }
        copy_async_wait<0>();
        masked = __syncthreads_or(masked);  // else products are scores, in powers of 2 of a factor
        float scale = at.scale * LOG2E;
        float factor = masked ? 1.0f : scale;
#pragma unroll 1
        for (int row = threadIdx.x / 32 * 16 * ROWS; row < queries; row += 16 * ROWS * WARPS) {
            Frag frag;
            frag.keep(own[row], lane);
            Rows rows;
            rows.clear();
#pragma unroll 1
            for (int key = 0; key < all; key += KEYS) {
                float s[ROWS][KEYS / 8][4] = {};
                frag.template scores<KEYS>(s, own[row], others[key], lane);
                if (EACH) {
                    mask_each(s, scale, seen, b, h, first + row, key);
                } else if (masked) {
                    mask_scores(s, scale, masks, key);
                }
                rows.weigh(s, factor, key == 0);
                frag.template mix<KEYS>(rows.o, s, values[key], lane);
#pragma unroll
                for (int r = 0; r < ROWS; r++) Frag::template total<KEYS>(rows.sums[r], s[r]);
            }
            store(at, seen, rows, b, h, first + row);
        }
    }
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, TENON_BLOCKS)
    TENON_NAME(attention_short)(const T* q, i64 q_batch, i64 q_token, i64 q_head, const T* k, i64 k_batch, i64 k_token, i64 k_head, const T* v,
                                i64 v_batch, i64 v_token, i64 v_head, T* y, i64 y_batch, i64 y_token, i64 y_head, const void* mask,
                                i64 m_batch, i64 m_head, i64 m_query, i64 m_key, i64 batches, i32 group, i64 queries, i64 keys, i32 d, i32 dv,
                                i32 kind, i32 causal, i64 window, float scale, float cap, i32 formula) {
#if __CUDA_ARCH__ >= TENON_FROM || TENON_EMULATED
    Problem at = {{q, q_batch, q_token, q_head}, {k, k_batch, k_token, k_head}, {v, v_batch, v_token, v_head}, {y, y_batch, y_token, y_head},
                  group, d, dv, scale, formula == PLAIN};
    attend(at, {mask, m_batch, m_head, m_query, m_key, kind, causal, window, queries, keys, cap, formula == GUARDED}, batches);
#endif
}
TENON_ENTRY(attention_short)
