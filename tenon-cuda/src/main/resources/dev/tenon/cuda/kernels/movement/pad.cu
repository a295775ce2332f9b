// y[walk] = x at the place within each dim that the mode names, or the fill outside of it (constant). Of the walk over y, whose sizes are
// those of y, operand 0 has the strides of x, operand 1 the amounts before, and operand 2 the sizes of x. Dims without padding that lie
// innermost are told as part of a wider element, up to 16 bytes.
//
// Launch: 256 threads, any number of blocks; x and y on 16-byte boundaries, at least one element in y; x has one wherever y copies one.
// `fill` is an element of `fill_bytes` bytes, or null for zeros. Variants: TENON_T an unsigned integer as wide as the elements, or uint4.
#include "walk.cuh"

typedef TENON_T T;

constexpr int PAD_CONSTANT = 0;
constexpr int PAD_REFLECT = 1;
constexpr int PAD_EDGE = 2;

__device__ __forceinline__ i64 floor_mod(i64 a, i64 n) {
    i64 rest = a % n;
    return rest < 0 ? rest + n : rest;
}

// The index within a dim of n elements that an index outside of it stands for; -1 for the fill.
__device__ __forceinline__ i64 pad_source(int mode, i64 index, i64 n) {
    if (index >= 0 && index < n) return index;
    switch (mode) {
        case PAD_CONSTANT: return -1;
        case PAD_EDGE: return index < 0 ? 0 : n - 1;
        case PAD_REFLECT: {
            if (n == 1) return 0;
            i64 period = 2 * (n - 1);
            i64 folded = floor_mod(index, period);
            return folded < n ? folded : period - folded;
        }
        default: return floor_mod(index, n);
    }
}

template <typename I>
__device__ __forceinline__ void pad_all(const T* x, T* y, T fill, int mode, I elements, const Walk3& walk) {
    for (i64 at = global_thread(); at < static_cast<i64>(elements); at += global_threads()) {
        I position = static_cast<I>(at);
        i64 from = 0;
        for (int d = static_cast<int>(walk.dims) - 1; d >= 0; d--) {
            I size = static_cast<I>(walk.sizes[d]);
            I rest = d == 0 ? 0 : position / size;
            i64 index = static_cast<i64>(position - rest * size);
            i64 source = pad_source(mode, index - walk.strides[1][d], walk.strides[2][d]);
            from = source < 0 || from < 0 ? -1 : from + source * walk.strides[0][d];
            position = rest;
        }
        y[at] = from < 0 ? fill : x[from];
    }
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(pad)(const void* x, const void* fill, void* y, i32 fill_bytes, i32 mode, i64 elements, Walk3 walk) {
    release_successor();
    await_predecessor();
    T outside = T();
    if (fill != nullptr) {
        u8* bytes = reinterpret_cast<u8*>(&outside);
        for (int i = 0; i < static_cast<int>(sizeof(T)); i++) bytes[i] = static_cast<const u8*>(fill)[i % fill_bytes];
    }
    if (elements <= 0x7fffffff) {
        pad_all<u32>(static_cast<const T*>(x), static_cast<T*>(y), outside, mode, static_cast<u32>(elements), walk);
    } else {
        pad_all<u64>(static_cast<const T*>(x), static_cast<T*>(y), outside, mode, static_cast<u64>(elements), walk);
    }
}
TENON_ENTRY(pad)
