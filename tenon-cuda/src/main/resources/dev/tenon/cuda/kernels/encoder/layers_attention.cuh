// Attention within a kernel of an encoder's layers: 16 queries of a head by one block, a warp 16 keys. Of a sequence that is longer than a tile, keys and
// values come from the blocks that have the same head of other tiles.
#pragma once
#include "layers_words.cuh"

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
// Where a tile's queries, keys and values are, what is added to scores, and where results go.
struct Tile {
    static constexpr int WORDS = Heads<HEAD>::WORDS;

    const T* mine;       // [3, 16, WIDE_HEAD] in shared memory
    const float* masks;  // [16 or 1, line] there; -inf past the last key
    const T* handed;     // keys of the sequence [keys, HEAD], or null
    i64 values;          // elements from keys to values there
    T* mixed;            // results [16, stride]
    int stride, rows;    // rows of these that are there
    int keys, line;      // tokens of the sequence; from a query's masks to the next, 0 where all have the same
    bool guarded;
    float factor;
    int quad, own;       // a lane's g and t

    __device__ __forceinline__ bool none(float most) const { return guarded && !(fabsf(most) < TENON_INFINITY); }

    __device__ __forceinline__ float divisor(float total) const { return guarded && total == 0.0f ? 1.0f : total; }

    __device__ __forceinline__ const uint4* query(int row, int chunk) const { return reinterpret_cast<const uint4*>(mine + row * WIDE_HEAD + chunk * CHUNK + own * V); }

    __device__ __forceinline__ uint4 key(int token, int chunk) const {
        if (handed == nullptr) return *query(TILE + token, chunk);
        if (token >= keys) return make_uint4(0, 0, 0, 0);
        return load_handed(reinterpret_cast<const uint4*>(handed + token * HEAD + chunk * CHUNK + own * V));
    }

    // A lane's neighbours of a value.
    __device__ __forceinline__ void value(u32 (&to)[WORDS], int token) const {
        const T* here = mine + (2 * TILE + token) * WIDE_HEAD + quad * (HEAD / 8);
        const T* there = handed + values + token * HEAD + quad * (HEAD / 8);
        if constexpr (WORDS == 2) {
            uint2 v = make_uint2(0, 0);
            if (handed == nullptr) {
                v = *reinterpret_cast<const uint2*>(here);
            } else if (token < keys) {
                v = load_handed(reinterpret_cast<const uint2*>(there));
            }
            to[0] = v.x;
            to[1] = v.y;
        } else {
#pragma unroll
            for (int i = 0; i < WORDS / 4; i++) {
                uint4 v = make_uint4(0, 0, 0, 0);
                if (handed == nullptr) {
                    v = reinterpret_cast<const uint4*>(here)[i];
                } else if (token < keys) {
                    v = load_handed(reinterpret_cast<const uint4*>(there) + i);
                }
                to[4 * i] = v.x;
                to[4 * i + 1] = v.y;
                to[4 * i + 2] = v.z;
                to[4 * i + 3] = v.w;
            }
        }
    }
};

// Where a tile's masks of a head begin.
__device__ __forceinline__ const T* first_mask(const Layer& layer, const Encoder& e, int batch, int head) {
    int dims = layer.mask_dims, row = dims & 8 ? e.keys : 1;
    i64 matrix = dims & 4 ? static_cast<i64>(row) * e.keys : row, whole = dims & 2 ? matrix * e.heads : matrix;
    return layer.mask == nullptr ? nullptr : layer.mask + (dims & 1 ? batch * whole : 0) + (dims & 2 ? head * matrix : 0);
}

// The masks of a tile's queries, `line` keys of each, or of all alike; -inf past the last key.
__device__ __forceinline__ void load_masks(float* to, const T* from, int dims, int keys, int line, int first) {
    int queries = dims & 4 ? TILE : 1, row = dims & 8 ? keys : 1;
#pragma unroll 1
    for (int i = threadIdx.x; i < queries * line; i += blockDim.x) {
        int key = i % line, query = first + i / line;
        if (query >= keys) query = keys - 1;
        float v = -TENON_INFINITY;
        if (key < keys) v = from == nullptr ? 0.0f : to_compute(from[(dims & 4 ? query * row : 0) + (dims & 8 ? key : 0)]);
        to[i] = v;
    }
}

struct TileTurn : Turn<HEAD, Tile> {
    // Scores of all queries with 16 keys, and the largest of each query.
    __device__ __forceinline__ void look(const Tile& tile, float (&most)[2], int first) {
        uint4 k[2][HEAD / CHUNK];
        bool missing;
#pragma unroll 1
        do {
            missing = false;
#pragma unroll
            for (int n = 0; n < 2; n++) {
#pragma unroll
                for (int c = 0; c < HEAD / CHUNK; c++) k[n][c] = tile.key(first + tile.quad + n * 8, c);
            }
#pragma unroll
            for (int i = 0; i < 4; i++) tile.value(values[i], first + tile.own * 2 + i % 2 + i / 2 * 8);
            if (tile.handed == nullptr) break;
#pragma unroll
            for (int n = 0; n < 2; n++) {
#pragma unroll
                for (int c = 0; c < HEAD / CHUNK; c++) missing |= is_missing(k[n][c]);
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int w = 0; w < Tile::WORDS; w++) missing |= is_missing(values[i][w]);
            }
            if (missing) look_again();
        } while (missing);
        __syncwarp();
#pragma unroll
        for (int n = 0; n < 2; n++) {
#pragma unroll
            for (int e = 0; e < 4; e++) s[n][e] = 0;
        }
#pragma unroll
        for (int c = 0; c < HEAD / CHUNK; c++) {
            uint4 low = *tile.query(tile.quad, c), high = *tile.query(tile.quad + 8, c);
#pragma unroll
            for (int n = 0; n < 2; n++) multiply(s[n], low, high, k[n][c], T());
        }
        const float* masks = tile.masks + tile.quad * tile.line + first + tile.own * 2;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            most[i] = -TENON_INFINITY;
#pragma unroll
            for (int n = 0; n < 2; n++) {
                float2 add = *reinterpret_cast<const float2*>(masks + i * 8 * tile.line + n * 8);
                s[n][2 * i] = fmaf(s[n][2 * i], tile.factor, add.x);
                s[n][2 * i + 1] = fmaf(s[n][2 * i + 1], tile.factor, add.y);
                most[i] = peak(peak(most[i], s[n][2 * i]), s[n][2 * i + 1]);
            }
            most[i] = most_of_quad(most[i]);
        }
    }
};
#endif
