// The two products of attention on tensor cores: scores = q kᵀ and sums += weights v, of ROWS times 16 queries a warp. A lane holds of a 16×8
// tile of results the elements (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1), where g is its number / 4 and t the rest (PTX ISA, mma).
// KEPT: queries stay in registers, else they are read from their staged rows for each tile of keys.
#pragma once
#include "pack.cuh"

template <typename T, int D, int ROWS, bool KEPT>
struct Fragments;

// 16-bit types: mma.m16n8k16, operands through ldmatrix.
template <typename T, int D, int ROWS, bool KEPT>
struct HalfFragments {
    static constexpr int STRIDE = D + 8;  // of a staged row; 16 bytes more, so that the 8 rows of a matrix lie in different banks

    u32 q[KEPT ? ROWS : 1][KEPT ? D / 16 : 1][4];

    static __device__ __forceinline__ void load(u32 (&q)[4], const T* rows, int r, int i, int lane) {
        load_matrix_x4(q, rows + (r * 16 + lane % 16) * STRIDE + i * 16 + lane / 16 * 8);
    }

    // From staged rows.
    __device__ __forceinline__ void keep(const T* rows, int lane) {
        if constexpr (KEPT) {
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
#pragma unroll
                for (int i = 0; i < D / 16; i++) load(q[r][i], rows, r, i, lane);
            }
        }
    }

    template <int KEYS>
    __device__ __forceinline__ void scores(float (&s)[ROWS][KEYS / 8][4], const T* rows, const T* k, int lane) const {
#pragma unroll
        for (int i = 0; i < D / 16; i++) {
            u32 fresh[KEPT ? 1 : ROWS][4];
            if constexpr (!KEPT) {
#pragma unroll
                for (int r = 0; r < ROWS; r++) load(fresh[r], rows, r, i, lane);
            }
#pragma unroll
            for (int n = 0; n < KEYS / 16; n++) {
                u32 b[4];
                load_matrix_x4(b, k + (n * 16 + lane % 8 + lane / 16 * 8) * STRIDE + i * 16 + lane / 8 % 2 * 8);
                u32 low[2] = {b[0], b[1]};
                u32 high[2] = {b[2], b[3]};
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    u32 a[4];
#pragma unroll
                    for (int e = 0; e < 4; e++) a[e] = KEPT ? q[KEPT ? r : 0][KEPT ? i : 0][e] : fresh[KEPT ? 0 : r][e];
                    mma_16816(s[r][2 * n], a, low, T());
                    mma_16816(s[r][2 * n + 1], a, high, T());
                }
            }
        }
    }

    static __device__ __forceinline__ u32 pair(float a, float b) { return to_pair(a, b, T()); }

    template <int KEYS>
    __device__ __forceinline__ void mix(float (&o)[ROWS][D / 8][4], const float (&p)[ROWS][KEYS / 8][4], const T* v, int lane) const {
#pragma unroll
        for (int i = 0; i < KEYS / 16; i++) {
            u32 a[ROWS][4];
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                a[r][0] = pair(p[r][2 * i][0], p[r][2 * i][1]);
                a[r][1] = pair(p[r][2 * i][2], p[r][2 * i][3]);
                a[r][2] = pair(p[r][2 * i + 1][0], p[r][2 * i + 1][1]);
                a[r][3] = pair(p[r][2 * i + 1][2], p[r][2 * i + 1][3]);
            }
#pragma unroll
            for (int n = 0; n < D / 16; n++) {
                u32 b[4];
                load_matrix_x4_transposed(b, v + (i * 16 + lane % 16) * STRIDE + n * 16 + lane / 16 * 8);
                u32 low[2] = {b[0], b[1]};
                u32 high[2] = {b[2], b[3]};
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    mma_16816(o[r][2 * n], a[r], low, T());
                    mma_16816(o[r][2 * n + 1], a[r], high, T());
                }
            }
        }
    }

    // Adds the sums of 16 rows' weights, rounded, to all columns of `sums`: a product with ones.
    template <int KEYS>
    static __device__ __forceinline__ void total(float (&sums)[4], const float (&p)[KEYS / 8][4]) {
        u32 one = pair(1.0f, 1.0f);
        u32 ones[2] = {one, one};
#pragma unroll
        for (int i = 0; i < KEYS / 16; i++) {
            u32 a[4];
            a[0] = pair(p[2 * i][0], p[2 * i][1]);
            a[1] = pair(p[2 * i][2], p[2 * i][3]);
            a[2] = pair(p[2 * i + 1][0], p[2 * i + 1][1]);
            a[3] = pair(p[2 * i + 1][2], p[2 * i + 1][3]);
            mma_16816(sums, a, ones, T());
        }
    }

    // Makes them the totals of rows g and g + 8, in 0 and 2.
    static __device__ __forceinline__ void finish(float (&)[4]) {}
};

template <int D, int ROWS, bool KEPT>
struct Fragments<f16, D, ROWS, KEPT> : HalfFragments<f16, D, ROWS, KEPT> {};

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
template <int D, int ROWS, bool KEPT>
struct Fragments<bf16, D, ROWS, KEPT> : HalfFragments<bf16, D, ROWS, KEPT> {};

// f32 in TF32: mma.m16n8k8. The keys of a product may come in any order, so a lane's weights serve as they are: its columns 2t and 2t + 1
// stand for the operand's t and t + 4.
template <int D, int ROWS, bool KEPT>
struct Fragments<float, D, ROWS, KEPT> {
    static constexpr int STRIDE = D + 4;

    u32 q[KEPT ? ROWS : 1][KEPT ? D / 8 : 1][4];

    static __device__ __forceinline__ u32 rounded(float v) { return __float_as_uint(to_tf32(v)); }

    static __device__ __forceinline__ void load(u32 (&q)[4], const float* rows, int r, int i, int lane) {
        const float* at = rows + (r * 16 + lane / 4) * STRIDE + i * 8 + lane % 4;
        q[0] = rounded(at[0]);
        q[1] = rounded(at[8 * STRIDE]);
        q[2] = rounded(at[4]);
        q[3] = rounded(at[8 * STRIDE + 4]);
    }

    __device__ __forceinline__ void keep(const float* rows, int lane) {
        if constexpr (KEPT) {
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
#pragma unroll
                for (int i = 0; i < D / 8; i++) load(q[r][i], rows, r, i, lane);
            }
        }
    }

    template <int KEYS>
    __device__ __forceinline__ void scores(float (&s)[ROWS][KEYS / 8][4], const float* rows, const float* k, int lane) const {
#pragma unroll
        for (int i = 0; i < D / 8; i++) {
            u32 fresh[KEPT ? 1 : ROWS][4];
            if constexpr (!KEPT) {
#pragma unroll
                for (int r = 0; r < ROWS; r++) load(fresh[r], rows, r, i, lane);
            }
#pragma unroll
            for (int n = 0; n < KEYS / 8; n++) {
                const float* at = k + (n * 8 + lane / 4) * STRIDE + i * 8 + lane % 4;
                u32 b[2] = {rounded(at[0]), rounded(at[4])};
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    u32 a[4];
#pragma unroll
                    for (int e = 0; e < 4; e++) a[e] = KEPT ? q[KEPT ? r : 0][KEPT ? i : 0][e] : fresh[KEPT ? 0 : r][e];
                    mma_1688_tf32(s[r][n], a, b);
                }
            }
        }
    }

    template <int KEYS>
    __device__ __forceinline__ void mix(float (&o)[ROWS][D / 8][4], const float (&p)[ROWS][KEYS / 8][4], const float* v, int lane) const {
#pragma unroll
        for (int i = 0; i < KEYS / 8; i++) {
            u32 a[ROWS][4];
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                a[r][0] = rounded(p[r][i][0]);
                a[r][1] = rounded(p[r][i][2]);
                a[r][2] = rounded(p[r][i][1]);
                a[r][3] = rounded(p[r][i][3]);
            }
            const float* at = v + (i * 8 + lane % 4 * 2) * STRIDE + lane / 4;
#pragma unroll
            for (int n = 0; n < D / 8; n++) {
                u32 b[2] = {rounded(at[n * 8]), rounded(at[STRIDE + n * 8])};
#pragma unroll
                for (int r = 0; r < ROWS; r++) mma_1688_tf32(o[r][n], a[r], b);
            }
        }
    }

    template <int KEYS>
    static __device__ __forceinline__ void total(float (&sums)[4], const float (&p)[KEYS / 8][4]) {
#pragma unroll
        for (int n = 0; n < KEYS / 8; n++) {
#pragma unroll
            for (int e = 0; e < 4; e++) sums[e / 2 * 2] += p[n][e];
        }
    }

    static __device__ __forceinline__ void finish(float (&sums)[4]) {
#pragma unroll
        for (int i = 0; i < 4; i += 2) {
            sums[i] += __shfl_xor_sync(0xffffffffu, sums[i], 1);
            sums[i] += __shfl_xor_sync(0xffffffffu, sums[i], 2);
        }
    }
};
#endif
