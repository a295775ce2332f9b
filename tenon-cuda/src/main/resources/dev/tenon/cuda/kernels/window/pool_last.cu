// y[p, v, u, c] = the maximum or average of x[p, line, column, c] over the cells of the window at (v, u) that lie in the input; the average divides by
// those, or by the cells in the padded input. Channels innermost.
//
//   pool_last   a thread 16 bytes of channels of a result
//
// Launch: 256 threads, any number of blocks; neighbours along the channels. No shared memory. x [planes, height, width, channels], y [planes, rows,
// columns, channels]; channels are whole 16 bytes. A NaN is the maximum. Sums in f32. Variants: TENON_T one of float, f16, bf16.
#include "pack.cuh"
#include "walk.cuh"

typedef TENON_T T;

constexpr int V = Widest<T>::value;
typedef Pack<T, V> Channels;

// Filled by GpuPoolLowering.java.
struct PoolLastSizes {
    i64 planes;
    i64 packs;  // of channels
    i64 height;
    i64 width;
    i64 rows;
    i64 columns;
    i64 high;  // cells of a window
    i64 wide;
    i64 down;  // strides
    i64 right;
    i64 top;  // padding
    i64 left;
    i64 bottom;
    i64 behind;
    i64 apart_down;  // dilations
    i64 apart_right;
    i64 count_padding;
};

// The cells from the first one in the input to the one past the last, and how many lie in the padded input.
struct Span {
    int first;
    int end;
    int padded;
};

__device__ __forceinline__ Span span_of(i64 start, i64 input, i64 after, i64 kernel, i64 dilation) {
    i64 first = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
    i64 end = start >= input ? 0 : (input - start + dilation - 1) / dilation;
    i64 padded = start >= input + after ? 0 : (input + after - start + dilation - 1) / dilation;
    return {static_cast<int>(first < kernel ? first : kernel), static_cast<int>(end < kernel ? end : kernel),
            static_cast<int>(padded < kernel ? padded : kernel)};
}

template <bool MAX>
__device__ __forceinline__ void pool(const T* x, T* y, const PoolLastSizes& s) {
    i64 all = s.planes * s.rows * s.columns * s.packs;
    for (i64 at = global_thread(); at < all; at += global_threads()) {
        i64 place = at / s.packs;
        i64 pack = at - place * s.packs;
        i64 line = place / s.columns;
        i64 column = place - line * s.columns;
        i64 plane = line / s.rows;
        i64 row = line - plane * s.rows;
        i64 top = row * s.down - s.top;
        i64 left = column * s.right - s.left;
        Span down = span_of(top, s.height, s.bottom, s.high, s.apart_down);
        Span across = span_of(left, s.width, s.behind, s.wide, s.apart_right);
        float values[V];
#pragma unroll
        for (int e = 0; e < V; e++) values[e] = MAX ? -TENON_INFINITY : 0.0f;
        for (int i = down.first; i < down.end; i++) {
            const Channels* cells =
                reinterpret_cast<const Channels*>(x) + ((plane * s.height + top + i * s.apart_down) * s.width + left) * s.packs + pack;
#pragma unroll 4
            for (int j = across.first; j < across.end; j++) {
                Channels v = cells[j * s.apart_right * s.packs];
#pragma unroll
                for (int e = 0; e < V; e++) {
                    float a = to_compute(v.at[e]);
                    if (MAX) {
                        values[e] = values[e] == values[e] && !(a <= values[e]) ? a : values[e];
                    } else {
                        values[e] += a;
                    }
                }
            }
        }
        int cells = s.count_padding ? down.padded * across.padded : (down.end - down.first) * (across.end - across.first);
        Channels out;
#pragma unroll
        for (int e = 0; e < V; e++) out.at[e] = From<T>::of(MAX ? values[e] : values[e] / static_cast<float>(cells));
        store_pack<T, V>(y, at, out);
    }
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(pool_last)(const T* x, T* y, PoolLastSizes sizes, i32 maximum) {
    release_successor();
    await_predecessor();
    if (maximum) {
        pool<true>(x, y, sizes);
    } else {
        pool<false>(x, y, sizes);
    }
}
TENON_ENTRY(pool_last)
