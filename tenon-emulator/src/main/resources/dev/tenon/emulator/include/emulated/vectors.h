// CUDA's vector types with CUDA's alignment.
#pragma once

#define TENON_VECTORS(type, name, align2, align4)                                                             \
    struct name##1 {                                                                                          \
        type x;                                                                                               \
    };                                                                                                        \
    struct __attribute__((aligned(align2))) name##2 {                                                         \
        type x, y;                                                                                            \
    };                                                                                                        \
    struct name##3 {                                                                                          \
        type x, y, z;                                                                                         \
    };                                                                                                        \
    struct __attribute__((aligned(align4))) name##4 {                                                         \
        type x, y, z, w;                                                                                      \
    };                                                                                                        \
    TENON_DEVICE name##1 make_##name##1(type x) { return {x}; }                                               \
    TENON_DEVICE name##2 make_##name##2(type x, type y) { return {x, y}; }                                    \
    TENON_DEVICE name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                         \
    TENON_DEVICE name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

TENON_VECTORS(signed char, char, 2, 4)
TENON_VECTORS(unsigned char, uchar, 2, 4)
TENON_VECTORS(short, short, 4, 8)
TENON_VECTORS(unsigned short, ushort, 4, 8)
TENON_VECTORS(int, int, 8, 16)
TENON_VECTORS(unsigned int, uint, 8, 16)
TENON_VECTORS(long, long, 16, 16)
TENON_VECTORS(unsigned long, ulong, 16, 16)
TENON_VECTORS(long long, longlong, 16, 16)
TENON_VECTORS(unsigned long long, ulonglong, 16, 16)
TENON_VECTORS(float, float, 8, 16)
TENON_VECTORS(double, double, 16, 16)

#undef TENON_VECTORS

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};
