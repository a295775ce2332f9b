// Elementwise operations on values in registers, their types known to the compiler: short floats are floats, integers and booleans i64. What
// elementwise_region.cu does by number at run time; both give the same bits.
#pragma once
#include "binary_fn.cuh"

// How a type lies in memory, S, and in a register, A.
template <int TYPE>
struct Element;

template <typename STORED, typename KEPT>
struct Stored {
    typedef STORED S;
    typedef KEPT A;
};

template <> struct Element<TYPE_F64> : Stored<double, double> {};
template <> struct Element<TYPE_F32> : Stored<float, float> {};
template <> struct Element<TYPE_F16> : Stored<f16, float> {};
template <> struct Element<TYPE_BF16> : Stored<bf16, float> {};
template <> struct Element<TYPE_I64> : Stored<i64, i64> {};
template <> struct Element<TYPE_I32> : Stored<i32, i64> {};
template <> struct Element<TYPE_I16> : Stored<i16, i64> {};
template <> struct Element<TYPE_I8> : Stored<i8, i64> {};
template <> struct Element<TYPE_U64> : Stored<u64, i64> {};
template <> struct Element<TYPE_U32> : Stored<u32, i64> {};
template <> struct Element<TYPE_U16> : Stored<u16, i64> {};
template <> struct Element<TYPE_U8> : Stored<u8, i64> {};
template <> struct Element<TYPE_BOOL> : Stored<u8, i64> {};

template <int TYPE>
using Kept = typename Element<TYPE>::A;

template <int TYPE>
__device__ __forceinline__ Kept<TYPE> kept(typename Element<TYPE>::S v) {
    if constexpr (TYPE == TYPE_BOOL) {
        return v != 0;
    } else if constexpr (TYPE > TYPE_BF16) {
        return static_cast<i64>(v);
    } else {
        return to_compute(v);
    }
}

template <int TYPE>
__device__ __forceinline__ typename Element<TYPE>::S stored(Kept<TYPE> v) {
    if constexpr (TYPE == TYPE_BOOL) {
        return v != 0;
    } else if constexpr (TYPE > TYPE_BF16) {
        return static_cast<typename Element<TYPE>::S>(v);
    } else {
        return From<typename Element<TYPE>::S>::of(v);
    }
}

template <int TYPE, int FN>
__device__ __forceinline__ auto unary_of(Kept<TYPE> v, i64 p0, i64 p1) {
    double alpha = __longlong_as_double(p0);
    double beta = __longlong_as_double(p1);
    if constexpr (TYPE > TYPE_BF16) {
        return wrapped(TYPE, integer_unary_fn(FN, TYPE, v, alpha, beta));
    } else {
        typedef Kept<TYPE> A;
        A r = unary_fn<A>(FN, v, static_cast<A>(alpha), static_cast<A>(beta));
        if constexpr (FN == FN_IS_NAN || FN == FN_IS_INF) {
            return static_cast<i64>(r != 0);
        } else {
            return r;
        }
    }
}

__device__ __forceinline__ float rounded_sum(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ double rounded_sum(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ float rounded_product(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double rounded_product(double a, double b) { return __dmul_rn(a, b); }

// Sums and products are not contracted with each other: a result must not depend on which form ran, and a·b - a·b is 0.
template <int TYPE, int FN>
__device__ __forceinline__ Kept<TYPE> binary_of(Kept<TYPE> a, Kept<TYPE> b, void* faults, i32 step) {
    if constexpr (TYPE > TYPE_BF16) {
        if (has_no_integer(FN, TYPE, a, b)) {
            report_fault(faults, step, b);
            return 0;
        }
        return wrapped(TYPE, integer_binary_fn(FN, TYPE, a, b));
    } else if constexpr (FN == FN_ADD) {
        return rounded_sum(a, b);
    } else if constexpr (FN == FN_SUB) {
        return rounded_sum(a, -b);
    } else if constexpr (FN == FN_MUL) {
        return rounded_product(a, b);
    } else {
        return binary_fn<Kept<TYPE>>(FN, a, b);
    }
}

template <int TYPE, int FN>
__device__ __forceinline__ i64 compare_of(Kept<TYPE> a, Kept<TYPE> b) {
    if constexpr (TYPE > TYPE_BF16) {
        return integer_compare_fn(FN, TYPE, a, b);
    } else {
        return compare_fn(FN, a, b);
    }
}

// A float or double rounded to a float type once; a short one keeps its value in a float.
template <int TO, typename A>
__device__ __forceinline__ Kept<TO> rounded_to_kept(A v) {
    if constexpr (TO == TYPE_F64) {
        return v;
    } else {
        return to_compute(narrowed<typename Element<TO>::S>(v));
    }
}

template <int FROM, int TO>
__device__ __forceinline__ Kept<TO> cast_of(Kept<FROM> v) {
    if constexpr (FROM > TYPE_BF16 && TO > TYPE_BF16) {
        return wrapped(TO, v);
    } else if constexpr (FROM == TYPE_I64 || FROM == TYPE_U64) {
        return rounded_to_kept<TO>(integer_to_double(FROM, v));
    } else if constexpr (FROM > TYPE_BF16 && (TO == TYPE_F32 || sizeof(typename Element<FROM>::S) <= 2)) {
        // exact in double, so that one conversion does; up to 16 bits in a float, too
        return rounded_to_kept<TO>(FROM == TYPE_U32 ? static_cast<float>(static_cast<u32>(v)) : static_cast<float>(static_cast<i32>(v)));
    } else if constexpr (FROM > TYPE_BF16) {
        return rounded_to_kept<TO>(static_cast<double>(v));
    } else if constexpr (TO > TYPE_BF16) {
        return float_to_integer(TO, v);
    } else {
        return rounded_to_kept<TO>(v);
    }
}
