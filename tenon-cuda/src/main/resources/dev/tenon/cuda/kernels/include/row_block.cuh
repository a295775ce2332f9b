// Long rows: `blocks` blocks a row, each with a stretch of it that is kept on the chip as far as it goes: R packs a thread in registers,
// `kept` packs a block in dynamic shared memory; what is left is read a second time, from L2 if it stayed there. Each element crosses the
// bus once each way as long as the row fits the chip.
//
// Launch: THREADS threads; grid = blocks · groups, each group takes every groups-th row; cooperative when blocks > 1, with
//   states   blocks · groups · 2 states,
//   counters 2 · groups counters that are 0, and are 0 again when the launch is done.
#pragma once
#include "row_edges.cuh"

template <typename T, int V, int R, int THREADS>
struct RowStretch {
    typedef typename Compute<T>::type A;
    static constexpr int BATCH = R / 4;  // packs a thread asks for at a time beside those in registers

    i64 begin;   // packs of the body before this stretch
    int shared;  // packs of the stretch that are in shared memory: the first ones
    int second;  // packs before those in registers: shared ones, then those read twice
    int packs;   // packs of the stretch

    __device__ __forceinline__ RowStretch(i64 all, int blocks, int part, int kept) {
        i64 each = (all + blocks - 1) / blocks;
        begin = each * part;
        i64 left = all - begin;
        packs = static_cast<int>(left < 0 ? 0 : left < each ? left : each);
        int inRegisters = R * THREADS;
        second = packs > inRegisters ? packs - inRegisters : 0;
        int whole = kept / (BATCH * THREADS) * (BATCH * THREADS);
        shared = second < whole ? second : whole;
    }
};

template <typename Rule, typename T, int V>
__device__ __forceinline__ void finish_pack(typename Rule::Scale scale, Pack<T, V> held, const T* gamma, const T* beta, i64 column, T* y,
                                            int pack) {
    typename Compute<T>::type v[V];
    widen<T, V, 1>(&held, v);
#pragma unroll
    for (int i = 0; i < V; i++) v[i] = Rule::apply(scale, v[i]);
    store_pack<T, V>(y, pack, with_affine<Rule, T, V>(v, gamma, beta, column + static_cast<i64>(pack) * V));
}

// The states of all blocks of a row, merged in the order of the blocks on every one of them, so that all agree to the bit.
template <typename Rule, typename A>
__device__ __forceinline__ typename Rule::State merge_blocks(typename Rule::State mine, typename Rule::State* states, u32* counter, int blocks,
                                                             int part, u32 number) {
    if (threadIdx.x == 0) states[part] = mine;
    meet(counter, blocks, number);
    typename Rule::State all = Rule::none();
    int lane = threadIdx.x % 32;
    for (int b = lane; b < blocks; b += 32) {
        typename Rule::State other;
#pragma unroll
        for (u32 f = 0; f < sizeof(other) / sizeof(A); f++) {
            reinterpret_cast<A*>(&other)[f] = reinterpret_cast<volatile A*>(&states[b])[f];
        }
        all = Rule::merge(all, other);
    }
    return merge_warp<Rule, A>(all);
}

template <template <typename> class RuleOf, typename T, int V, int R, int THREADS>
__device__ __forceinline__ void row_block(const T* __restrict__ x, const T* __restrict__ gamma, const T* __restrict__ beta, T* __restrict__ y,
                                          i64 rows, i64 cols, typename Compute<T>::type epsilon, int blocks, int kept, void* states,
                                          u32* counters) {
    typedef typename Compute<T>::type A;
    typedef RuleOf<A> Rule;
    typedef typename Rule::State State;
    typedef RowStretch<T, V, R, THREADS> Stretch;
    constexpr int BATCH = Stretch::BATCH;
    __shared__ State slots[32];
    typedef Pack<T, V> P;
    TENON_DYNAMIC_SHARED(P, kept_packs);

    int group = blockIdx.x / blocks, part = blockIdx.x % blocks, groups = gridDim.x / blocks;
    int thread = threadIdx.x;
    await_predecessor();

    u32 number = 0;
    for (i64 row = group; row < rows; row += groups) {
        RowEdges<T, V> edges(x + row * cols, cols);
        Stretch s(edges.packs, blocks, part, kept);
        i64 first = edges.head + s.begin * V;  // column
        const T* from = x + row * cols + first;
        T* to = y + row * cols + first;

        P held[R];  // asked for first, needed last
        int count = 0;
#pragma unroll
        for (int r = 0; r < R; r++) {
            int pack = s.second + r * THREADS + thread;
            if (pack < s.packs) {
                held[r] = load_pack<T, V>(from, pack);
                count = (r + 1) * V;
            }
        }
        LooseElement<Rule, T> loose(x + row * cols, edges, thread, part == 0);

        State state = Rule::none();
        for (int at = 0; at < s.second; at += BATCH * THREADS) {
            P batch[BATCH];
            int folded = 0;
#pragma unroll
            for (int r = 0; r < BATCH; r++) {
                int pack = at + r * THREADS + thread;
                if (pack < s.second) {
                    batch[r] = load_pack<T, V>(from, pack);
                    folded = (r + 1) * V;
                }
            }
            if (at < s.shared) {
#pragma unroll
                for (int r = 0; r < BATCH; r++) {
                    int pack = at + r * THREADS + thread;
                    if (pack < s.shared) kept_packs[pack] = batch[r];
                }
            }
            A v[BATCH * V];
            widen<T, V, BATCH>(batch, v);
            state = Rule::fold(state, v, folded);
        }
#pragma unroll
        for (int q = 0; q < R; q += BATCH) {
            A v[BATCH * V];
            widen<T, V, BATCH>(held + q, v);
            state = Rule::fold(state, v, count - q * V);
        }

        state = merge_block<Rule, A>(loose.fold(state), slots);
        if (blocks > 1) {
            State* of_row = static_cast<State*>(states) + (static_cast<i64>(group) * 2 + number % 2) * blocks;
            state = merge_blocks<Rule, A>(state, of_row, counters + group, blocks, part, number + 1);
            number++;
        }
        typename Rule::Scale scale = Rule::scale(state, state, cols, epsilon);

#pragma unroll
        for (int r = 0; r < R; r++) {
            int pack = s.second + r * THREADS + thread;
            if (pack < s.packs) finish_pack<Rule, T, V>(scale, held[r], gamma, beta, first, to, pack);
        }
        // what was read last is first to be read again: it may still be in L2
        for (int at = (s.second - 1) / THREADS * THREADS; at >= 0; at -= THREADS) {
            int pack = at + thread;
            if (pack < s.second) {
                P again = pack < s.shared ? kept_packs[pack] : load_pack<T, V>(from, pack);
                finish_pack<Rule, T, V>(scale, again, gamma, beta, first, to, pack);
            }
        }
        loose.finish(scale, gamma, beta, y + row * cols);
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
