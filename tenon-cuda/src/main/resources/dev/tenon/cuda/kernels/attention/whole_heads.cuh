// Attention of a warpgroup's 64 queries to 128 keys, all of whose scores are made before they are weighed.
#pragma once
#include "attention_rows.cuh"
#include "wgmma.cuh"

constexpr int KEYS = 128;

#if __CUDA_ARCH_FEAT_SM90_ALL
// Products to scores, in powers of 2.
__device__ __forceinline__ void mask_scores(float (&s)[KEYS / 8][4], float scale, const float* masks) {
#pragma unroll
    for (int n = 0; n < KEYS / 8; n++) {
        float2 more = *reinterpret_cast<const float2*>(masks + n * 8 + threadIdx.x % 4 * 2);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            s[n][2 * i] = s[n][2 * i] * scale + more.x;
            s[n][2 * i + 1] = s[n][2 * i + 1] * scale + more.y;
        }
    }
}

// Scores in powers of 2 of `factor` to weights, of row g (i = 0) or g + 8. Returns their sum.
__device__ __forceinline__ float weigh_row(float (&s)[KEYS / 8][4], int i, float factor) {
    float tops[4];
#pragma unroll
    for (int n = 0; n < KEYS / 8; n++) {
        float most = fmaxf(s[n][2 * i], s[n][2 * i + 1]);
        tops[n % 4] = n < 4 ? most : fmaxf(tops[n % 4], most);
    }
    float top = fmaxf(fmaxf(tops[0], tops[1]), fmaxf(tops[2], tops[3]));
    top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
    top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
    float base = (top == -TENON_INFINITY ? 0.0f : top) * factor;
    float parts[4] = {};
#pragma unroll
    for (int n = 0; n < KEYS / 8; n++) {
#pragma unroll
        for (int e = 0; e < 2; e++) {
            float& v = s[n][2 * i + e];
            v = fast_exp2(v * factor - base);
            parts[n % 4] += v;
        }
    }
    float sum = parts[0] + parts[1] + (parts[2] + parts[3]);
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    return sum + __shfl_xor_sync(0xffffffffu, sum, 2);
}

// A lane's halves of a row of results, times `share`.
template <typename T, int N>
__device__ __forceinline__ void store_halves(T* to, int dv, const float (&o)[N][4], int i, float share) {
#pragma unroll
    for (int n = 0; n < N; n += 4) {
        u32 words[4];
#pragma unroll
        for (int e = 0; e < 4; e++) words[e] = to_pair(o[n + e][2 * i] * share, o[n + e][2 * i + 1] * share, T());
        transpose_4(words);
        int c = (n + static_cast<int>(threadIdx.x) % 4) * 8;
        if (c < dv) store_16(to + c, words);
    }
}

// Halves whose queries, keys and values lie in shared memory in lines of D elements, chunks swapped as the copy engine does it.
template <typename T, int D>
struct WholeHeads {
    static constexpr int LINE = D * sizeof(T);
    static constexpr int DEEP = 32;  // bytes of a line that are multiplied together

    using Scores = float[KEYS / 8][4];
    using Weights = u32[KEYS / 16][4];
    using Results = float[D / 8][4];

    // Operands whose atoms of 8 lines follow each other; one that is read across its depth has as many elements as a line.
    static __device__ __forceinline__ u64 operand(u32 address) {
        constexpr u32 SWAPPED = LINE == 128 ? 1 : 2;
        return static_cast<u64>(8 * LINE >> 4 | SWAPPED << 30) << 32 | address >> 4;
    }

    // Which chunk of a line has the other's place.
    static __device__ __forceinline__ int swapped(int line) { return LINE == 128 ? line % 8 : line / 2 % 4; }

    // Asks for products, which are there when all products are.
    static __device__ __forceinline__ void multiply(Scores& s, u32 queries, u32 keys) {
#pragma unroll
        for (int i = 0; i < LINE / DEEP; i++) {
            if (i == 0) {
                fresh_warpgroup_product(s, operand(queries), operand(keys), T());
            } else {
                warpgroup_product<true, true>(s, operand(queries + i * DEEP), operand(keys + i * DEEP), T());
            }
        }
    }

    // o += weights · values, likewise.
    static __device__ __forceinline__ void mix(Results& o, const Weights& weights, u32 values) {
#pragma unroll
        for (int i = 0; i < KEYS / 16; i++) warpgroup_product(o, weights[i], operand(values + i * 16 * LINE), T());
    }

    // Weights of row g or g + 8 as the left operand.
    static __device__ __forceinline__ void pack(Weights& weights, const Scores& s, int row) {
#pragma unroll
        for (int i = 0; i < KEYS / 16; i++) {
#pragma unroll
            for (int half = 0; half < 2; half++) weights[i][2 * half + row] = to_pair(s[2 * i + half][2 * row], s[2 * i + half][2 * row + 1], T());
        }
    }
};
#endif
