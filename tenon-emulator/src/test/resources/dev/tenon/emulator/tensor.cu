// Tensor-core fragments element by element, and copies that overlap with work.
#include "tenon.cuh"

// d = c + a b by one warp: a 16×16 row-major, b 16×8 row-major, from global memory.
template <typename T>
__device__ void multiply(const u16* a, const u16* b, float* d) {
    int group = threadIdx.x / 4, pair = threadIdx.x % 4 * 2;
    u32 fa[4], fb[2];
    for (int r = 0; r < 4; r++) {
        const u16* at = a + (group + r % 2 * 8) * 16 + pair + r / 2 * 8;
        fa[r] = at[0] | static_cast<u32>(at[1]) << 16;
    }
    for (int r = 0; r < 2; r++) {
        const u16* at = b + (pair + r * 8) * 8 + group;
        fb[r] = at[0] | static_cast<u32>(at[8]) << 16;
    }
    float fd[4];
    for (int r = 0; r < 4; r++) fd[r] = d[(group + r / 2 * 8) * 8 + pair + r % 2];
    mma_16816(fd, fa, fb, T());
    for (int r = 0; r < 4; r++) d[(group + r / 2 * 8) * 8 + pair + r % 2] = fd[r];
}

extern "C" __global__ void mma_f16(const u16* a, const u16* b, float* d) { multiply<f16>(a, b, d); }
TENON_ENTRY(mma_f16)

extern "C" __global__ void mma_bf16(const u16* a, const u16* b, float* d) { multiply<bf16>(a, b, d); }
TENON_ENTRY(mma_bf16)

extern "C" __global__ void mma_tf32(const float* a, const float* b, float* d) {
    int group = threadIdx.x / 4, in = threadIdx.x % 4;
    u32 fa[4], fb[2];
    for (int r = 0; r < 4; r++) fa[r] = __float_as_uint(a[(group + r % 2 * 8) * 8 + in + r / 2 * 4]);
    for (int r = 0; r < 2; r++) fb[r] = __float_as_uint(b[(in + r * 4) * 8 + group]);
    float fd[4];
    for (int r = 0; r < 4; r++) fd[r] = d[(group + r / 2 * 8) * 8 + in * 2 + r % 2];
    mma_1688_tf32(fd, fa, fb);
    for (int r = 0; r < 4; r++) d[(group + r / 2 * 8) * 8 + in * 2 + r % 2] = fd[r];
}
TENON_ENTRY(mma_tf32)

// m: four 8×8 matrices, one behind the other.
extern "C" __global__ void matrices(const u16* m, u32* out, int transposed) {
    __shared__ __align__(16) u16 s[256];
    for (int i = threadIdx.x; i < 256; i += 32) s[i] = m[i];
    __syncwarp();
    u32 r[4];
    if (transposed) {
        load_matrix_x4_transposed(r, s + threadIdx.x * 8);
    } else {
        load_matrix_x4(r, s + threadIdx.x * 8);
    }
    for (int k = 0; k < 4; k++) out[threadIdx.x * 4 + k] = r[k];
}
TENON_ENTRY(matrices)

// Sums tiles of 128 floats, two copies under way at a time.
extern "C" __global__ void pipeline(const float* x, float* y, int tiles) {
    __shared__ __align__(16) float s[2][128];
    float sum = 0;
    copy_async_16(&s[0][threadIdx.x * 4], x + threadIdx.x * 4);
    copy_async_commit();
    for (int t = 0; t < tiles; t++) {
        if (t + 1 < tiles) copy_async_16(&s[(t + 1) % 2][threadIdx.x * 4], x + (t + 1) * 128 + threadIdx.x * 4);
        copy_async_commit();
        copy_async_wait<1>();
        __syncthreads();
        for (int i = 0; i < 4; i++) sum += s[t % 2][(threadIdx.x + i * 32) % 128];
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}
TENON_ENTRY(pipeline)

extern "C" __global__ void to_floats(float* h, float* b) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    h[i] = to_f32(f16{static_cast<u16>(i)});
    b[i] = to_f32(bf16{static_cast<u16>(i)});
}
TENON_ENTRY(to_floats)

extern "C" __global__ void from_floats(const float* x, u16* h, u16* b) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    h[i] = to_f16(x[i]).bits;
    b[i] = to_bf16(x[i]).bits;
}
TENON_ENTRY(from_floats)
