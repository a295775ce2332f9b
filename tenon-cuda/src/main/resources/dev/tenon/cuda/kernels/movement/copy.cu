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
