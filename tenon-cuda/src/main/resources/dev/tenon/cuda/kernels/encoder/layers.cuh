// The work of a block of layers.cu.
//
// Sixteen blocks take a tile of 16 rows. A block makes q, k and v of a head and what its queries see; of every other product it makes its share of the
// columns, and norms it makes by itself, of all rows. So what one block makes and others read passes through L2 four times a layer, and once more where
// a sequence is longer than a tile: words that were NOT_YET before, as in resident.cuh.
//
// Weights are packed: those of a warp lie in the order in which it reads them. They go from L2 into its registers, in batches that are on their way long
// before they are worked on, and no barrier stops them: on an H200 a block gets 45 bytes a clock this way, and 16 by the copy engine. (Shared memory of
// a cluster's blocks takes 8 bytes a clock in a cluster of 16, so that to exchange anything through it takes longer than through L2.) A batch is asked
// for when what others wait for has been stored: what is loaded or stored behind it stands in line.
#pragma once
#include "layers_attention.cuh"

constexpr int BLOCKS = 16;               // of a tile
constexpr int CREW = 8;                  // warps
constexpr int MEMBERS = 32 * CREW;
constexpr int NARROW = TENON_TILES;      // column tiles of a warp at a time
constexpr int LONG = 4;                  // chunks of k of a batch
constexpr int UNITS = LONG * NARROW;     // pieces of a batch: a column tile and a chunk each
constexpr int PIECE = COLUMNS * CHUNK;   // elements of such
constexpr int NORM_PACKS = TENON_PACKS;   // of four elements, of a lane's part of a row, at most

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
// What a block reads of one product: the batches of all warps, and how many of a warp's are there and are not.
struct alignas(16) Segment {
    const T* from;
    u16 full, empty;    // an even number in all
    u16 pieces, warps;  // pieces of a batch; warps that have any
};

// A warp's weights, on their way into registers.
struct Stream {
    const uint4* at;
    const Segment* next;
    int segments, full, empty, pieces;

    __device__ __forceinline__ void start(const Segment* first, int count) {
        next = first;
        segments = count;
        full = empty = 0;
    }

    // Reads the next batch; zeros where there is less.
    __device__ __forceinline__ void fetch(uint4 (&to)[UNITS]) {
        int warp = threadIdx.x / 32;
#pragma unroll
        for (int i = 0; i < UNITS; i++) to[i] = make_uint4(0, 0, 0, 0);  // and no register holds what was there
        if (full == 0 && empty == 0) {
            if (segments == 0) return;
            segments--;
            full = next->full;
            empty = next->empty;
            pieces = next->pieces;
            at = reinterpret_cast<const uint4*>(next->from) + warp * full * pieces * 32 + threadIdx.x % 32;
            if (warp >= next->warps) {
                empty += full;
                full = 0;
            }
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

// Both batches of a warp that are on their way.
struct Weights {
    Stream stream;
    uint4 first[UNITS], second[UNITS];

    // Behind a product: the first two batches of the next.
    __device__ __forceinline__ void refill() {
        stream.fetch(first);
        stream.fetch(second);
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

// A block's place, and what its tile has.
struct Place {
    int rank;         // of 16 blocks
    int first, rows;  // the tile's first row; rows that are there
    int share;        // columns of a product that makes `hidden`
    T* row_tile;      // [16, wide], operands
    float* kept;      // [16, share], this block's columns of what was normed last

    __device__ __forceinline__ Place(const Encoder& e, u8* dynamic) {
        int block = opaque(static_cast<int>(blockIdx.x));
        rank = block % BLOCKS;
        first = block / BLOCKS * TILE;
        rows = e.rows - first < TILE ? e.rows - first : TILE;
        share = e.hidden / BLOCKS;
        row_tile = reinterpret_cast<T*>(dynamic);
        kept = reinterpret_cast<float*>(dynamic + e.kept);
    }
};

// A lane's rows g and g + 8 in shared memory.
struct Laid {
    const T* low;
    int wide;

    // `work` with the 16 bytes of both rows in each chunk.
    template <typename Work>
    __device__ __forceinline__ void each(int chunk, int count, Work work) const {
#pragma unroll
        for (int c = 0; c < LONG; c++) {
            if (c >= count) break;
            const T* at = low + (chunk + c) * CHUNK;
            work(c, *reinterpret_cast<const uint4*>(at), *reinterpret_cast<const uint4*>(at + 8 * wide));
        }
    }
};

// The same as words that other blocks make.
struct Handed {
    const T* low;
    int stride;
    bool is_low, is_high;  // whether there are such rows

    __device__ __forceinline__ Handed(const T* from, int columns, const Place& place) {
        int lane = opaque(threadIdx.x) % 32, row = lane / 4;
        low = from + static_cast<i64>(place.first + row) * columns + lane % 4 * V;
        stride = columns;
        is_low = row < place.rows;
        is_high = row + 8 < place.rows;
    }

    template <typename Work>
    __device__ __forceinline__ void each(int chunk, int count, Work work) const {
        uint4 to[LONG][2];
        bool missing;
#pragma unroll 1
        do {
            missing = false;
#pragma unroll
            for (int c = 0; c < LONG; c++) {
                if (c >= count) break;
                const T* at = low + (chunk + c) * CHUNK;
                to[c][0] = is_low ? load_handed(reinterpret_cast<const uint4*>(at)) : make_uint4(0, 0, 0, 0);
                to[c][1] = is_high ? load_handed(reinterpret_cast<const uint4*>(at + 8 * stride)) : make_uint4(0, 0, 0, 0);
            }
#pragma unroll
            for (int c = 0; c < LONG; c++) {
                if (c >= count) break;
                missing |= is_missing(to[c][0]) || is_missing(to[c][1]);
            }
            if (missing) look_again();
        } while (missing);
        __syncwarp();
#pragma unroll
        for (int c = 0; c < LONG; c++) {
            if (c >= count) break;
            work(c, to[c][0], to[c][1]);
        }
    }
};

// The products of rows with a block's columns: the sums of each part of k, [column tile, split, 16, 8]. Behind it weights are to be refilled.
template <typename Rows>
__device__ __forceinline__ void multiply_rows(const Rows& rows, const Cut& cut, int groups, float* cells, Weights& weights) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int group = warp % groups, split = warp / groups;
    float sums[NARROW][4] = {};
    int batch = 0, round = split < cut.splits ? 0 : cut.rounds;
    auto step = [&](const uint4 (&b)[UNITS]) {
        if (round == cut.rounds) return;
        rows.each((split * cut.batches + batch) * cut.chunks, cut.chunks, [&](int c, uint4 low, uint4 high) {
#pragma unroll
            for (int j = 0; j < NARROW; j++) multiply_packed(sums[j], low, high, b[c * NARROW + j], T());
        });
        if (++batch < cut.batches) return;
#pragma unroll
        for (int j = 0; j < NARROW; j++) {
            int tile = (group * cut.rounds + round) * NARROW + j;
            float2* to = reinterpret_cast<float2*>(cells + (tile * cut.splits + split) * CELLS) + lane;
            to[0] = make_float2(sums[j][0], sums[j][1]);
            to[32] = make_float2(sums[j][2], sums[j][3]);
            sums[j][0] = sums[j][1] = sums[j][2] = sums[j][3] = 0;
        }
        batch = 0;
        round++;
    };
#pragma unroll 1
    for (int left = (cut.batches * cut.rounds + 1) / 2;;) {
        step(weights.first);
        step(weights.second);
        if (--left == 0) break;
        weights.refill();
    }
}

#endif
