// What a kernel of clusters knows of an encoder: layers one behind the other, and the shared memory of a block.
//
// A cluster takes 16 rows, which no other cluster needs but for keys and values. Its blocks share the heads and the columns of the feed-forward: a block
// makes q, k and v of a head, its attention and what that adds to all columns of the result; likewise some columns of the first product, and what they
// add to the second. Such addends go to the block that has the row, which adds them up, makes the norm, and sends it to all. So blocks meet four
// times a layer, and what they exchange goes from shared memory to shared memory.
//
// Weights are packed: those of a warp lie in the order in which it reads them, and it fetches them through a ring of its own, which waits for nobody.
#pragma once
#include "copy_engine.cuh"
#include "resident_attention.cuh"
#include "short_fn.cuh"

constexpr int HEAD = TENON_HEAD;
constexpr int TILES = TENON_TILES;     // column tiles of a warp in a round
constexpr int GROUPS = 4;              // of warps, by columns, in a product whose results stay in the block
constexpr int SPLITS = WARPS / GROUPS; // of k
constexpr int PARTS = 16;              // of the columns between the two products of the feed-forward
constexpr int UNIT = COLUMNS * CHUNK;  // elements of a column tile and a chunk
constexpr int SLOT = TILES * UNIT;
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

struct alignas(16) Encoder {
    Layer at[MOST_LAYERS];
    const T* x;      // [rows, hidden]
    void* y;         // of T, or of float where `wide`
    T* handed;       // [layers, heads, 2, rows, HEAD], where a sequence is longer than a tile
    u32* counters;   // 2, 0 before and after
    i32 layers, rows, keys, hidden;
    i32 inner, heads, blocks, wide;  // inner: of a part
    // where things lie in shared memory, in bytes; what is fetched of a layer, in elements; slots of a warp's ring
    i32 between, own, mixed, cells, addends, vectors, each_vectors, segments, barriers, ring, slots;
};

#if __CUDA_ARCH__ >= 900 || TENON_EMULATED
// What a block fetches of one product.
struct alignas(16) Segment {
    const T* from;
    i32 slots;  // of a warp
    i32 unused;
};

#if TENON_EMULATED
// A warp's weights, where they are.
struct Ring {
    const Segment* segments;
    const T* from;
    int left, waiting;

    __device__ __forceinline__ void start(u8* dynamic, const Encoder& e, int count) {
        segments = reinterpret_cast<const Segment*>(dynamic + e.segments);
        waiting = count;
        left = 0;
    }

    __device__ __forceinline__ void take(uint4 (&b)[TILES]) {
        if (left == 0) {
            left = segments->slots;
            from = segments->from + threadIdx.x / 32 * left * SLOT;
            segments++;
        }
        for (int j = 0; j < TILES; j++) b[j] = reinterpret_cast<const uint4*>(from)[j * 32 + threadIdx.x % 32];
        from += SLOT;
        left--;
    }
};
#else
// A warp's weights on their way.
struct Ring {
    u32 to, gates;
    const Segment* segments;  // that come next
    const T* from;
    int left, waiting;        // slots of the segment; segments behind it
    int slot, slots;
    u32 parity;
    const u8* here;

    __device__ __forceinline__ void start(u8* dynamic, const Encoder& e, int count) {
        int warp = threadIdx.x / 32;
        here = dynamic + e.ring + warp * e.slots * SLOT * sizeof(T);
        to = shared_address(here);
        gates = shared_address(dynamic + e.barriers + warp * e.slots * 8);
        segments = reinterpret_cast<const Segment*>(dynamic + e.segments);
        slots = e.slots;
        waiting = count;
        left = 0;
        parity = 0;
        for (slot = 0; slot < slots; slot++) fetch();
        slot = 0;
    }

    // Fetches what comes next into the slot.
    __device__ __forceinline__ void fetch() {
        if (left == 0) {
            if (waiting == 0) return;
            left = segments->slots;
            from = segments->from + threadIdx.x / 32 * left * SLOT;
            segments++;
            waiting--;
        }
        if (threadIdx.x % 32 == 0) {
            u32 gate = gates + slot * 8;
            expect_bytes(gate, SLOT * sizeof(T));
            copy_bulk(to + slot * SLOT * sizeof(T), from, SLOT * sizeof(T), gate);
        }
        from += SLOT;
        left--;
    }

    __device__ __forceinline__ void take(uint4 (&b)[TILES]) {
        await_phase(gates + slot * 8, parity);
        const uint4* at = reinterpret_cast<const uint4*>(here + slot * SLOT * sizeof(T)) + threadIdx.x % 32;
#pragma unroll
        for (int j = 0; j < TILES; j++) b[j] = at[j * 32];
        __syncwarp();
        fetch();
        if (++slot == slots) {
            slot = 0;
            parity ^= 1;
        }
    }
};
#endif

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

// The product of rows [16, wide] with columns that stay in the block: the sums of each part of k, [tile, split, 16, 8].
__device__ __forceinline__ void multiply_within(const T* rows, int wide, int chunks, int rounds, float* cells, Ring& ring) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int group = warp % GROUPS, split = warp / GROUPS, mine = chunks / SPLITS;
    const T* a = rows + lane / 4 * wide + lane % 4 * V + split * mine * CHUNK;
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
        float sums[TILES][4] = {};
#pragma unroll 1
        for (int chunk = 0; chunk < mine; chunk++) {
            uint4 low = *reinterpret_cast<const uint4*>(a + chunk * CHUNK);
            uint4 high = *reinterpret_cast<const uint4*>(a + 8 * wide + chunk * CHUNK);
            uint4 b[TILES];
            ring.take(b);
#pragma unroll
            for (int j = 0; j < TILES; j++) multiply_packed(sums[j], low, high, b[j], T());
        }
#pragma unroll
        for (int j = 0; j < TILES; j++) {
            int tile = (group * rounds + round) * TILES + j;
            float2* to = reinterpret_cast<float2*>(cells + (tile * SPLITS + split) * CELLS) + lane;
            to[0] = make_float2(sums[j][0], sums[j][1]);
            to[32] = make_float2(sums[j][2], sums[j][3]);
        }
    }
}

// Four columns of a row of what multiply_within made, from a column on; `i` counts packs of four.
__device__ __forceinline__ float4 gather_sums(const float* cells, int i) {
    const float* part = cells + i / (CELLS / 4) * SPLITS * CELLS + i % (CELLS / 4) * 4;
    float4 sum = {};
#pragma unroll
    for (int s = 0; s < SPLITS; s++) {
        float4 v = *reinterpret_cast<const float4*>(part + s * CELLS);
        sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
    return sum;
}
#endif
