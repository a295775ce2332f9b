// What convolutions by warpgroups share: where windows lie that the copy engine walks over, and how results are finished and stored.
#pragma once
#include "conv.cuh"
#include "wgmma.cuh"

// The sizes that a block counts by.
struct ConvWindows {
    i64 rows;      // m
    i64 outputs;   // n
    i64 height;    // of y
    i64 width;
    i64 channels;  // 128 bytes of them at a time: how often
    i64 cells[2];  // of the window
    i64 stride[2];
    i64 before[2];
    i64 dilation[2];
    i64 parts;
    i64 plane;     // positions of an image, where channels lie outside of them in y and residual; else 0
};

#if __CUDA_ARCH_FEAT_SM90_ALL
constexpr int WINDOWS = 128;  // rows of a tile
constexpr int LINE = 128;     // bytes of k, per step and row

// Steps of k of the windows from one position on, from one step on: cells, and within a cell channels.
struct WindowSteps {
    i32 x;
    i32 y;
    i32 image;
    int cell;
    int channel;  // lines

    __device__ __forceinline__ WindowSteps(const ConvWindows& s, i64 row0, int from) {
        int row = static_cast<int>(row0);
        int width = static_cast<int>(s.width);
        int line = row / width;
        int height = static_cast<int>(s.height);
        image = line / height;
        x = (row - line * width) * static_cast<i32>(s.stride[1]) - static_cast<i32>(s.before[1]);
        y = (line - image * height) * static_cast<i32>(s.stride[0]) - static_cast<i32>(s.before[0]);
        cell = from / static_cast<int>(s.channels);
        channel = from - cell * static_cast<int>(s.channels);
    }

    template <typename T>
    __device__ __forceinline__ void copy(u32 to, const TensorMap& windows, const ConvWindows& s, u32 barrier, T) const {
        int wide = static_cast<int>(s.cells[1]);
        int high = cell / wide;
        copy_windows(
            to, windows, channel * (LINE / static_cast<int>(sizeof(T))), x, y, image, (cell - high * wide) * static_cast<int>(s.dilation[1]),
            high * static_cast<int>(s.dilation[0]), barrier);
    }

    __device__ __forceinline__ void next(const ConvWindows& s) {
        if (++channel == static_cast<int>(s.channels)) channel = 0, cell++;
    }
};

// Where an operand lies, lines of 128 bytes.
__device__ __forceinline__ u64 lines_at(u32 address) { return static_cast<u64>(1024u >> 4 | 1u << 30) << 32 | 1u << 16 | address >> 4; }

// The two numbers of a word.
template <typename T>
__device__ __forceinline__ float2 two_of(u32 word) {
    const T* both = reinterpret_cast<const T*>(&word);
    return make_float2(to_compute(both[0]), to_compute(both[1]));
}

template <int FN, typename T>
__device__ __forceinline__ float finished(float sum, float added, const ConvEpilogue<T>& epilogue) {
    float v = epilogue.before(sum, added);
    if (FN == FN_RELU) v = v <= 0 ? 0.0f : v;
    if (FN > 0 && FN != FN_RELU) v = unary_fn(FN, v, epilogue.p0, epilogue.p1);
    return epilogue.after(v, added);
}

// Finishes and stores a warp's 16 rows from row0 on from registers; lanes hold results as mma has them.
template <int FN, int COLUMNS, typename T>
__device__ __forceinline__ void store_windows(
    const float (&sums)[COLUMNS / 8][4], T* y, const ConvWindows& s, const ConvEpilogue<T>& epilogue, const float* biases, i64 row0, int column0) {
    int lane = threadIdx.x % 32;
    i64 first = row0 + lane / 4;
    int n = static_cast<int>(s.outputs);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        i64 row = first + i * 8;
        bool there = row < s.rows;
        i64 line = row * n;
        if constexpr (sizeof(T) == 2) {
#pragma unroll
            for (int unit = 0; unit < COLUMNS / 32; unit++) {
                int own = unit * 32 + lane % 4 * 8;
                bool inside = there && column0 + own < n;
                u32 added[4] = {};
                if (epilogue.residual) {
                    uint4 words = {};
                    if (inside) words = *reinterpret_cast<const uint4*>(epilogue.residual + line + column0 + own);
                    added[0] = words.x, added[1] = words.y, added[2] = words.z, added[3] = words.w;
                    transpose_4(added);
                }
                u32 words[4];
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    float2 bias = *reinterpret_cast<const float2*>(biases + unit * 32 + j * 8 + lane % 4 * 2);
                    float2 more = epilogue.residual ? two_of<T>(added[j]) : make_float2(0, 0);
                    const float(&sum)[4] = sums[unit * 4 + j];
                    words[j] = to_pair(finished<FN>(sum[2 * i] + bias.x, more.x, epilogue),
                                       finished<FN>(sum[2 * i + 1] + bias.y, more.y, epilogue), T());
                }
                transpose_4(words);
                if (inside) store_16(y + line + column0 + own, words);
            }
        } else if (s.plane) {
            // eight lanes have neighbouring rows, which are whole sectors
            i64 image = row / s.plane;
            i64 at = (image * n + column0) * s.plane + (row - image * s.plane);
#pragma unroll
            for (int j = 0; j < COLUMNS / 8; j++) {
                int own = j * 8 + lane % 4 * 2;
                if (!there || column0 + own >= n) continue;
                float2 bias = *reinterpret_cast<const float2*>(biases + own);
                i64 to = at + own * s.plane;
                float2 more = make_float2(0, 0);
                if (epilogue.residual) more = make_float2(to_compute(epilogue.residual[to]), to_compute(epilogue.residual[to + s.plane]));
                y[to] = From<T>::of(finished<FN>(sums[j][2 * i] + bias.x, more.x, epilogue));
                y[to + s.plane] = From<T>::of(finished<FN>(sums[j][2 * i + 1] + bias.y, more.y, epilogue));
            }
        } else {
#pragma unroll
            for (int j = 0; j < COLUMNS / 8; j++) {
                int own = j * 8 + lane % 4 * 2;
                if (!there || column0 + own >= n) continue;
                float2 bias = *reinterpret_cast<const float2*>(biases + own);
                float2 more = make_float2(0, 0);
                if (epilogue.residual) more = *reinterpret_cast<const float2*>(epilogue.residual + line + column0 + own);
                *reinterpret_cast<float2*>(y + line + column0 + own) =
                    make_float2(finished<FN>(sums[j][2 * i] + bias.x, more.x, epilogue), finished<FN>(sums[j][2 * i + 1] + bias.y, more.y, epilogue));
            }
        }
    }
}
#endif
