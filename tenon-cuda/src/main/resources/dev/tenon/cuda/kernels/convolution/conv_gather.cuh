// What conv_mma.cu gathers: the positions and cells of a launch, and how chunks of them are multiplied.
#pragma once
#include "conv.cuh"

typedef TENON_T T;

// Filled by ConvPhase.java. Three spatial dims, outermost first.
struct ConvTile {
    i64 batch;
    i64 groups;
    i64 outputs;   // of a group
    i64 chunks;    // of a group's channels
    i64 w_cells;   // of an output channel's weights
    i64 w_origin;  // the first cell
    i64 y_image;   // elements of y from one image, position and channel to the next
    i64 y_place;
    i64 y_channel;
    i64 splits;
    i64 input[3];
    i64 output[3];
    i64 count[3];  // positions of this launch
    i64 first[3];
    i64 step[3];
    i64 cells[3];
    i64 w_turn[3];
    i64 origin[3];
    i64 move[3];
    i64 turn[3];
};

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED || (__CUDA_ARCH__ >= 750 && TENON_F16)
#define TENON_HAS_MMA 1
#else
#define TENON_HAS_MMA 0
#endif

#if TENON_HAS_MMA
constexpr int CHUNKS = 8;  // of a row of a step: 128 bytes of k

// A row of the product: an image and a position of this launch.
struct Row {
    i64 result;  // elements from y to the position's first channel; -1 past the last image
    u64 seen;    // a bit for each index of a cell along each axis, the last axis lowest: whether it falls on x
    i32 base;    // chunks from x to the origin of the window

    static __device__ __forceinline__ Row of(const ConvTile& s, int row) {
        int at[3];
        int lines = row / static_cast<int>(s.count[2]);
        at[2] = row - lines * static_cast<int>(s.count[2]);
        int planes = lines / static_cast<int>(s.count[1]);
        at[1] = lines - planes * static_cast<int>(s.count[1]);
        int image = planes / static_cast<int>(s.count[0]);
        at[0] = planes - image * static_cast<int>(s.count[0]);
        Row r = {-1, 0, 0};
        if (image >= s.batch) return r;
        int bit = 0;
        i64 place = 0;
        int from = image;
#pragma unroll
        for (int d = 2; d >= 0; d--) {
            int origin = at[d] * static_cast<int>(s.move[d]) + static_cast<int>(s.origin[d]);
            for (int c = 0; c < static_cast<int>(s.cells[d]); c++, bit++) {
                u32 to = static_cast<u32>(origin + c * static_cast<int>(s.turn[d]));
                if (to < static_cast<u32>(s.input[d])) r.seen |= 1ull << bit;
            }
        }
#pragma unroll
        for (int d = 0; d < 3; d++) {
            from = from * static_cast<int>(s.input[d]) + at[d] * static_cast<int>(s.move[d]) + static_cast<int>(s.origin[d]);
            place = place * s.output[d] + at[d] * s.step[d] + s.first[d];
        }
        r.base = from * static_cast<int>(s.groups * s.chunks);
        r.result = image * s.y_image + place * s.y_place;
        return r;
    }
};

// A cell of the window; the one past all falls on no row's x and no output's weights.
struct alignas(16) Cell {
    u64 seen;     // its bit for each axis
    i32 moved;    // chunks of x from the origin of a window
    i32 weights;  // chunks from the first cell's weights

    static __device__ __forceinline__ Cell of(const ConvTile& s, int index) {
        Cell r = {1ull << 63, 0, 0};
        int n1 = static_cast<int>(s.cells[1]), n2 = static_cast<int>(s.cells[2]);
        int plane = index / n2;
        int c2 = index - plane * n2;
        int c0 = plane / n1;
        int c1 = plane - c0 * n1;
        if (c0 >= s.cells[0]) return r;
        r.seen = 1ull << c2 | 1ull << (n2 + c1) | 1ull << (n2 + n1 + c0);
        int moved = c0 * static_cast<int>(s.turn[0]);
        moved = moved * static_cast<int>(s.input[1]) + c1 * static_cast<int>(s.turn[1]);
        moved = moved * static_cast<int>(s.input[2]) + c2 * static_cast<int>(s.turn[2]);
        r.moved = moved * static_cast<int>(s.groups * s.chunks);
        int weights = c0 * static_cast<int>(s.w_turn[0]) + c1 * static_cast<int>(s.w_turn[1]) + c2 * static_cast<int>(s.w_turn[2]);
        r.weights = weights * static_cast<int>(s.chunks);
        return r;
    }
};

template <typename E>
__device__ __forceinline__ void prepare(u32 (&)[4], E) {}

template <typename E>
__device__ __forceinline__ void multiply(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], E) {
    mma_16816(d, a, b, E());
}

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
// A chunk is 4 floats, which ldmatrix takes for 8 halves.
__device__ __forceinline__ void prepare(u32 (&r)[4], float) {
#pragma unroll
    for (int i = 0; i < 4; i++) r[i] = __float_as_uint(to_tf32(__uint_as_float(r[i])));
}

__device__ __forceinline__ void multiply(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], float) { mma_1688_tf32(d, a, b); }
#endif
#endif
