// Every warp collective with a mask of its own for each lane: lanes of one mask form a group, so that several groups are under way at once.
#include "tenon.cuh"

extern "C" __global__ void shuffles(const u32* masks, const int* selectors, const float* in, float* out, int width) {
    u32 lane = threadIdx.x % 32, i = threadIdx.x;
    u32 mask = masks[i];
    int by = selectors[lane];  // index: any; up, down, xor: the same for the whole group
    float v = in[i];
    out[i * 4] = __shfl_sync(mask, v, by, width);
    out[i * 4 + 1] = __shfl_up_sync(mask, v, selectors[32], width);
    out[i * 4 + 2] = __shfl_down_sync(mask, v, selectors[33], width);
    out[i * 4 + 3] = __shfl_xor_sync(mask, v, selectors[34], width);
}
TENON_ENTRY(shuffles)

extern "C" __global__ void votes(const u32* masks, const int* in, u32* out) {
    u32 i = threadIdx.x;
    u32 mask = masks[i];
    int v = in[i], same;
    u32* o = out + i * 13;
    o[0] = __ballot_sync(mask, v & 1);
    o[1] = __any_sync(mask, v & 2);
    o[2] = __all_sync(mask, v & 4);
    o[3] = __match_any_sync(mask, v & 7);
    o[4] = __match_all_sync(mask, v & 8, &same);
    o[5] = same;
    o[6] = __reduce_add_sync(mask, v);
    o[7] = __reduce_min_sync(mask, v);
    o[8] = __reduce_max_sync(mask, v);
    o[9] = __reduce_min_sync(mask, static_cast<u32>(v));
    o[10] = __reduce_and_sync(mask, static_cast<u32>(v));
    o[11] = __reduce_or_sync(mask, static_cast<u32>(v));
    o[12] = __reduce_xor_sync(mask, static_cast<u32>(v));
}
TENON_ENTRY(votes)

extern "C" __global__ void types(double* d, i64* l, u16* h, u8* b) {
    u32 i = threadIdx.x;
    d[i] = __shfl_xor_sync(0xffffffffu, d[i], 1);
    l[i] = __shfl_xor_sync(0xffffffffu, l[i], 2);
    h[i] = __shfl_xor_sync(0xffffffffu, h[i], 4);
    b[i] = __shfl_xor_sync(0xffffffffu, b[i], 8);
}
TENON_ENTRY(types)

extern "C" __global__ void active(u32* out) {
    u32 i = threadIdx.x;
    out[i * 2] = __activemask();
    if (i % 3 == 0) {
        out[i * 2 + 1] = __activemask();
    } else {
        out[i * 2 + 1] = __activemask();
    }
}
TENON_ENTRY(active)

extern "C" __global__ void block_votes(const int* in, int* out) {
    u32 i = threadIdx.x;
    out[i * 3] = __syncthreads_or(in[i] > 1000);
    out[i * 3 + 1] = __syncthreads_and(in[i] >= 0);
    out[i * 3 + 2] = __syncthreads_count(in[i] & 1);
}
TENON_ENTRY(block_votes)
