// Rotary position embedding: pairs (a, b) of a row's first 2 · pairs elements are turned, y_a = x_a cos - x_b sin, y_b = x_a sin + x_b cos; the
// rest of the row is copied. Pairs are (i, i + pairs), or (2i, 2i + 1) when interleaved. Of each `all` rows the first `turned` are turned, the
// others are copied; cos and sin are broadcast to [rows that are turned, pairs]. y may be x.
//
//   rope     a thread a pair
//   rope_v   a thread as many pairs as 16 bytes hold, where packs do not cross halves of rows
//
// Launch: 256 threads, any number of blocks; values on 16-byte boundaries for rope_v. The walk goes over [turned rows..., pairs].
// Variants: TENON_T float, double, f16, bf16; TENON_ANGLE, the type of cos and sin: TENON_T, or float for f16 and bf16.
#include "elementwise.cuh"

typedef TENON_T T;
typedef TENON_ANGLE C;
typedef Compute<T>::type A;

template <int W>
__device__ __forceinline__ void turn(const Pack<T, W>& a, const Pack<T, W>& b, const Pack<C, W>& cosine, const Pack<C, W>& sine, Pack<T, W>& c, Pack<T, W>& d) {
#pragma unroll
    for (int i = 0; i < W; i++) {
        A x = to_compute(a.at[i]), y = to_compute(b.at[i]), cos = to_compute(cosine.at[i]), sin = to_compute(sine.at[i]);
        c.at[i] = From<T>::of(x * cos - y * sin);
        d.at[i] = From<T>::of(x * sin + y * cos);
    }
}

// Neighbours are the two of a pair: 2 · W elements become W first ones and W second ones, and back.
template <int W>
__device__ __forceinline__ void apart(const T* p, Pack<T, W>& a, Pack<T, W>& b) {
    Pack<T, W> both[2] = {load_some<T, W>(p, 0, 1), load_some<T, W>(p, W, 1)};
#pragma unroll
    for (int i = 0; i < W; i++) {
        a.at[i] = both[2 * i / W].at[2 * i % W];
        b.at[i] = both[(2 * i + 1) / W].at[(2 * i + 1) % W];
    }
}

template <int W>
__device__ __forceinline__ void together(T* p, const Pack<T, W>& a, const Pack<T, W>& b) {
    Pack<T, W> both[2];
#pragma unroll
    for (int i = 0; i < W; i++) {
        both[2 * i / W].at[2 * i % W] = a.at[i];
        both[(2 * i + 1) / W].at[(2 * i + 1) % W] = b.at[i];
    }
    store_some<T, W>(p, 0, both[0]);
    store_some<T, W>(p, W, both[1]);
}

// W angles, which lie `stride` apart: neighbours in pieces of 16 bytes at most.
template <int W>
__device__ __forceinline__ Pack<C, W> load_angles(const C* from, i64 at, i64 stride) {
    constexpr int P = W < Widest<C>::value ? W : Widest<C>::value;
    Pack<C, W> all;
#pragma unroll
    for (int part = 0; part < W / P; part++) {
        Pack<C, P> some = load_some<C, P>(from, at + part * P * stride, stride);
#pragma unroll
        for (int i = 0; i < P; i++) all.at[part * P + i] = some.at[i];
    }
    return all;
}

struct Rows {
    i64 rows;    // that are turned
    i64 turned;  // of each `all`
    i64 all;

    // Where a row that is turned lies.
    __device__ __forceinline__ i64 place(i64 row) const { return turned == all ? row : row / turned * all + row % turned; }
};

template <int W>
__device__ __forceinline__ void rope_all(const T* x, const C* cosines, const C* sines, T* y, const Rows& rows, i64 size, i64 pairs, i32 interleaved, const Walk2& walk) {
    release_successor();
    await_predecessor();
    i64 angles = rows.rows * pairs;
    bool small = angles <= 0x7fffffff;
    for (i64 pack = global_thread(); pack < angles / W; pack += global_threads()) {
        i64 angle = pack * W;
        i64 at[2];
        locate(walk, angle, small, at);
        Pack<C, W> cosine = load_angles<W>(cosines, at[0], walk.inner_stride(0));
        Pack<C, W> sine = load_angles<W>(sines, at[1], walk.inner_stride(1));
        i64 row = small ? static_cast<u32>(angle) / static_cast<u32>(pairs) : angle / pairs;
        i64 pair = angle - row * pairs;
        i64 start = rows.place(row) * size;
        Pack<T, W> a, b, c, d;
        if (interleaved) {
            apart<W>(x + start + 2 * pair, a, b);
            turn<W>(a, b, cosine, sine, c, d);
            together<W>(y + start + 2 * pair, c, d);
        } else {
            i64 first = start + pair;
            a = load_some<T, W>(x, first, 1);
            b = load_some<T, W>(x, first + pairs, 1);
            turn<W>(a, b, cosine, sine, c, d);
            store_some<T, W>(y, first, c);
            store_some<T, W>(y, first + pairs, d);
        }
    }
    if (x == y) return;
    i64 rest = size - 2 * pairs;
    for (i64 at = global_thread(); at < rows.rows * rest; at += global_threads()) {
        i64 row = at / rest;
        i64 place = rows.place(row) * size + 2 * pairs + (at - row * rest);
        y[place] = x[place];
    }
    i64 still = (rows.all - rows.turned) * size;  // neighbours that are not turned
    for (i64 pack = global_thread(); pack < rows.rows / rows.turned * (still / W); pack += global_threads()) {
        i64 group = pack / (still / W);
        i64 place = (group * rows.all + rows.turned) * size + (pack - group * (still / W)) * W;
        store_some<T, W>(y, place, load_some<T, W>(x, place, 1));
    }
}

#define KERNEL(name, W)                                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(256)                                                                                                    \
        TENON_NAME(name)(const void* x, const void* cosines, const void* sines, void* y, i64 rows, i64 turned, i64 all, i64 size, i64 pairs,             \
                         i32 interleaved, Walk2 walk) {                                                                                                  \
        rope_all<W>(static_cast<const T*>(x), static_cast<const C*>(cosines), static_cast<const C*>(sines), static_cast<T*>(y), {rows, turned, all}, size, \
                    pairs, interleaved, walk);                                                                                                           \
    }                                                                                                                                                    \
    TENON_ENTRY(name)

KERNEL(rope, 1)
KERNEL(rope_v, Widest<T>::value)
