// Greedy selection of boxes, lane by lane of scores [image][class][box]: the best score first, the lower index on ties; a box that overlaps a
// selected one by more than a threshold is left out, as is one whose score is not greater than another threshold. Areas and overlaps are
// worked out in double, each product rounded.
//
//   box_keys    keys [lane][box] for an ascending sort: the best first, all bits set for those whose score is too low
//   box_select  after the sort: selected [lane][most] and counts [lane]; a block of 256 threads a lane, which takes 256 boxes at a time,
//               compares each with those that are selected already, then goes through them in order
//   box_write   rows of image, class and box, in the order of lanes; zeros past their number, which goes to count
//
// Launch: 256 threads, any number of blocks. Static shared memory. Variants: TENON_T float, double, f16, bf16; keys have 64 bits for
// double, else 32.
#include "binary_fn.cuh"
#include "compact.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;

__device__ __forceinline__ u32 key_of(float score) {
    u32 bits = __float_as_uint(score);
    return bits >> 31 != 0 ? bits : 0x7fffffffu - bits;
}

__device__ __forceinline__ u64 key_of(double score) {
    u64 bits = static_cast<u64>(__double_as_longlong(score));
    return bits >> 63 != 0 ? bits : 0x7fffffffffffffffull - bits;
}

template <typename A>
struct KeyType {
    typedef u32 type;
};

template <>
struct KeyType<double> {
    typedef u64 type;
};

typedef KeyType<A>::type K;

struct Box {
    double low_y;
    double low_x;
    double high_y;
    double high_x;

    __device__ __forceinline__ double area() const { return __dmul_rn(high_y - low_y, high_x - low_x); }
};

__device__ __forceinline__ Box load_box(const T* boxes, i64 at, i32 center) {
    double a = to_compute(boxes[4 * at]), b = to_compute(boxes[4 * at + 1]), c = to_compute(boxes[4 * at + 2]), d = to_compute(boxes[4 * at + 3]);
    if (center) return {b - d / 2, a - c / 2, b + d / 2, a + c / 2};
    return {least(a, c), least(b, d), greatest(a, c), greatest(b, d)};
}

__device__ __forceinline__ double overlap(const Box& p, const Box& q) {
    double height = least(p.high_y, q.high_y) - greatest(p.low_y, q.low_y);
    double width = least(p.high_x, q.high_x) - greatest(p.low_x, q.low_x);
    double mine = p.area(), other = q.area();
    if (!(height > 0) || !(width > 0) || !(mine > 0) || !(other > 0)) return 0;
    double shared = __dmul_rn(height, width);
    return shared / (mine + other - shared);
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(box_keys)(const void* scores, const void* threshold, void* keys, i64 elements) {
    release_successor();
    await_predecessor();
    A low = to_compute(*static_cast<const T*>(threshold));
    for (i64 at = global_thread(); at < elements; at += global_threads()) {
        A score = to_compute(static_cast<const T*>(scores)[at]);
        static_cast<K*>(keys)[at] = score > low ? key_of(score) : ~K(0);
    }
}
TENON_ENTRY(box_keys)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(box_select)(const void* boxes, const void* threshold, const void* keys, const void* places, void* selected, void* counts, i32 center, i64 lanes, i64 classes, i64 n, i64 most) {
    __shared__ Box leader;
    __shared__ u32 alive[8];
    release_successor();
    await_predecessor();
    double limit = to_compute(*static_cast<const T*>(threshold));
    int thread = threadIdx.x;
    for (i64 lane = blockIdx.x; lane < lanes; lane += gridDim.x) {
        const T* of_image = static_cast<const T*>(boxes) + lane / classes * n * 4;
        const K* key = static_cast<const K*>(keys) + lane * n;
        const u32* place = static_cast<const u32*>(places) + lane * n;
        u32* chosen = static_cast<u32*>(selected) + lane * most;
        i64 kept = 0;
        bool more = true;
        for (i64 base = 0; base < n && kept < most && more; base += 256) {
            i64 at = base + thread;
            bool mine = at < n && key[at] != ~K(0);
            u32 number = mine ? place[at] : 0;
            Box box = mine ? load_box(of_image, number, center) : Box{0, 0, 0, 0};
            for (i64 s = 0; s < kept && mine; s++) mine = !(overlap(box, load_box(of_image, chosen[s], center)) > limit);
            int next = 0;  // threads before it are done with
            while (kept < most) {
                u32 votes = __ballot_sync(0xffffffffu, mine && thread >= next);
                if (thread % 32 == 0) alive[thread / 32] = votes;
                __syncthreads();
                int first = 256;
                for (int w = 7; w >= 0; w--) {
                    if (alive[w] != 0) first = 32 * w + __ffs(static_cast<int>(alive[w])) - 1;
                }
                if (thread == first) {
                    leader = box;
                    chosen[kept] = number;
                }
                __syncthreads();
                if (first == 256) break;
                kept++;
                next = first + 1;
                if (mine && thread > first) mine = !(overlap(box, leader) > limit);
            }
            more = base + 256 < n && key[base + 256] != ~K(0);
            __syncthreads();
        }
        if (thread == 0) static_cast<i64*>(counts)[lane] = kept;
    }
}
TENON_ENTRY(box_select)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(box_write)(const void* selected, const void* counts, void* rows, void* count, i64 lanes, i64 classes, i64 most) {
    release_successor();
    await_predecessor();
    i64* to = static_cast<i64*>(rows);
    const i64* of_lane = static_cast<const i64*>(counts);
    i64 sums[2];
    for (i64 lane = blockIdx.x; lane < lanes; lane += gridDim.x) {
        sum_counts(of_lane, lanes, lane, sums);
        for (i64 i = threadIdx.x; i < of_lane[lane]; i += 256) {
            i64* row = to + 3 * (sums[0] + i);
            row[0] = lane / classes;
            row[1] = lane % classes;
            row[2] = static_cast<const u32*>(selected)[lane * most + i];
        }
    }
    sum_counts(of_lane, lanes, 0, sums);
    for (i64 at = 3 * sums[1] + global_thread(); at < 3 * lanes * most; at += global_threads()) to[at] = 0;
    if (global_thread() == 0) *static_cast<i64*>(count) = sums[1];
}
TENON_ENTRY(box_write)
