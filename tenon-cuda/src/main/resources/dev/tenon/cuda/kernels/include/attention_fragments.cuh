// The two products of attention on tensor cores, of 16 queries a warp: scores = q kᵀ and sums += weights v. A lane holds of a 16×8 tile of
// results the elements (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1), where g is its number / 4 and t the rest (PTX ISA, mma).
#pragma once
#include "pack.cuh"

template <typename T, int D>
struct Fragments;

// 16-bit types: mma.m16n8k16, operands through ldmatrix.
template <typename T, int D>
struct HalfFragments {
    static constexpr int STRIDE = D + 8;  // of a staged row; 16 bytes more, so that the 8 rows of a matrix lie in different banks

    u32 q[D / 16][4];

    // From 16 staged rows.
    __device__ __forceinline__ void load(const T* rows, int lane) {
#pragma unroll
        for (int i = 0; i < D / 16; i++) load_matrix_x4(q[i], rows + (lane % 16) * STRIDE + i * 16 + lane / 16 * 8);
    }

    template <int KEYS>
    __device__ __forceinline__ void scores(float (&s)[KEYS / 8][4], const T* k, int lane) const {
#pragma unroll
        for (int n = 0; n < KEYS / 16; n++) {
#pragma unroll
            for (int i = 0; i < D / 16; i++) {
                u32 b[4];
                load_matrix_x4(b, k + (n * 16 + lane % 8 + lane / 16 * 8) * STRIDE + i * 16 + lane / 8 % 2 * 8);
                u32 low[2] = {b[0], b[1]};
                u32 high[2] = {b[2], b[3]};
                mma_16816(s[2 * n], q[i], low, T());
                mma_16816(s[2 * n + 1], q[i], high, T());
            }
        }
    }

    static __device__ __forceinline__ u32 pair(float a, float b) {
        return static_cast<u32>(From<T>::of(a).bits) | static_cast<u32>(From<T>::of(b).bits) << 16;
    }

    template <int KEYS>
    __device__ __forceinline__ void mix(float (&o)[D / 8][4], const float (&p)[KEYS / 8][4], const T* v, int lane) const {
#pragma unroll
        for (int i = 0; i < KEYS / 16; i++) {
            u32 a[4] = {pair(p[2 * i][0], p[2 * i][1]), pair(p[2 * i][2], p[2 * i][3]), pair(p[2 * i + 1][0], p[2 * i + 1][1]),
                        pair(p[2 * i + 1][2], p[2 * i + 1][3])};
#pragma unroll
            for (int n = 0; n < D / 16; n++) {
                u32 b[4];
                load_matrix_x4_transposed(b, v + (i * 16 + lane % 16) * STRIDE + n * 16 + lane / 16 * 8);
                u32 low[2] = {b[0], b[1]};
                u32 high[2] = {b[2], b[3]};
                mma_16816(o[2 * n], a, low, T());
                mma_16816(o[2 * n + 1], a, high, T());
            }
        }
    }
};

template <int D>
struct Fragments<f16, D> : HalfFragments<f16, D> {};

template <int D>
struct Fragments<bf16, D> : HalfFragments<bf16, D> {};

// f32 in TF32: mma.m16n8k8. The keys of a product may come in any order, so a lane's weights serve as they are: its columns 2t and 2t + 1
// stand for the operand's t and t + 4.
template <int D>
struct Fragments<float, D> {
    static constexpr int STRIDE = D + 4;

    u32 q[D / 8][4];

    static __device__ __forceinline__ u32 rounded(float v) { return __float_as_uint(to_tf32(v)); }

    __device__ __forceinline__ void load(const float* rows, int lane) {
        int g = lane / 4;
        int t = lane % 4;
#pragma unroll
        for (int i = 0; i < D / 8; i++) {
            const float* at = rows + g * STRIDE + i * 8 + t;
            q[i][0] = rounded(at[0]);
            q[i][1] = rounded(at[8 * STRIDE]);
            q[i][2] = rounded(at[4]);
            q[i][3] = rounded(at[8 * STRIDE + 4]);
        }
    }

    template <int KEYS>
    __device__ __forceinline__ void scores(float (&s)[KEYS / 8][4], const float* k, int lane) const {
#pragma unroll
        for (int n = 0; n < KEYS / 8; n++) {
            const float* at = k + (n * 8 + lane / 4) * STRIDE + lane % 4;
#pragma unroll
            for (int i = 0; i < D / 8; i++) {
                u32 b[2] = {rounded(at[i * 8]), rounded(at[i * 8 + 4])};
                mma_1688_tf32(s[n], q[i], b);
            }
        }
    }

    template <int KEYS>
    __device__ __forceinline__ void mix(float (&o)[D / 8][4], const float (&p)[KEYS / 8][4], const float* v, int lane) const {
#pragma unroll
        for (int i = 0; i < KEYS / 8; i++) {
            u32 a[4] = {rounded(p[i][0]), rounded(p[i][2]), rounded(p[i][1]), rounded(p[i][3])};
            const float* at = v + (i * 8 + lane % 4 * 2) * STRIDE + lane / 4;
#pragma unroll
            for (int n = 0; n < D / 8; n++) {
                u32 b[2] = {rounded(at[n * 8]), rounded(at[STRIDE + n * 8])};
                mma_1688_tf32(o[n], a, b);
            }
        }
    }
};
