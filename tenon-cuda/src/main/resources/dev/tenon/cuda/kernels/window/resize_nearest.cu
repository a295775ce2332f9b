// y[i, j, …] = x[the element of each axis that is nearest to its coordinate], or the extrapolation value where a coordinate is outside.
//
//   resize_places    finds the element along each resampled axis, once: a thread a place, blockIdx.y the axis
//   resize_nearest   moves the elements, a thread each
//
// Launch: 256 threads, any number of blocks. Where the last dims are not resampled, runs of them are told as fewer, wider elements, up to 16
// bytes. The workspace has the tables that ResizeAxes (resize.cuh) says. Variants: TENON_T an unsigned integer as wide as the elements, or uint4.
#include "resize.cuh"

typedef TENON_T T;

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(resize_places)(void* workspace, ResizeAxes axes) {
    resize_fill_all<float>(axes, static_cast<u8*>(workspace));
}
TENON_ENTRY(resize_places)

template <typename I>
__device__ __forceinline__ void move_all(const T* x, T* y, const u8* workspace, i64 elements, const ResizeAxes& axes, const ResizeWalk& walk, T outside) {
    for (i64 to = global_thread(); to < elements; to += global_threads()) {
        I rest = static_cast<I>(to);
        i64 from = 0;
        bool inside = true;
        for (int d = static_cast<int>(walk.dims) - 1; d >= 0; d--) {
            I up = rest / static_cast<I>(walk.sizes[d]);
            i64 index = static_cast<i64>(rest - up * static_cast<I>(walk.sizes[d]));
            int axis = static_cast<int>(walk.axis[d]);
            if (axis >= 0) {
                i32 place = reinterpret_cast<const i32*>(workspace + axes.first[axis])[index];
                inside = inside && place != RESIZE_NOTHING;
                index = place;
            }
            from += index * walk.strides[d];
            rest = up;
        }
        y[to] = inside ? x[from] : outside;
    }
}

// `outside` are the bits of the extrapolation value, eight bytes twice.
extern "C" __global__ void __launch_bounds__(256) TENON_NAME(resize_nearest)(const void* x, void* y, const void* workspace, i64 elements, ResizeAxes axes, ResizeWalk walk, i64 outside) {
    release_successor();
    await_predecessor();
    i64 both[2] = {outside, outside};
    T value = *reinterpret_cast<T*>(both);
    if (elements <= 0x7fffffff) {
        move_all<u32>(static_cast<const T*>(x), static_cast<T*>(y), static_cast<const u8*>(workspace), elements, axes, walk, value);
    } else {
        move_all<u64>(static_cast<const T*>(x), static_cast<T*>(y), static_cast<const u8*>(workspace), elements, axes, walk, value);
    }
}
TENON_ENTRY(resize_nearest)
