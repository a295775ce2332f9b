// Long rows: `blocks` blocks a row, each with a stretch of it that is kept on the chip as far as it goes: R packs a thread in registers,
// `kept` packs a block in dynamic shared memory; what is left is read a second time, from L2 if it stayed there. Each element crosses the
// bus once each way as long as the row fits the chip.
//
// Launch: THREADS threads; grid = blocks · groups, each group takes every groups-th row; cooperative when blocks > 1, with
//   states   blocks · groups · 2 states,
//   counters 2 · groups counters that are 0, and are 0 again when the launch is done.
#pragma once
#include "row_edges.cuh"

// What a block has of a row's body: first the packs that it keeps in shared memory, then those that it reads twice, then those that it
// keeps in registers.
template <int R, int THREADS>
struct RowStretch {
    i64 begin;   // packs of the body before this stretch
    int shared;  // end of the first kind
    int second;  // end of the second kind
    int packs;

    __device__ __forceinline__ RowStretch(i64 all, int blocks, int part, int kept) {
        i64 each = (all + blocks - 1) / blocks;
        begin = each * part;
        i64 left = all - begin;
        packs = static_cast<int>(left < 0 ? 0 : left < each ? left : each);
        second = packs > R * THREADS ? packs - R * THREADS : 0;
        shared = second < kept ? second : kept;
    }
};

// Asks for a pack of shared memory; it is there after the wait for the group that the copy was committed in.
template <typename T, int V>
__device__ __forceinline__ void ask(Pack<T, V>* kept, const T* from, int pack, u64 policy) {
    if (sizeof(Pack<T, V>) == 16) {
        copy_async_16(kept + pack, from + static_cast<i64>(pack) * V, policy);
    } else {
        kept[pack] = load_pack<T, V>(from, pack);
    }
}

// Folds packs [begin, end) of global or of shared memory, BATCH of a thread at a time.
template <typename Rule, typename T, int V, int BATCH, int THREADS, bool GLOBAL>
__device__ __forceinline__ typename Rule::State fold_packs(typename Rule::State state, const T* from, int begin, int end, u64 policy = 0) {
#pragma unroll 1
    for (int at = begin + threadIdx.x; at < end; at += BATCH * THREADS) {
        Pack<T, V> batch[BATCH];
        int count = 0;
#pragma unroll
        for (int r = 0; r < BATCH; r++) {
            if (at + r * THREADS < end) {
                batch[r] = GLOBAL ? load_pack<T, V>(from, at + r * THREADS, policy) : load_pack<T, V>(from, at + r * THREADS);
                count = (r + 1) * V;
            }
        }
        typename Compute<T>::type v[BATCH * V];
        widen<T, V, BATCH>(batch, v);
        state = Rule::fold(state, v, count);
    }
    return state;
}

template <typename Rule, typename T, int V>
__device__ __forceinline__ void finish_pack(typename Rule::Scale scale, Pack<T, V> held, Affine<T, V> affine, i64 column, T* y,
                                            int pack, u64 policy) {
    typename Compute<T>::type v[V];
    widen<T, V, 1>(&held, v);
#pragma unroll
    for (int i = 0; i < V; i++) v[i] = Rule::apply(scale, v[i]);
    store_pack<T, V>(y, pack, with_affine<Rule, T, V>(v, affine, column + static_cast<i64>(pack) * V), policy);
}

// The states of all blocks of a row, merged in the same order on every one of them, so that all agree to the bit.
template <typename Rule, typename A>
__device__ __forceinline__ typename Rule::State merge_blocks(typename Rule::State mine, typename Rule::State* states, u32* counter, int blocks,
                                                             int part, u32 number, typename Rule::State* slot) {
    typedef typename Rule::State State;
    constexpr int FIELDS = sizeof(State) / sizeof(A);
    constexpr int AT_ONCE = 4;
    if (threadIdx.x == 0) states[part] = mine;
    meet(counter, blocks, number);
    if (threadIdx.x < 32) {
        State all = Rule::none();
        for (int b = threadIdx.x; b < blocks; b += 32 * AT_ONCE) {
            State some[AT_ONCE];
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) {
                some[i] = Rule::none();
                if (b + 32 * i < blocks) {
#pragma unroll
                    for (int f = 0; f < FIELDS; f++) {
                        reinterpret_cast<A*>(&some[i])[f] = reinterpret_cast<volatile A*>(&states[b + 32 * i])[f];
                    }
                }
            }
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) all = Rule::merge(all, some[i]);
        }
        all = Rule::over_lanes(all);
        if (threadIdx.x == 0) *slot = all;
    }
    __syncthreads();
    return *slot;
}

// A block's part of a row; nothing past the last row.
template <typename T, int V, int R, int THREADS>
struct RowPart {
    RowEdges<T, V, 128> edges;  // warps read and write whole lines
    i64 first;  // column
    const T* from;
    int shared, second, packs;  // of the stretch

    __device__ __forceinline__ RowPart(const T* x, i64 row, i64 rows, i64 cols, int blocks, int part, int kept)
        : edges(x + (row < rows ? row : 0) * cols, row < rows ? cols : 0) {
        RowStretch<R, THREADS> stretch(edges.packs, blocks, part, kept);
        first = edges.head + stretch.begin * V;
        from = x + (row < rows ? row : 0) * cols + first;
        shared = stretch.shared;
        second = stretch.second;
        packs = stretch.packs;
    }
};

// Results of the packs that are neither in shared memory nor in registers. What was read last is first to be read again: it may still be
// in L2.
template <typename Rule, typename T, int V, int R, int THREADS>
__device__ __forceinline__ void finish_twice(typename Rule::Scale scale, const RowPart<T, V, R, THREADS>& s, Affine<T, V> affine, T* to,
                                             u64 policy) {
#pragma unroll 1
    for (int at = s.second - 1 - static_cast<int>(threadIdx.x); at >= s.shared; at -= R * THREADS) {
        Pack<T, V> again[R];
#pragma unroll
        for (int r = 0; r < R; r++) {
            if (at - r * THREADS >= s.shared) again[r] = load_pack<T, V>(s.from, at - r * THREADS, policy);
        }
#pragma unroll
        for (int r = 0; r < R; r++) {
            if (at - r * THREADS >= s.shared) finish_pack<Rule, T, V>(scale, again[r], affine, s.first, to, at - r * THREADS, policy);
        }
    }
}

template <template <typename> class RuleOf, typename T, int V, int R, int THREADS>
__device__ __forceinline__ void row_block(const T* __restrict__ x, const T* __restrict__ gamma, const T* __restrict__ beta, T* __restrict__ y,
                                          i64 rows, i64 cols, typename Compute<T>::type epsilon, int blocks, int kept, void* states,
                                          u32* counters) {
    typedef typename Compute<T>::type A;
    typedef RuleOf<A> Rule;
    typedef typename Rule::State State;
    constexpr int BATCH = R / 4;
    constexpr int AHEAD = V == 8 ? 1 : R;  // packs of a thread on their way at once; halves take more registers
    constexpr int QUARTERS = 4;  // groups of copies
    __shared__ State slots[32];
    __shared__ State whole;
    typedef Pack<T, V> P;
    TENON_DYNAMIC_SHARED(P, kept_packs);
    const T* in_shared = reinterpret_cast<const T*>(kept_packs);

    int group = blockIdx.x / blocks, part = blockIdx.x % blocks, groups = gridDim.x / blocks;
    int thread = threadIdx.x;
    await_predecessor();

    // What has been asked for: the packs in shared memory, in four groups of copies, and those in registers.
    RowPart<T, V, R, THREADS> s(x, group, rows, cols, blocks, part, kept);
    int quarter = s.shared / QUARTERS / THREADS * THREADS;
    u64 once = s.shared < s.second ? l2_let_go() : l2_normal();  // leaves L2 to what is read twice
    P held[R];
#pragma unroll
    for (int r = 0; r < R; r++) {
        if (s.second + r * THREADS + thread < s.packs) held[r] = load_pack<T, V>(s.from, s.second + r * THREADS + thread, once);
    }
#pragma unroll 1
    for (int q = 0; q < QUARTERS; q++) {
        int end = q == QUARTERS - 1 ? s.shared : (q + 1) * quarter;
        for (int pack = q * quarter + thread; pack < end; pack += THREADS) ask<T, V>(kept_packs, s.from, pack, once);
        copy_async_commit();
    }
    release_successor();

    u32 number = 0;
    for (i64 row = group; row < rows; row += groups) {
        LooseElement<Rule, T> loose(x + row * cols, s.edges, thread, part == 0);
        State state = fold_packs<Rule, T, V, AHEAD, THREADS, true>(Rule::none(), s.from, s.shared, s.second, l2_keep());
        int left = s.packs - s.second - thread;
        int count = left <= 0 ? 0 : (left + THREADS - 1) / THREADS * V;
#pragma unroll
        for (int q = 0; q < R; q += BATCH) {
            A v[BATCH * V];
            widen<T, V, BATCH>(held + q, v);
            state = Rule::fold(state, v, count - q * V);
        }
        copy_async_wait<3>();  // in the order that they were asked for
        state = fold_packs<Rule, T, V, BATCH, THREADS, false>(state, in_shared, 0, quarter);
        copy_async_wait<2>();
        state = fold_packs<Rule, T, V, BATCH, THREADS, false>(state, in_shared, quarter, 2 * quarter);
        copy_async_wait<1>();
        state = fold_packs<Rule, T, V, BATCH, THREADS, false>(state, in_shared, 2 * quarter, 3 * quarter);
        copy_async_wait<0>();
        state = fold_packs<Rule, T, V, BATCH, THREADS, false>(state, in_shared, 3 * quarter, s.shared);
        state = merge_block<Rule, A>(loose.fold(state), slots);
        if (blocks > 1) {
            State* of_row = static_cast<State*>(states) + (static_cast<i64>(group) * 2 + number % 2) * blocks;
            state = merge_blocks<Rule, A>(state, of_row, counters + group, blocks, part, number + 1, &whole);
            number++;
        }
        typename Rule::Scale scale = Rule::scale(state, cols, epsilon);

        // Each result that leaves the chip makes room for an element of the block's next row.
        RowPart<T, V, R, THREADS> next(x, row + groups, rows, cols, blocks, part, kept);
        T* to = y + row * cols + s.first;
        Affine<T, V> affine(gamma, beta, s.edges.head);
        finish_twice<Rule, T, V, R, THREADS>(scale, s, affine, to, once);
#pragma unroll
        for (int r = 0; r < R; r++) {
            int pack = s.second + r * THREADS + thread;
            if (pack < s.packs) finish_pack<Rule, T, V>(scale, held[r], affine, s.first, to, pack, once);
            pack = next.second + r * THREADS + thread;
            if (pack < next.packs) held[r] = load_pack<T, V>(next.from, pack, once);
        }
        int most = s.shared > next.shared ? s.shared : next.shared;
        quarter = next.shared / QUARTERS / THREADS * THREADS;
#pragma unroll 1
        for (int q = 0; q < QUARTERS; q++) {
            int end = q == QUARTERS - 1 ? most : (q + 1) * quarter;
#pragma unroll 2
            for (int pack = q * quarter + thread; pack < end; pack += THREADS) {
                if (pack < s.shared) finish_pack<Rule, T, V>(scale, kept_packs[pack], affine, s.first, to, pack, once);
                if (pack < next.shared) ask<T, V>(kept_packs, next.from, pack, once);
            }
            copy_async_commit();
        }
        loose.finish(scale, gamma, beta, y + row * cols);
        s = next;
    }

    if (blocks > 1) {  // the last block of a group to get here leaves the counters as it found them
        __syncthreads();
        if (thread == 0) {
            u32* leaving = counters + groups + group;
            if (atomicAdd(leaving, 1u) == static_cast<u32>(blocks) - 1) {
                counters[group] = 0;
                *leaving = 0;
            }
        }
    }
}
