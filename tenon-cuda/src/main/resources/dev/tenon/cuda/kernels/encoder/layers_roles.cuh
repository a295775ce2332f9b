// What blocks of layers_tile.cu do: products of rows, parts of sums, and the sums of these.
#pragma once
#include "layers_attention.cuh"

constexpr int HIDDEN = TENON_HIDDEN;
constexpr int TEAM = 16;                                    // warps of a block
constexpr int ALL = 32 * TEAM;
constexpr int SPLITS = TEAM / GROUPS;                       // of k, in products of whole rows
constexpr int OWN_CHUNKS = HIDDEN / CHUNK / SPLITS;         // of a warp there
constexpr int WIDE = HIDDEN + (HIDDEN % (2 * CHUNK) == 0 ? CHUNK : 0);
constexpr int HEAD_TILES = 3 * HEAD / COLUMNS / GROUPS;     // column tiles of a warp in q, k and v of a head
constexpr int UP = 64;                                      // columns of a block's part of the feed-forward
constexpr int UP_TILES = UP / COLUMNS / GROUPS;
constexpr int WIDE_UP = UP + CHUNK;
constexpr int ROW_TILES = HIDDEN / COLUMNS / TEAM;          // column tiles of a warp in parts of sums
constexpr int ROW_PARTS = TILE * HIDDEN;                    // elements of a part
constexpr int ROW_QUADS = HIDDEN / FOUR;
constexpr int LANE_QUADS = ROW_QUADS / 32;
constexpr int AT_ONCE = 6;                                  // parts that a thread asks for at a time

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
// Where the words of a tile lie: rows that the first layer reads, then of each layer what heads add to rows, the rows, what the feed-forward adds, rows.
struct TileWords {
    static constexpr int ROWS = ROW_PARTS * static_cast<int>(sizeof(T)) / 4;

    u32* mixed;   // [heads, 16, hidden] of float
    T* first;     // [16, hidden]
    u32* middle;  // [parts, 16, hidden] of float
    T* second;    // [16, hidden]

    __device__ __forceinline__ TileWords(const Encoder& e, int tile, int layer) {
        int parts = e.inner / UP;
        mixed = start(e, tile) + ROWS + static_cast<i64>(layer) * ((e.heads + parts) * ROW_PARTS + 2 * ROWS);
        first = reinterpret_cast<T*>(mixed + e.heads * ROW_PARTS);
        middle = reinterpret_cast<u32*>(first) + ROWS;
        second = reinterpret_cast<T*>(middle + parts * ROW_PARTS);
    }

    static __device__ __forceinline__ u32* start(const Encoder& e, int tile) { return reinterpret_cast<u32*>(e.words) + tile * all(e); }

    // Of all layers.
    static __device__ __forceinline__ i64 all(const Encoder& e) {
        return ROWS + static_cast<i64>(e.layers) * ((e.heads + e.inner / UP) * ROW_PARTS + 2 * ROWS);
    }
};

__device__ __forceinline__ uint4 four_of(u32 v) { return make_uint4(v, v, v, v); }

// The tile's rows to shared memory; zeros past the last. Only what is missing is looked for again.
__device__ __forceinline__ void stage_rows(T* to, const T* from, int rows, bool waits) {
    constexpr int PACKS = TILE * HIDDEN / V, EACH = (PACKS + ALL - 1) / ALL;
    const uint4* packs = reinterpret_cast<const uint4*>(from) + threadIdx.x;
    uint4 v[EACH];
#pragma unroll
    for (int e = 0; e < EACH; e++) v[e] = four_of(static_cast<int>(threadIdx.x) + e * ALL < rows * (HIDDEN / V) ? NOT_YET : 0);
    bool missing;
#pragma unroll 1
    do {
        missing = false;
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            if (is_missing(v[e])) v[e] = load_handed(packs + e * ALL);
        }
#pragma unroll
        for (int e = 0; e < EACH; e++) missing |= is_missing(v[e]);
        missing &= waits;
        if (missing) look_again();
    } while (missing);
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        int i = static_cast<int>(threadIdx.x) + e * ALL;
        if (i < PACKS) *reinterpret_cast<uint4*>(to + i / (HIDDEN / V) * WIDE + i % (HIDDEN / V) * V) = v[e];
    }
}

// A warp's pieces, on their way into registers.
template <int N>
__device__ __forceinline__ void ask(uint4 (&to)[N], const T* weights, int item) {
    const uint4* from = reinterpret_cast<const uint4*>(weights) + (item * TEAM + static_cast<int>(threadIdx.x) / 32) * N * 32 + threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < N; i++) to[i] = load_ahead(from + i * 32);
}

// The products of the rows with a block's columns: sums of each part of k, [column tile, split, 16, 8].
template <int TILES>
__device__ __forceinline__ void multiply_whole(const T* rows, const uint4 (&weights)[TILES * OWN_CHUNKS], float* cells) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = warp % GROUPS, split = warp / GROUPS;
    const T* low = rows + lane / 4 * WIDE + split * OWN_CHUNKS * CHUNK + lane % 4 * V;
    float sums[TILES][4] = {};
#pragma unroll
    for (int c = 0; c < OWN_CHUNKS; c++) {
        uint4 a = *reinterpret_cast<const uint4*>(low + c * CHUNK), b = *reinterpret_cast<const uint4*>(low + 8 * WIDE + c * CHUNK);
#pragma unroll
        for (int j = 0; j < TILES; j++) multiply(sums[j], a, b, weights[c * TILES + j], T());
    }
#pragma unroll
    for (int j = 0; j < TILES; j++) {
        float2* to = reinterpret_cast<float2*>(cells + ((group * TILES + j) * SPLITS + split) * CELLS) + lane;
        to[0] = make_float2(sums[j][0], sums[j][1]);
        to[32] = make_float2(sums[j][2], sums[j][3]);
    }
}

// What a block's columns of rows add to sums of all columns, for the blocks that add up.
template <int CHUNKS>
__device__ __forceinline__ void multiply_part(const T* rows, int wide, const uint4 (&weights)[ROW_TILES * CHUNKS], u32* to, int there) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = lane / 4;
    const T* low = rows + row * wide + lane % 4 * V;
    float sums[ROW_TILES][4] = {};
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        uint4 a = *reinterpret_cast<const uint4*>(low + c * CHUNK), b = *reinterpret_cast<const uint4*>(low + 8 * wide + c * CHUNK);
#pragma unroll
        for (int j = 0; j < ROW_TILES; j++) multiply(sums[j], a, b, weights[c * ROW_TILES + j], T());
    }
    u32* at = to + row * HIDDEN + warp * ROW_TILES * COLUMNS + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        if (row + 8 * i >= there) break;
#pragma unroll
        for (int j = 0; j < ROW_TILES; j++) {
            store_handed(reinterpret_cast<uint2*>(at + 8 * i * HIDDEN + j * COLUMNS),
                         make_uint2(sealed(__float_as_uint(sums[j][2 * i])), sealed(__float_as_uint(sums[j][2 * i + 1]))));
        }
    }
}

// A row's parts added up, by all threads: four sums of every fourth part, [4, hidden].
__device__ __forceinline__ void add_row_parts(float* sums, const u32* parts, int count, int row) {
    int warp = threadIdx.x / 32, group = warp / (TEAM / 4), at = warp % (TEAM / 4) * 32 + threadIdx.x % 32;
    if (at >= ROW_QUADS) return;
    const uint4* from = reinterpret_cast<const uint4*>(parts + row * HIDDEN) + at;
    constexpr int PART = ROW_PARTS / 4;
    float sum[4] = {};
#pragma unroll 1
    for (int first = group; first < count; first += 4 * AT_ONCE) {
        uint4 v[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) v[i] = four_of(first + 4 * i < count ? NOT_YET : 0);
        bool missing;
#pragma unroll 1
        do {
            missing = false;
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) {
                if (is_missing(v[i])) v[i] = load_handed(from + (first + 4 * i) * PART);
            }
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) missing |= is_missing(v[i]);
            if (missing) look_again();
        } while (missing);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            sum[0] += __uint_as_float(v[i].x);
            sum[1] += __uint_as_float(v[i].y);
            sum[2] += __uint_as_float(v[i].z);
            sum[3] += __uint_as_float(v[i].w);
        }
    }
    reinterpret_cast<float4*>(sums)[group * ROW_QUADS + at] = make_float4(sum[0], sum[1], sum[2], sum[3]);
}

// A row in a warp's registers: quads of columns, 32 apart.
struct Row {
    float v[LANE_QUADS][4];

    __device__ __forceinline__ void load(const T* from) {
#pragma unroll
        for (int c = 0; c < LANE_QUADS; c++) {
            Pack<T, FOUR> pack = load_pack<T, FOUR>(from, threadIdx.x % 32 + 32 * c);
#pragma unroll
            for (int i = 0; i < 4; i++) v[c][i] = to_compute(pack.at[i]);
        }
    }

    __device__ __forceinline__ void add(const float* sums) {
        const float4* from = reinterpret_cast<const float4*>(sums) + threadIdx.x % 32;
#pragma unroll
        for (int c = 0; c < LANE_QUADS; c++) {
            float whole[4] = {};
#pragma unroll
            for (int g = 0; g < 4; g++) {
                float4 part = from[g * ROW_QUADS + 32 * c];
                whole[0] += part.x, whole[1] += part.y, whole[2] += part.z, whole[3] += part.w;
            }
#pragma unroll
            for (int i = 0; i < 4; i++) v[c][i] += whole[i];
        }
    }

    __device__ __forceinline__ void add(const Pack<T, FOUR> (&addends)[LANE_QUADS]) {
#pragma unroll
        for (int c = 0; c < LANE_QUADS; c++) {
#pragma unroll
            for (int i = 0; i < 4; i++) v[c][i] += to_compute(addends[c].at[i]);
        }
    }

    // In one pass about the first element: what that cancels stays far below the rounding of T.
    __device__ __forceinline__ void norm(const Pack<T, FOUR> (&scale)[LANE_QUADS], const Pack<T, FOUR> (&shift)[LANE_QUADS], float epsilon) {
        constexpr float SHARE = 1.0f / HIDDEN;
        float sum = 0, squares = 0, pivot = __shfl_sync(0xffffffffu, v[0][0], 0);
#pragma unroll
        for (int c = 0; c < LANE_QUADS; c++) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                v[c][i] -= pivot;
                sum += v[c][i];
                squares = fmaf(v[c][i], v[c][i], squares);
            }
        }
#pragma unroll
        for (int apart = 16; apart > 0; apart /= 2) {
            sum += __shfl_xor_sync(0xffffffffu, sum, apart);
            squares += __shfl_xor_sync(0xffffffffu, squares, apart);
        }
        float mean = sum * SHARE, variance = fmaf(-mean, mean, squares * SHARE);
        float by = fast_reciprocal(sqrtf((variance < 0 ? 0 : variance) + epsilon));
#pragma unroll
        for (int c = 0; c < LANE_QUADS; c++) {
#pragma unroll
            for (int i = 0; i < 4; i++) v[c][i] = fmaf((v[c][i] - mean) * by, to_compute(scale[c].at[i]), to_compute(shift[c].at[i]));
        }
    }

    // For other blocks.
    __device__ __forceinline__ void hand(T* to) const {
#pragma unroll
        for (int c = 0; c < LANE_QUADS; c++) store_handed(reinterpret_cast<uint2*>(to) + threadIdx.x % 32 + 32 * c, pack_four(v[c], T()));
    }

    // The launch's result.
    __device__ __forceinline__ void store(void* to, i64 at, bool wide) const {
#pragma unroll
        for (int c = 0; c < LANE_QUADS; c++) {
            int quad = static_cast<int>(threadIdx.x) % 32 + 32 * c;
            if (wide) {
                reinterpret_cast<float4*>(static_cast<float*>(to) + at)[quad] = make_float4(v[c][0], v[c][1], v[c][2], v[c][3]);
            } else {
                reinterpret_cast<uint2*>(static_cast<T*>(to) + at)[quad] = pack_four(v[c], T());
            }
        }
    }
};

__device__ __forceinline__ void load_quads(Pack<T, FOUR> (&to)[LANE_QUADS], const T* from) {
#pragma unroll
    for (int c = 0; c < LANE_QUADS; c++) to[c] = load_pack<T, FOUR>(from, threadIdx.x % 32 + 32 * c);
}
#endif
