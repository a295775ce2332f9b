// What a kernel of clusters knows of an encoder: layers one behind the other, and the shared memory of a block.
//
// A cluster takes 16 rows, which no other cluster needs but for keys and values. Its blocks share the heads and the columns of the feed-forward: a block
// makes q, k and v of a head, its attention and what that adds to all columns of the result; likewise some columns of the first product, and what they
// add to the second. Such addends go to the block that has the row, which adds them up, makes the norm, and sends it to all. So blocks wait for one
// another four times a layer, and what they exchange goes from shared memory to shared memory.
//
// Weights are packed: those of a warp lie in the order in which it reads them. They go from L2 into its registers, in batches that are two ahead of what
// is worked on, and nothing ever waits in between: on an H200 a block gets 45 bytes a clock this way, and 16 by the copy engine.
#pragma once
#include "copy_engine.cuh"
#include "resident_attention.cuh"
#include "short_fn.cuh"

constexpr int HEAD = TENON_HEAD;
constexpr int CREW = 8;                  // warps
constexpr int MEMBERS = 32 * CREW;
constexpr int GROUPS = 4;                // of warps, by columns, in a product whose results stay in the block
constexpr int SPLITS = CREW / GROUPS;    // of k
constexpr int NARROW = TENON_TILES;      // column tiles of a warp at a time there
constexpr int WIDE = 2 * NARROW;         // and in the other products
constexpr int LONG = 6;                  // chunks of k of a batch there
constexpr int SHORT = LONG / 2;
constexpr int UNITS = LONG * NARROW;     // pieces of a batch: a column tile and a chunk each
constexpr int PIECE = COLUMNS * CHUNK;   // elements of such
constexpr bool PAIRED = TENON_PAIRED;    // whether products have an even number of batches; else each has one
constexpr int PARTS = 16;                // of the columns between the two products of the feed-forward
constexpr int MOST_LAYERS = 26;
constexpr int WIDE_HEAD = HEAD + (HEAD % (2 * CHUNK) == 0 ? CHUNK : 0);

// Filled by ClusterWords.java; 128 bytes.
struct Layer {
    const T *qkv, *out, *up, *down;                          // packed weights
    const T *qkv_bias, *out_bias, *up_bias, *down_bias;
    const T *first_scale, *first_shift, *second_scale, *second_shift;
    const T* mask;
    i32 mask_dims;
    float factor;
    float first_epsilon, second_epsilon;
    i32 fn;
    float alpha;
};

// How a product that a block makes is cut: chunks of a batch, batches of a round of columns, rounds.
struct Cut {
    i32 chunks, batches, rounds;
};

struct alignas(16) Encoder {
    Layer at[MOST_LAYERS];
    const T* x;       // [rows, hidden]
    void* y;          // of T, or of float where `wide`
    T* handed;        // [layers, heads, 2, rows, HEAD], where a sequence is longer than a tile
    u32* counters;    // 2, 0 before and after
    const T *before_scale, *before_shift;  // of the norm of x that the first layer starts with, or null
    i32 layers, rows, keys, hidden;
    i32 inner, heads, blocks, wide;  // inner: of a part
    Cut qkv, out, up, down;
    // where things lie in shared memory, in bytes; what is fetched of a layer beside weights, in elements
    i32 between, own, mixed, masks, cells, addends, vectors, each_vectors, layers_at, segments;
    float before_epsilon;
    i32 unused;
};

#if __CUDA_ARCH__ >= 900 || TENON_EMULATED
// What a block reads of one product: the batches of all warps, and how many of a warp's are there and are not.
struct alignas(16) Segment {
    const T* from;
    u16 full, empty;
    i32 pieces;  // of a batch
};

// A warp's weights, on their way into registers.
struct Stream {
    const uint4* at;
    const Segment* next;
    int segments, full, empty, pieces;

    __device__ __forceinline__ Stream(const Segment* first, int count) {
        next = first;
        segments = count;
        full = empty = 0;
    }

    // Reads the next batch.
    __device__ __forceinline__ void fetch(uint4 (&to)[UNITS]) {
        if (full == 0 && empty == 0) {
            if (segments == 0) return;
            segments--;
            full = next->full;
            empty = next->empty;
            pieces = next->pieces;
            at = reinterpret_cast<const uint4*>(next->from) + threadIdx.x / 32 * full * pieces * 32 + threadIdx.x % 32;
            next++;
        }
        if (full == 0) {
            empty--;
            return;
        }
        full--;
#pragma unroll
        for (int i = 0; i < UNITS; i++) {
            if (i < pieces) to[i] = load_ahead(at + i * 32);
        }
        at += pieces * 32;
    }
};

template <typename E>
__device__ __forceinline__ void multiply_packed(float (&sums)[4], uint4 low, uint4 high, uint4 b, E) {
    multiply(sums, low, high, b, E());
}

__device__ __forceinline__ void multiply_packed(float (&sums)[4], uint4 low, uint4 high, uint4 b, float) {
    u32 a0[4] = {low.x, high.x, low.y, high.y};
    u32 b0[2] = {b.x, b.y};
    mma_1688_tf32(sums, a0, b0);
    u32 a1[4] = {low.z, high.z, low.w, high.w};
    u32 b1[2] = {b.z, b.w};
    mma_1688_tf32(sums, a1, b1);
}

// The products of rows, from a lane's first element on, with a warp's columns: TILES column tiles a round, then `done` with their sums.
template <int TILES, int CHUNKS, typename Done>
__device__ __forceinline__ void multiply_all(const T* a, int wide, const Cut& cut, Stream& stream, uint4 (&first)[UNITS], uint4 (&second)[UNITS], Done done) {
    float sums[TILES][4] = {};
    int batch = 0, round = 0;
    auto step = [&](uint4 (&b)[UNITS]) {
        bool work = !PAIRED || round < cut.rounds;
        if (work) {
            const T* from = a + batch * cut.chunks * CHUNK;
#pragma unroll
            for (int c = 0; c < CHUNKS; c++) {
                if (c < cut.chunks) {
                    uint4 low = *reinterpret_cast<const uint4*>(from + c * CHUNK);
                    uint4 high = *reinterpret_cast<const uint4*>(from + 8 * wide + c * CHUNK);
#pragma unroll
                    for (int j = 0; j < TILES; j++) multiply_packed(sums[j], low, high, b[c * TILES + j], T());
                }
            }
        }
        stream.fetch(b);
        if (work && (!PAIRED || ++batch == cut.batches)) {
            done(round, sums);
            if (PAIRED) {
#pragma unroll
                for (int j = 0; j < TILES; j++) sums[j][0] = sums[j][1] = sums[j][2] = sums[j][3] = 0;
            }
            batch = 0;
            round++;
        }
    };
    if (!PAIRED) {
        step(first);
    } else {
#pragma unroll 1
        do {
            step(first);
            step(second);
        } while (round < cut.rounds);
    }
}

// The product of rows [16, wide] with columns that stay in the block: the sums of each part of k, [tile, split, 16, 8].
__device__ __forceinline__ void multiply_within(const T* rows, int wide, const Cut& cut, float* cells, Stream& stream, uint4 (&first)[UNITS], uint4 (&second)[UNITS]) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int group = warp % GROUPS, split = warp / GROUPS;
    const T* a = rows + lane / 4 * wide + lane % 4 * V + split * cut.chunks * cut.batches * CHUNK;
    multiply_all<NARROW, LONG>(a, wide, cut, stream, first, second, [&](int round, const float (&sums)[NARROW][4]) {
#pragma unroll
        for (int j = 0; j < NARROW; j++) {
            int tile = (group * cut.rounds + round) * NARROW + j;
            float2* to = reinterpret_cast<float2*>(cells + (tile * SPLITS + split) * CELLS) + lane;
            to[0] = make_float2(sums[j][0], sums[j][1]);
            to[32] = make_float2(sums[j][2], sums[j][3]);
        }
    });
}

// Four columns of a row of what multiply_within made, from a column on; `i` counts packs of four.
__device__ __forceinline__ float4 gather_sums(const float* cells, int i) {
    const float* part = cells + i / (CELLS / 4) * SPLITS * CELLS + i % (CELLS / 4) * 4;
    float4 sum = *reinterpret_cast<const float4*>(part);
#pragma unroll
    for (int s = 1; s < SPLITS; s++) {
        float4 v = *reinterpret_cast<const float4*>(part + s * CELLS);
        sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
    return sum;
}
#endif
