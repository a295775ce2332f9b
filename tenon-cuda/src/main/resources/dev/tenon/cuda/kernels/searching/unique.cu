// The different slices of an axis of x [outer][n][inner]: first[g] = the first slice of a group of equals, counts[g] = how many it has,
// inverse[slice] = its group; zeros past the last group, whose number goes to count. Groups are numbered in ascending order, or in that of
// their first slices. Slices are compared element by element by their keys (sort_key.cuh).
//
//   unique_merge   merges sorted runs of `run` places in pairs: each place finds its rank in the other run; `places` null for 0, 1, 2, ...
//   unique_heads   heads[j] = whether the j-th slice in order differs from the one before it
//   unique_groups  groups[j] = its number in ascending order, starts[group] = its first j
//   unique_firsts  firsts[slice] = whether it is the first of its group
//   unique_ranks   ranks[slice] = how many firsts lie before it
//   unique_write   the results; `ranks` null for ascending order
//
// Heads and firsts are bytes, counted by non_zero_count. Launch: 256 threads; unique_groups and unique_ranks a block a chunk, as that, others
// any number of blocks. Fewer than 2^32 - 1 slices. Variants: TENON_T an unsigned integer as wide as the elements.
#include "compact.cuh"
#include "sort_key.cuh"

typedef TENON_T T;
typedef KeyOf<sizeof(T)>::type K;

struct Slices {
    const T* x;
    Order order;
    i64 outer;
    i64 n;
    i64 inner;

    // Below 0, 0 or above 0, as slice a lies before, with or after slice b.
    __device__ __forceinline__ int compare(u32 a, u32 b) const {
        for (i64 o = 0; o < outer; o++) {
            const T* lane = x + o * n * inner;
            for (i64 i = 0; i < inner; i++) {
                K p = sort_key(order, lane[a * inner + i]);
                K q = sort_key(order, lane[b * inner + i]);
                if (p != q) return p < q ? -1 : 1;
            }
        }
        return 0;
    }
};

__device__ __forceinline__ u32 place_at(const u32* places, i64 at) { return places == nullptr ? static_cast<u32>(at) : places[at]; }

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(unique_merge)(const void* x, const void* places, void* merged, i32 kind, i64 largest, i64 outer, i64 n, i64 inner, i64 run) {
    release_successor();
    await_predecessor();
    Slices slices = {static_cast<const T*>(x), {kind, static_cast<u64>(largest)}, outer, n, inner};
    const u32* from = static_cast<const u32*>(places);
    for (i64 at = global_thread(); at < n; at += global_threads()) {
        i64 number = at / run;
        bool left = number % 2 == 0;
        i64 low = (left ? number + 1 : number - 1) * run;
        i64 first = low < n ? low : n;
        low = first;
        i64 high = low + run < n ? low + run : n;
        u32 mine = place_at(from, at);
        while (low < high) {  // those of the left run come first among equals
            i64 middle = low + (high - low) / 2;
            int other = slices.compare(place_at(from, middle), mine);
            if (left ? other < 0 : other <= 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        static_cast<u32*>(merged)[(number - (left ? 0 : 1)) * run + (at - number * run) + (low - first)] = mine;
    }
}
TENON_ENTRY(unique_merge)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(unique_heads)(const void* x, const void* places, void* heads, i32 kind, i64 largest, i64 outer, i64 n, i64 inner) {
    release_successor();
    await_predecessor();
    Slices slices = {static_cast<const T*>(x), {kind, static_cast<u64>(largest)}, outer, n, inner};
    const u32* order = static_cast<const u32*>(places);
    for (i64 j = global_thread(); j < n; j += global_threads()) static_cast<u8*>(heads)[j] = j == 0 || slices.compare(place_at(order, j - 1), place_at(order, j)) != 0;
}
TENON_ENTRY(unique_heads)

struct Flagged {
    const u8* flags;

    __device__ __forceinline__ bool operator()(i64 i) const { return flags[i] != 0; }
};

struct WriteGroup {
    u32* groups;
    u32* starts;

    __device__ __forceinline__ void operator()(i64 j, bool kept, i64 before) const {
        groups[j] = static_cast<u32>(kept ? before : before - 1);
        if (kept) starts[before] = static_cast<u32>(j);
    }
};

struct WriteRank {
    u32* ranks;

    __device__ __forceinline__ void operator()(i64 i, bool, i64 before) const { ranks[i] = static_cast<u32>(before); }
};

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(unique_groups)(const void* heads, const void* counts, void* groups, void* starts, void* count, i64 n, i64 chunks, i64 chunk) {
    release_successor();
    await_predecessor();
    Flagged keep = {static_cast<const u8*>(heads)};
    WriteGroup put = {static_cast<u32*>(groups), static_cast<u32*>(starts)};
    i64 all = place_kept(keep, put, n, chunks, chunk, static_cast<const i64*>(counts));
    if (global_thread() == 0) *static_cast<i64*>(count) = all;
}
TENON_ENTRY(unique_groups)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(unique_firsts)(const void* heads, const void* places, void* firsts, i64 n) {
    release_successor();
    await_predecessor();
    const u32* order = static_cast<const u32*>(places);
    for (i64 j = global_thread(); j < n; j += global_threads()) static_cast<u8*>(firsts)[place_at(order, j)] = static_cast<const u8*>(heads)[j];
}
TENON_ENTRY(unique_firsts)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(unique_ranks)(const void* firsts, const void* counts, void* ranks, i64 n, i64 chunks, i64 chunk) {
    release_successor();
    await_predecessor();
    place_kept(Flagged{static_cast<const u8*>(firsts)}, WriteRank{static_cast<u32*>(ranks)}, n, chunks, chunk, static_cast<const i64*>(counts));
}
TENON_ENTRY(unique_ranks)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(unique_write)(const void* places, const void* groups, const void* starts, const void* ranks, const void* count, void* first, void* inverse, void* counts, i64 n) {
    release_successor();
    await_predecessor();
    const u32* order = static_cast<const u32*>(places);
    const u32* start = static_cast<const u32*>(starts);
    const u32* by_first = static_cast<const u32*>(ranks);
    i64 all = *static_cast<const i64*>(count);
    for (i64 j = global_thread(); j < n; j += global_threads()) {
        i64 group = static_cast<const u32*>(groups)[j];
        i64 begin = start[group];
        u32 leader = place_at(order, begin);
        i64 number = by_first == nullptr ? group : by_first[leader];
        static_cast<i64*>(inverse)[place_at(order, j)] = number;
        if (j == begin) {
            static_cast<i64*>(first)[number] = leader;
            static_cast<i64*>(counts)[number] = (group + 1 < all ? start[group + 1] : n) - begin;
        }
        if (j >= all) {
            static_cast<i64*>(first)[j] = 0;
            static_cast<i64*>(counts)[j] = 0;
        }
    }
}
TENON_ENTRY(unique_write)
