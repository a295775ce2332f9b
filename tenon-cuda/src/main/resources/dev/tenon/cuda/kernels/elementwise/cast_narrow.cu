// y = x in another type, where one of the two is an 8-bit float or an integer of 4 bits: as cast.cu; `options.p0` is 1 where 8-bit floats
// saturate. Each thread takes 8 neighbours, so that no byte has two writers; the half byte past an odd number of 4-bit elements becomes 0.
//
// Launch: 256 threads, any number of blocks; x and y on 16-byte boundaries, y may be x where both are equally wide; x has y's shape, the walk
// is not read. Types are arguments.
#include "elementwise.cuh"
#include "narrow_types.cuh"

constexpr int EACH = 8;

template <typename U>
__device__ __forceinline__ void load_some(const void* x, i64 at, int count, U (&v)[EACH]) {
    if (count == EACH) {
        Pack<U, EACH> pack = *reinterpret_cast<const Pack<U, EACH>*>(static_cast<const U*>(x) + at);
#pragma unroll
        for (int i = 0; i < EACH; i++) v[i] = pack.at[i];
    } else {
#pragma unroll
        for (int i = 0; i < EACH; i++) v[i] = i < count ? static_cast<const U*>(x)[at + i] : U();
    }
}

template <typename U>
__device__ __forceinline__ void store_some(void* y, i64 at, int count, const U (&v)[EACH]) {
    if (count == EACH) {
        Pack<U, EACH> pack;
#pragma unroll
        for (int i = 0; i < EACH; i++) pack.at[i] = v[i];
        *reinterpret_cast<Pack<U, EACH>*>(static_cast<U*>(y) + at) = pack;
    } else {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            if (i < count) static_cast<U*>(y)[at + i] = v[i];
        }
    }
}

template <typename U>
__device__ __forceinline__ void store_wrapped(void* y, i64 at, int count, const i64 (&v)[EACH]) {
    U r[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) r[i] = static_cast<U>(v[i]);
    store_some(y, at, count, r);
}

// Bytes of two elements each.
__device__ __forceinline__ void store_halves(u8* y, int count, const u8 (&v)[EACH / 2]) {
    if (count == EACH / 2) {
        Pack<u8, EACH / 2> pack;
#pragma unroll
        for (int i = 0; i < EACH / 2; i++) pack.at[i] = v[i];
        *reinterpret_cast<Pack<u8, EACH / 2>*>(y) = pack;
        return;
    }
#pragma unroll
    for (int i = 0; i < EACH / 2; i++) {
        if (i < count) y[i] = v[i];
    }
}

__device__ __forceinline__ void store_whole(int to, void* y, i64 at, int count, i64 (&v)[EACH]) {
    if (to >= NARROW_I4) {
        u8 bytes[EACH / 2];
#pragma unroll
        for (int i = 0; i < EACH; i += 2) {
            i64 high = i + 1 < count ? v[i + 1] : 0;
            bytes[i / 2] = static_cast<u8>((v[i] & 15) | (high & 15) << 4);
        }
        store_halves(static_cast<u8*>(y) + at / 2, (count + 1) / 2, bytes);
        return;
    }
    switch (to) {
        case TYPE_I64:
        case TYPE_U64: store_some(y, at, count, v); break;
        case TYPE_I32:
        case TYPE_U32: store_wrapped<u32>(y, at, count, v); break;
        case TYPE_I16:
        case TYPE_U16: store_wrapped<u16>(y, at, count, v); break;
        case TYPE_BOOL:
#pragma unroll
            for (int i = 0; i < EACH; i++) v[i] = v[i] != 0;
            store_wrapped<u8>(y, at, count, v);
            break;
        default: store_wrapped<u8>(y, at, count, v); break;
    }
}

template <typename U, typename A>
__device__ __forceinline__ void store_rounded(void* y, i64 at, int count, const A (&v)[EACH]) {
    U r[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) r[i] = narrowed<U>(v[i]);
    store_some(y, at, count, r);
}

template <typename A>
__device__ __forceinline__ void store_number(int to, bool saturates, void* y, i64 at, int count, const A (&v)[EACH]) {
    switch (to) {
        case TYPE_F64: store_rounded<double>(y, at, count, v); break;
        case TYPE_F32: store_rounded<float>(y, at, count, v); break;
        case TYPE_F16: store_rounded<f16>(y, at, count, v); break;
        case TYPE_BF16: store_rounded<bf16>(y, at, count, v); break;
        case NARROW_F8E4M3:
        case NARROW_F8E5M2: {
            u8 r[EACH];
#pragma unroll
            for (int i = 0; i < EACH; i++) r[i] = to_f8(to, saturates, v[i]);
            store_some(y, at, count, r);
            break;
        }
        default: {
            i64 r[EACH];
#pragma unroll
            for (int i = 0; i < EACH; i++) r[i] = narrow_integer(to, v[i]);
            store_whole(to, y, at, count, r);
        }
    }
}

template <typename U>
__device__ __forceinline__ void load_floats(const void* x, i64 at, int count, float (&v)[EACH]) {
    U from[EACH];
    load_some(x, at, count, from);
#pragma unroll
    for (int i = 0; i < EACH; i++) v[i] = to_compute(from[i]);
}

__device__ __forceinline__ void load_whole(int type, const void* x, i64 at, int count, i64 (&v)[EACH]) {
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        v[i] = 0;
        if (i >= count) continue;
        if (type < NARROW_I4) {
            v[i] = load_integer(type, x, at + i);
        } else {
            i64 half = static_cast<const u8*>(x)[(at + i) / 2] >> (i % 2 * 4) & 15;
            v[i] = type == NARROW_I4 && half > 7 ? half - 16 : half;
        }
    }
}

__device__ __forceinline__ void cast_some(const void* x, void* y, i64 at, int count, int from, int to, bool saturates) {
    if (from == TYPE_F64) {
        double v[EACH];
        load_some(x, at, count, v);
        store_number(to, saturates, y, at, count, v);
        return;
    }
    if (from <= TYPE_BF16 || from == NARROW_F8E4M3 || from == NARROW_F8E5M2) {
        float v[EACH];
        switch (from) {
            case TYPE_F32: load_floats<float>(x, at, count, v); break;
            case TYPE_F16: load_floats<f16>(x, at, count, v); break;
            case TYPE_BF16: load_floats<bf16>(x, at, count, v); break;
            default: {
                u8 codes[EACH];
                load_some(x, at, count, codes);
#pragma unroll
                for (int i = 0; i < EACH; i++) v[i] = from_f8(from, codes[i]);
            }
        }
        store_number(to, saturates, y, at, count, v);
        return;
    }
    i64 v[EACH];
    load_whole(from, x, at, count, v);
    if ((to >= TYPE_I64 && to <= TYPE_BOOL) || to >= NARROW_I4) {
        store_whole(to, y, at, count, v);
        return;
    }
    double numbers[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) numbers[i] = from >= NARROW_I4 ? static_cast<double>(v[i]) : integer_to_double(from, v[i]);
    store_number(to, saturates, y, at, count, numbers);
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(cast_narrow)(const void* x, void* y, i64 elements, Walk1 walk, Options options, void* faults, i32 step) {
    release_successor();
    await_predecessor();
    bool saturates = options.p0 != 0;
    for (i64 at = EACH * global_thread(); at < elements; at += EACH * global_threads()) {
        int count = elements - at < EACH ? static_cast<int>(elements - at) : EACH;
        cast_some(x, y, at, count, options.type, options.to, saturates);
    }
}
TENON_ENTRY(cast_narrow)
