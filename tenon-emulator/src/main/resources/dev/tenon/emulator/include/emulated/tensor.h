// Tensor-core fragments and asynchronous copies, computed by the runtime (tensor.cpp) in the layouts of the PTX ISA. Registers pass by
// value, so that fragments stay in registers here too.
#pragma once

TENON_DEVICE void load_matrix_x4(u32 (&r)[4], const void* shared_row, TENON_WHERE) {
    TenonWords v = tenon_load_matrix(shared_row, 0, line, file);
    r[0] = v.x, r[1] = v.y, r[2] = v.z, r[3] = v.w;
}

TENON_DEVICE void load_matrix_x4_transposed(u32 (&r)[4], const void* shared_row, TENON_WHERE) {
    TenonWords v = tenon_load_matrix(shared_row, 1, line, file);
    r[0] = v.x, r[1] = v.y, r[2] = v.z, r[3] = v.w;
}

namespace tenon {
TENON_DEVICE unsigned long long pair(u32 low, u32 high) { return static_cast<unsigned long long>(high) << 32 | low; }

TENON_DEVICE void mma(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], int kind, int line, const char* file) {
    TenonFragment r = tenon_mma(d[0], d[1], d[2], d[3], pair(a[0], a[1]), pair(a[2], a[3]), pair(b[0], b[1]), kind, line, file);
    d[0] = r.d0, d[1] = r.d1, d[2] = r.d2, d[3] = r.d3;
}
}  // namespace tenon

TENON_DEVICE void mma_16816(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], f16, TENON_WHERE) {
    tenon::mma(d, a, b, 0, line, file);
}
TENON_DEVICE void mma_16816(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], bf16, TENON_WHERE) {
    tenon::mma(d, a, b, 1, line, file);
}
TENON_DEVICE float to_tf32(float v) { return v; }
// The emulator promises f32 results that hold for f32: the low bits, which the device ignores, count here.
TENON_DEVICE void mma_1688_tf32(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], TENON_WHERE) {
    tenon::mma(d, a, b, 2, line, file);
}

// There is no L2 to tell.
TENON_DEVICE u64 l2_normal() { return 0; }
TENON_DEVICE u64 l2_let_go() { return 0; }
TENON_DEVICE u64 l2_keep() { return 0; }
TENON_DEVICE uint4 load_16(const void* global, u64) { return *static_cast<const uint4*>(global); }
TENON_DEVICE void store_16(void* global, uint4 v, u64) { *static_cast<uint4*>(global) = v; }
TENON_DEVICE void store_16(void* global, const u32 (&v)[4]) { *static_cast<uint4*>(global) = make_uint4(v[0], v[1], v[2], v[3]); }

TENON_DEVICE void copy_async_16(void* shared, const void* global) { tenon_copy_async(shared, global, 16); }
TENON_DEVICE void copy_async_16(void* shared, const void* global, u64) { tenon_copy_async(shared, global, 16); }
TENON_DEVICE void copy_async_4(void* shared, const void* global) { tenon_copy_async(shared, global, 4); }
TENON_DEVICE void copy_async_16_if(void* shared, const void* global, bool there) {
    if (there) {
        tenon_copy_async(shared, global, 16);
    } else {
        *static_cast<uint4*>(shared) = {};
    }
}
TENON_DEVICE void copy_async_commit() { tenon_copy_commit(); }
template <int N>
TENON_DEVICE void copy_async_wait() {
    tenon_copy_wait(N);
}
