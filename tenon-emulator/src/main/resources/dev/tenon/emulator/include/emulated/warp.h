// Warp collectives. Each lane posts what it calls; the last of the mask to arrive computes for all (the runtime's warp.cpp).
#pragma once

namespace tenon {
template <int bytes>
struct Word;
template <>
struct Word<1> {
    typedef unsigned char type;
};
template <>
struct Word<2> {
    typedef unsigned short type;
};
template <>
struct Word<4> {
    typedef unsigned int type;
};
template <>
struct Word<8> {
    typedef unsigned long long type;
};

template <typename T>
TENON_DEVICE unsigned long long to_word(T v) {
    return __builtin_bit_cast(typename Word<sizeof(T)>::type, v);
}

template <typename T>
TENON_DEVICE T shuffle(int mode, unsigned int mask, T v, int selector, int width, int line, const char* file) {
    typedef typename Word<sizeof(T)>::type W;
    return __builtin_bit_cast(T, static_cast<W>(tenon_shuffle(mode, mask, to_word(v), selector, width, line, file)));
}
}  // namespace tenon

template <typename T>
TENON_DEVICE T __shfl_sync(unsigned int mask, T v, int lane, int width = 32, TENON_WHERE) {
    return tenon::shuffle(0, mask, v, lane, width, line, file);
}
template <typename T>
TENON_DEVICE T __shfl_up_sync(unsigned int mask, T v, unsigned int delta, int width = 32, TENON_WHERE) {
    return tenon::shuffle(1, mask, v, static_cast<int>(delta), width, line, file);
}
template <typename T>
TENON_DEVICE T __shfl_down_sync(unsigned int mask, T v, unsigned int delta, int width = 32, TENON_WHERE) {
    return tenon::shuffle(2, mask, v, static_cast<int>(delta), width, line, file);
}
template <typename T>
TENON_DEVICE T __shfl_xor_sync(unsigned int mask, T v, int lanes, int width = 32, TENON_WHERE) {
    return tenon::shuffle(3, mask, v, lanes, width, line, file);
}

TENON_DEVICE unsigned int __ballot_sync(unsigned int mask, int predicate, TENON_WHERE) {
    return tenon_vote(0, mask, predicate != 0, line, file);
}
TENON_DEVICE int __any_sync(unsigned int mask, int predicate, TENON_WHERE) {
    return static_cast<int>(tenon_vote(1, mask, predicate != 0, line, file));
}
TENON_DEVICE int __all_sync(unsigned int mask, int predicate, TENON_WHERE) {
    return static_cast<int>(tenon_vote(2, mask, predicate != 0, line, file));
}
template <typename T>
TENON_DEVICE unsigned int __match_any_sync(unsigned int mask, T v, TENON_WHERE) {
    return tenon_vote(3, mask, tenon::to_word(v), line, file);
}
template <typename T>
TENON_DEVICE unsigned int __match_all_sync(unsigned int mask, T v, int* same, TENON_WHERE) {
    unsigned int lanes = tenon_vote(4, mask, tenon::to_word(v), line, file);
    *same = lanes != 0;
    return lanes;
}
TENON_DEVICE void __syncwarp(unsigned int mask = 0xffffffffu, TENON_WHERE) { tenon_vote(5, mask, 0, line, file); }
TENON_DEVICE unsigned int __activemask(TENON_WHERE) { return tenon_vote(6, 0, 0, line, file); }

#define TENON_REDUCE(name, mode, type, is_signed)                                                            \
    TENON_DEVICE type __reduce_##name##_sync(unsigned int mask, type v, TENON_WHERE) {                       \
        return static_cast<type>(tenon_reduce(mode, is_signed, mask, static_cast<unsigned int>(v), line, file)); \
    }
TENON_REDUCE(add, 0, int, 1)
TENON_REDUCE(add, 0, unsigned int, 0)
TENON_REDUCE(min, 1, int, 1)
TENON_REDUCE(min, 1, unsigned int, 0)
TENON_REDUCE(max, 2, int, 1)
TENON_REDUCE(max, 2, unsigned int, 0)
TENON_REDUCE(and, 3, unsigned int, 0)
TENON_REDUCE(or, 4, unsigned int, 0)
TENON_REDUCE(xor, 5, unsigned int, 0)
#undef TENON_REDUCE
