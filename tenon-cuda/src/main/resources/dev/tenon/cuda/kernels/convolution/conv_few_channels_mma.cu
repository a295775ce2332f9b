// The convolution of conv_few_channels.cu on tensor cores, in 16 bits or TF32, of windows whose cells lie side by side along rows (dilation 1).
//
//   conv_few_channels_mma_64x32 _32x32 _32x64   so many positions and output channels per warp
//
// In a line of cells in shared memory, channels innermost, the elements that a window has there follow each other. They are counted in words,
// of two elements in 16 bits, of which the first or last may have one alone. k of the product runs over the words of all lines of the window, in
// steps of 8. What a word has beside the window is masked, as it may not be finite.
//
// Lines come in chunks of 16 bytes as they lie in x, `lead` elements before the first cell, where lines of x are whole chunks with channels
// innermost, and windows are whole words apart. Else lead is -1: words are taken apart, and where windows may begin within a word, a second copy
// of the cells lies one element further on.
//
// Launch: 128 threads; grid (any number of blocks, parts of as many shares of output channels at most 65535). The warps of a share make the
// tile together, 2^columns positions wide, at least 16; blocks take every gridDim.x-th of the `tiles`.
// Dynamic shared memory: the weights as fragments, 1024 bytes a step and 32 output channels; the table of words, 64 bytes a step; the cells
// (Layout).
// x, w, y and the rest lie as in conv_few_channels.cu; x and bias begin on 16-byte boundaries.
// Variants: TENON_T one of float, f16, bf16. From sm_80 on.
#include "few_channels_mma.cuh"

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
// What a thread makes: 2 TILES positions of 8 output channels of each of SIDES sides.
template <int TILES, int SIDES>
struct Positions {
    static constexpr int PLACES = 2 * TILES;

    PositionSums<SIDES * PLACES> sums;
    int number;       // in the tile, of the warp's first position
    bool neighbours;  // the two positions among 16 are neighbours, for y with positions innermost

    __device__ __forceinline__ void begin(const FewChannelsSizes& s) {
        number = static_cast<int>(threadIdx.x) / 32 / static_cast<int>(s.shares) * (16 * TILES);
        neighbours = s.y_channel != 1;
    }

    // Of the i-th 16 positions, in the tile.
    __device__ __forceinline__ int row(int i, const FewChannelsSizes& s) const { return (number + 16 * i) >> s.columns; }
    __device__ __forceinline__ int column(int i, const FewChannelsSizes& s) const { return (number + 16 * i) & ((1 << s.columns) - 1); }

    // Of the thread's two among 16.
    __device__ __forceinline__ int place(int h) const {
        const int g = static_cast<int>(threadIdx.x) % 32 / 4;
        return neighbours ? 2 * g + h : g + 8 * h;
    }

    // `weights` and `table` of this lane.
    __device__ __forceinline__ void multiply(
        const Cell* cells, const uint4* weights, const uint2* table, const Layout& lay, const FewChannelsSizes& s, const T* bias, i64 output) {
        const int below = static_cast<int>(s.stride[0]) * lay.line;
        const int aside = static_cast<int>(s.stride[1]) * static_cast<int>(s.channels);
        int shift[2];  // words to the thread's positions
#pragma unroll
        for (int h = 0; h < 2; h++) shift[h] = (place(h) * aside + (place(h) * aside % EACH == 0 ? 0 : lay.copy + 1)) / EACH;
        const u32* from[PLACES];
#pragma unroll
        for (int t = 0; t < PLACES; t++) {
            from[t] = reinterpret_cast<const u32*>(cells) + (lay.start + row(t / 2, s) * below + column(t / 2, s) * aside) / EACH + shift[t % 2];
        }
        float d[SIDES][TILES][4][4];
#pragma unroll
        for (int k = 0; k < SIDES; k++) {
            float v[OUTPUTS] = {};
            if (bias && output + k * SIDE < s.outputs) L::load_eight(bias + output + k * SIDE, v);
#pragma unroll
            for (int t = 0; t < PLACES; t++) {
#pragma unroll
                for (int o = 0; o < OUTPUTS; o++) d[k][t / 2][o / 2][t % 2 * 2 + o % 2] = v[o];
            }
        }
        const uint2* const end = table + lay.steps * STEP;
#pragma unroll 1
        do {
            const uint2 near = table[0];
            const uint2 far = table[STEP / 2];
            u32 a[TILES][4];
#pragma unroll
            for (int i = 0; i < TILES; i++) {
                a[i][0] = L::operand(from[2 * i][near.x] & near.y);
                a[i][1] = L::operand(from[2 * i + 1][near.x] & near.y);
                a[i][2] = L::operand(from[2 * i][far.x] & far.y);
                a[i][3] = L::operand(from[2 * i + 1][far.x] & far.y);
            }
#pragma unroll
            for (int k = 0; k < SIDES; k++) {
                const uint4 one = weights[k * 64];
                const uint4 other = weights[k * 64 + 32];
                const u32 b[4][2] = {{one.x, one.y}, {one.z, one.w}, {other.x, other.y}, {other.z, other.w}};
#pragma unroll
                for (int i = 0; i < TILES; i++) {
#pragma unroll
                    for (int j = 0; j < 4; j++) L::multiply(d[k][i][j], a[i], b[j]);
                }
            }
            weights += SIDES * 64;
            table += STEP;
        } while (table < end);
#pragma unroll
        for (int k = 0; k < SIDES; k++) {
#pragma unroll
            for (int t = 0; t < PLACES; t++) {
#pragma unroll
                for (int o = 0; o < OUTPUTS; o++) sums.at[k * PLACES + t][o] = d[k][t / 2][o / 2][t % 2 * 2 + o % 2];
            }
        }
    }

    // For the thread's positions and sides: which of the sums, the elements from y to the first output channel, and whether it is a result.
    template <int STRIDE, typename Do>
    __device__ __forceinline__ void each(const PositionTile& tile, const FewChannelsSizes& s, i64 output, Do act) {
        const int across = static_cast<int>(s.output[1]);
        const int apart = static_cast<int>(s.y_place);
        const i64 start = tile.image * s.y_image + (static_cast<i64>(tile.row) * across + tile.column) * apart + output * s.y_channel;
        const int rows = static_cast<int>(s.output[0]) - tile.row;
        const int columns = across - tile.column;
#pragma unroll
        for (int k = 0; k < SIDES; k++) {
            const bool there = output + k * SIDE < s.outputs;
#pragma unroll
            for (int t = 0; t < PLACES; t += STRIDE) {
                const int v = row(t / 2, s);
                const int u = column(t / 2, s) + place(t % 2);
                act(k * PLACES + t, start + k * SIDE * s.y_channel + (v * across + u) * apart, there && v < rows && u < columns);
            }
        }
    }

    // Whether two neighbouring positions are stored together.
    __device__ __forceinline__ bool paired(const FewChannelsSizes& s) const { return s.output[1] % 2 == 0; }

    __device__ __forceinline__ void add_residual(const T* residual, const PositionTile& tile, const FewChannelsSizes& s, i64 output) {
        if (!neighbours) {
            each<1>(tile, s, output, [&](int t, i64 at, bool there) {
                if (!there) return;
                float v[OUTPUTS];
                L::load_eight(residual + at, v);
#pragma unroll
                for (int o = 0; o < OUTPUTS; o++) sums.at[t][o] += v[o];
            });
        } else if (paired(s)) {
            each<2>(tile, s, output, [&](int t, i64 at, bool there) {
                if (!there) return;
#pragma unroll
                for (int o = 0; o < OUTPUTS; o++) {
                    float one;
                    float other;
                    L::load_two(residual + at + o * s.y_channel, one, other);
                    sums.at[t][o] += one;
                    sums.at[t + 1][o] += other;
                }
            });
        } else {
            each<1>(tile, s, output, [&](int t, i64 at, bool there) {
                if (!there) return;
#pragma unroll
                for (int o = 0; o < OUTPUTS; o++) sums.at[t][o] += to_compute(residual[at + o * s.y_channel]);
            });
        }
    }

    __device__ __forceinline__ void store(T* y, const PositionTile& tile, const FewChannelsSizes& s, i64 output) {
        if (!neighbours) {
            each<1>(tile, s, output, [&](int t, i64 at, bool there) {
                if (there) L::store_eight(y + at, sums.at[t]);
            });
        } else if (paired(s)) {
            each<2>(tile, s, output, [&](int t, i64 at, bool there) {
                if (!there) return;
#pragma unroll
                for (int o = 0; o < OUTPUTS; o++) {
                    L::store_two(y + at + o * s.y_channel, sums.at[t][o], sums.at[t + 1][o]);
                }
            });
        } else {
            each<1>(tile, s, output, [&](int t, i64 at, bool there) {
                if (!there) return;
#pragma unroll
                for (int o = 0; o < OUTPUTS; o++) y[at + o * s.y_channel] = From<T>::of(sums.at[t][o]);
            });
        }
    }
};

template <int TILES, int SIDES>
__device__ __forceinline__ void convolve(
    const T* x, const T* w, T* y, const FewChannelsSizes& s, const ConvEpilogue<T>& epilogue, int tiles, int lead) {
    TENON_DYNAMIC_SHARED(uint4, shared);
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int share = static_cast<int>(threadIdx.x) / 32 % static_cast<int>(s.shares);
    const int output0 = static_cast<int>(blockIdx.y) * (SIDES * SIDE) * static_cast<int>(s.shares);
    const i64 output = output0 + share * (SIDES * SIDE) + lane % 4 * OUTPUTS;
    __shared__ PositionTile kept;  // what is known again after the sums, without registers meanwhile
    release_successor();
    for (int number = static_cast<int>(blockIdx.x); number < tiles; number += static_cast<int>(gridDim.x)) {
        const bool again = number != blockIdx.x;
        PositionTile tile;
        tile.begin(s, number, [](int a, int b) { return quotient(a, b); });
        const Layout lay(s, tile, lead, SIDES);
        uint2* const table = lay.table(shared);
        Cell* const cells = lay.cells(shared);
        if (again) {
            __syncthreads();  // the last tile has been read
        } else {
            await_predecessor();
        }
        if (lead >= 0) {
            fetch_chunks(cells, x, tile, lay, s, lead);
            copy_async_commit();
            if (!again) fetch_weights<SIDES>(shared, w, lay, s, output0);
            copy_async_wait<0>();
        } else {
            constexpr int AT_ONCE = 4 * TILES + 1;  // lines of a usual tile at stride 2
            Fetch<AT_ONCE> fetch;
            fetch.begin(x, tile, s);
            if (!again) lay.pad(cells, s, tile);
            bool begun = again;
#pragma unroll 1
            do {
                u32 v[AT_ONCE];
                fetch.ask(v, s);
                if (!begun) fetch_weights<SIDES>(shared, w, lay, s, output0);
                begun = true;
                fetch.put(v, cells, lay, s);
                fetch.next();
            } while (fetch.more());
        }
        if (threadIdx.x == 0) kept = tile;
        __syncthreads();
        Positions<TILES, SIDES> positions;
        positions.begin(s);
        positions.multiply(
            cells, shared + share * SIDES * lay.steps * 64 + lane, table + lane % 4, lay, s, epilogue.bias, output);
        positions.sums.finish(epilogue, [&] { positions.add_residual(epilogue.residual, kept, s, output); });
        positions.store(y, kept, s, output);
    }
}

#define CONVOLVE(TILES, SIDES) convolve<TILES, SIDES>(x, w, y, sizes, {bias, residual, fn, p0, p1}, tiles, lead)
#else
#define CONVOLVE(TILES, SIDES)
#endif

#define KERNEL(name, TILES, SIDES, BLOCKS)                                                                                          \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) TENON_NAME(name)(                                                \
        const T* x, const T* w, const T* bias, const T* residual, T* y, FewChannelsSizes sizes, i32 fn, float p0, float p1,        \
        i32 tiles, i32 lead) {                                                                                                     \
        CONVOLVE(TILES, SIDES);                                                                                                    \
    }                                                                                                                              \
    TENON_ENTRY(name)

KERNEL(conv_few_channels_mma_64x32, 4, 1, 4)
KERNEL(conv_few_channels_mma_32x32, 2, 1, 5)
KERNEL(conv_few_channels_mma_32x64, 2, 2, 4)
