// Functions of two numbers, comparisons, and functions of one integer, by number: meaning and number are those of core's BinaryFn, CompareFn
// and UnaryFn (a test compares them).
#pragma once
#include "types.cuh"
#include "unary_fn.cuh"

constexpr int FN_ADD = 1;
constexpr int FN_SUB = 2;
constexpr int FN_MUL = 3;
constexpr int FN_DIV = 4;
constexpr int FN_FLOOR_DIV = 5;
constexpr int FN_MOD = 6;
constexpr int FN_FMOD = 7;
constexpr int FN_POW = 8;
constexpr int FN_PRELU = 9;
constexpr int FN_MAX = 10;
constexpr int FN_MIN = 11;
constexpr int FN_ATAN2 = 12;
constexpr int FN_AND = 13;
constexpr int FN_OR = 14;
constexpr int FN_XOR = 15;
constexpr int FN_BIT_AND = 16;
constexpr int FN_BIT_OR = 17;
constexpr int FN_BIT_XOR = 18;
constexpr int FN_SHL = 19;
constexpr int FN_SHR = 20;

constexpr int FN_EQ = 1;
constexpr int FN_NE = 2;
constexpr int FN_LT = 3;
constexpr int FN_LE = 4;
constexpr int FN_GT = 5;
constexpr int FN_GE = 6;

// Beside the numbers of unary_fn.cuh, for integers and booleans.
constexpr int FN_NOT = 61;
constexpr int FN_BIT_NOT = 62;

// NaN wins; +0 is above -0.
template <typename A>
__device__ __forceinline__ A greatest(A a, A b) {
    if (a != a) return a;
    if (b != b) return b;
    return a > b || (a == b && !signbit(a)) ? a : b;
}

template <typename A>
__device__ __forceinline__ A least(A a, A b) {
    if (a != a) return a;
    if (b != b) return b;
    return a < b || (a == b && signbit(a)) ? a : b;
}

// The remainder that has the divisor's sign.
template <typename A>
__device__ __forceinline__ A float_mod(A a, A b) {
    A rest = fmod(a, b);
    if (rest == 0) return copysign(A(0), b);
    return (rest < 0) == (b < 0) ? rest : rest + b;
}

template <typename A>
__device__ __forceinline__ A binary_fn(int fn, A a, A b) {
    switch (fn) {
        case FN_ADD: return a + b;
        case FN_SUB: return a - b;
        case FN_MUL: return a * b;
        case FN_DIV: return a / b;
        case FN_FLOOR_DIV: return floor(a / b);
        case FN_MOD: return float_mod(a, b);
        case FN_FMOD: return fmod(a, b);
        case FN_POW: return pow(a, b);
        case FN_PRELU: return a >= 0 ? a : b * a;
        case FN_MAX: return greatest(a, b);
        case FN_MIN: return least(a, b);
        case FN_ATAN2: return atan2(a, b);
        default: return a;
    }
}

template <typename A>
__device__ __forceinline__ bool compare_fn(int fn, A a, A b) {
    switch (fn) {
        case FN_EQ: return a == b;
        case FN_NE: return a != b;
        case FN_LT: return a < b;
        case FN_LE: return a <= b;
        case FN_GT: return a > b;
        case FN_GE: return a >= b;
        default: return false;
    }
}

__device__ __forceinline__ bool integer_compare_fn(int fn, int type, i64 a, i64 b) {
    if (type == TYPE_U64) return compare_fn(fn, static_cast<u64>(a), static_cast<u64>(b));
    return compare_fn(fn, a, b);
}

__device__ __forceinline__ i64 integer_product(i64 a, i64 b) { return static_cast<i64>(static_cast<u64>(a) * static_cast<u64>(b)); }
__device__ __forceinline__ i64 integer_sum(i64 a, i64 b) { return static_cast<i64>(static_cast<u64>(a) + static_cast<u64>(b)); }
__device__ __forceinline__ i64 integer_negative(i64 a) { return static_cast<i64>(0ull - static_cast<u64>(a)); }

// Whether division, remainder or power has no result.
__device__ __forceinline__ bool has_no_integer(int fn, int type, i64 a, i64 b) {
    if (fn == FN_DIV || fn == FN_FLOOR_DIV || fn == FN_MOD || fn == FN_FMOD) return b == 0;
    return fn == FN_POW && !is_unsigned(type) && b < 0 && a == 0;
}

__device__ __forceinline__ i64 integer_power(int type, i64 base, i64 exponent) {
    if (!is_unsigned(type) && exponent < 0) return base == 1 ? 1 : base == -1 ? ((exponent & 1) == 0 ? 1 : -1) : 0;
    u64 power = 1;
    u64 square = static_cast<u64>(base);
    for (u64 rest = static_cast<u64>(exponent); rest != 0; rest >>= 1) {
        if (rest & 1) power *= square;
        square *= square;
    }
    return static_cast<i64>(power);
}

// 0 for what has no result.
__device__ __forceinline__ i64 integer_divide(int fn, bool is_signed, i64 a, i64 b) {
    if (b == 0) return 0;
    if (!is_signed) {
        u64 x = static_cast<u64>(a), y = static_cast<u64>(b);
        return static_cast<i64>(fn == FN_DIV || fn == FN_FLOOR_DIV ? x / y : x % y);
    }
    if (b == -1) return fn == FN_DIV || fn == FN_FLOOR_DIV ? integer_negative(a) : 0;  // the least number has no quotient
    i64 quotient = a / b;
    i64 rest = a % b;
    bool apart = rest != 0 && (rest < 0) != (b < 0);
    switch (fn) {
        case FN_DIV: return quotient;
        case FN_FLOOR_DIV: return apart ? quotient - 1 : quotient;
        case FN_MOD: return apart ? rest + b : rest;
        default: return rest;
    }
}

// Bits that a type has, for shifts.
__device__ __forceinline__ int type_bits(int type) {
    switch (type) {
        case TYPE_I32:
        case TYPE_U32: return 32;
        case TYPE_I16:
        case TYPE_U16: return 16;
        case TYPE_I8:
        case TYPE_U8: return 8;
        default: return 64;
    }
}

// Exact modulo 2^64, so that wrapping to the type gives the type's own arithmetic.
__device__ __forceinline__ i64 integer_binary_fn(int fn, int type, i64 a, i64 b) {
    bool is_signed = !is_unsigned(type);
    bool wide = static_cast<u64>(b) >= static_cast<u64>(type_bits(type));
    switch (fn) {
        case FN_ADD: return integer_sum(a, b);
        case FN_SUB: return integer_sum(a, integer_negative(b));
        case FN_MUL: return integer_product(a, b);
        case FN_DIV:
        case FN_FLOOR_DIV:
        case FN_MOD:
        case FN_FMOD: return integer_divide(fn, is_signed, a, b);
        case FN_POW: return integer_power(type, a, b);
        case FN_PRELU: return !is_signed || a >= 0 ? a : integer_product(a, b);
        case FN_MAX: return less(type, a, b) ? b : a;
        case FN_MIN: return less(type, b, a) ? b : a;
        case FN_AND: return a != 0 && b != 0;
        case FN_OR: return a != 0 || b != 0;
        case FN_XOR: return (a != 0) != (b != 0);
        case FN_BIT_AND: return a & b;
        case FN_BIT_OR: return a | b;
        case FN_BIT_XOR: return a ^ b;
        case FN_SHL: return wide ? 0 : static_cast<i64>(static_cast<u64>(a) << b);
        case FN_SHR: return wide ? (is_signed && a < 0 ? -1 : 0) : is_signed ? a >> b : static_cast<i64>(static_cast<u64>(a) >> b);
        default: return a;
    }
}

__device__ __forceinline__ i64 integer_unary_fn(int fn, int type, i64 x, double p0, double p1) {
    bool is_signed = !is_unsigned(type);
    switch (fn) {
        case FN_NEG: return integer_negative(x);
        case FN_ABS: return is_signed && x < 0 ? integer_negative(x) : x;
        case FN_SIGN: return is_signed ? (x > 0) - (x < 0) : x != 0;
        case FN_RELU: return is_signed && x < 0 ? 0 : x;
        case FN_CLIP: {
            i64 low = float_to_integer(type, p0);
            i64 high = float_to_integer(type, p1);
            i64 y = less(type, x, low) ? low : x;
            return less(type, high, y) ? high : y;
        }
        case FN_NOT: return x == 0;
        case FN_BIT_NOT: return ~x;
        default: return x;
    }
}
