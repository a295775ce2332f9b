// y = x, bytes. A block moves 16 KiB at a time, 16 bytes an access, four of them in flight a thread.
//
// Launch: 256 threads, any number of blocks; x, y on 16-byte boundaries, any number of bytes.
#include "pack.cuh"

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(copy)(const u8* x, u8* y, i64 bytes) {
    await_predecessor();
    i64 packs = bytes / 16;
    const uint4* from = reinterpret_cast<const uint4*>(x);
    uint4* to = reinterpret_cast<uint4*>(y);
    i64 step = static_cast<i64>(gridDim.x) * 1024;
    for (i64 at = static_cast<i64>(blockIdx.x) * 1024 + threadIdx.x; at < packs; at += step) {
        uint4 v[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (at + 256 * i < packs) v[i] = from[at + 256 * i];
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (at + 256 * i < packs) to[at + 256 * i] = v[i];
        }
    }
    i64 tail = packs * 16 + threadIdx.x;
    if (blockIdx.x == 0 && tail < bytes) y[tail] = x[tail];
}
TENON_ENTRY(copy)

// Four small copies in one launch; one of 0 bytes does nothing.
//
// Launch: 256 threads, a block a copy; x, y on 16-byte boundaries, any number of bytes.
extern "C" __global__ void __launch_bounds__(256) TENON_NAME(copy_few)(
    const u8* x0, u8* y0, i64 bytes0, const u8* x1, u8* y1, i64 bytes1, const u8* x2, u8* y2, i64 bytes2, const u8* x3, u8* y3, i64 bytes3) {
    await_predecessor();
    bool late = blockIdx.x >= 2, odd = blockIdx.x % 2 != 0;
    const u8* x = late ? (odd ? x3 : x2) : odd ? x1 : x0;
    u8* y = late ? (odd ? y3 : y2) : odd ? y1 : y0;
    i64 bytes = late ? (odd ? bytes3 : bytes2) : odd ? bytes1 : bytes0;
    i64 packs = bytes / 16;
    for (i64 at = threadIdx.x; at < packs; at += 256) reinterpret_cast<uint4*>(y)[at] = reinterpret_cast<const uint4*>(x)[at];
    i64 tail = packs * 16 + threadIdx.x;
    if (tail < bytes) y[tail] = x[tail];
}
TENON_ENTRY(copy_few)
