// LSTM, GRU and RNN along a sequence (core's Lstm, Gru, Rnn have the formulas), the inputs' part of all gates given. State and sums in A.
//
// A block owns some hidden units of one direction for `share` of the sequences, for all steps, and keeps their rows of the recurrent weights in
// shared memory where they fit (`keeps`). In each step it reads the whole hidden state of its sequences, which the blocks of its team have
// written, and writes that of its own units; then the team meets: the blocks of the same direction and sequences. A warp makes all gates of a
// unit for a few sequences: lanes along the sums. A GRU that resets before the product needs the reset state of all units first: two phases a
// step.
//
// recurrent: a multiple of 32 threads up to 256; `blocks` blocks for each of `shares` teams of each direction. Phases [from, to) in one launch,
// cooperative where there are several of several blocks; else a launch a phase. Dynamic shared memory: the state of `chunk` sequences, in whole
// groups (1, 4 or 8 that a warp takes together), [chunk, wide] of A, and the weights [gates, units, wide] of T where kept; wide is hidden in
// whole fours. state: A [2, D, B, H] hidden by turns, and twice [D, B, H]: an LSTM's cell; a GRU's reset state and update gate. counters
// [2, D, shares], 0 before and after.
// recurrent_initial: the results of no steps. 256 threads, any number of blocks.
// Variants: TENON_CELL 0 RNN, 1 GRU, 2 LSTM; TENON_T float, double, f16, bf16.
#include "recurrent.cuh"

// Where a unit's weights of a gate are.
struct Rows {
    const T* kept;    // in shared memory, or null
    const T* global;  // of the direction
};

// Adds the lanes' values: lane i · (32 / P) gets the whole of value i, and the lanes after it. Each step halves what a lane still has to add.
template <int P, int HALF = P / 2, int APART = 16>
__device__ __forceinline__ A scattered_sum(A (&v)[P], int lane) {
    if constexpr (HALF > 0) {
        bool upper = (lane & APART) != 0;
#pragma unroll
        for (int i = 0; i < HALF; i++) {
            A other = __shfl_xor_sync(0xffffffffu, upper ? v[i] : v[i + HALF], APART);
            v[i] = (upper ? v[i + HALF] : v[i]) + other;
        }
        return scattered_sum<P, HALF / 2, APART / 2>(v, lane);
    } else {
#pragma unroll
        for (int apart = APART; apart > 0; apart /= 2) v[0] += __shfl_xor_sync(0xffffffffu, v[0], apart);
        return v[0];
    }
}

// The sums of COUNT gates from FIRST on of a unit, for N sequences whose states follow one another: lane n gets those of sequence n.
template <int FIRST, int COUNT, int N>
__device__ __forceinline__ void unit_sums(A (&own)[COUNT], const Recurrence& l, const Rows& rows, i64 local, i64 unit, const A* vectors) {
    typedef Pack<A, 4> Four;
    constexpr int P = COUNT * N <= 1 ? 1 : COUNT * N <= 2 ? 2 : COUNT * N <= 4 ? 4 : COUNT * N <= 8 ? 8 : COUNT * N <= 16 ? 16 : 32;
    int lane = threadIdx.x % 32;
    A sums[P] = {};  // gate after gate, the sequences of each
    for (i64 k = lane * 4; k < l.wide; k += 128) {
        A w[COUNT][4];
#pragma unroll
        for (int g = 0; g < COUNT; g++) {
            if (rows.kept != nullptr) {
                Pack<T, 4> four = *reinterpret_cast<const Pack<T, 4>*>(rows.kept + ((FIRST + g) * l.units + local) * l.wide + k);
#pragma unroll
                for (int i = 0; i < 4; i++) w[g][i] = to_compute(four.at[i]);
            } else {
                const T* p = rows.global + ((FIRST + g) * l.hidden + unit) * l.hidden + k;
#pragma unroll
                for (int i = 0; i < 4; i++) w[g][i] = k + i < l.hidden ? to_compute(p[i]) : A(0);
            }
        }
#pragma unroll
        for (int n = 0; n < N; n++) {
            Four v = *reinterpret_cast<const Four*>(vectors + n * l.wide + k);
#pragma unroll
            for (int g = 0; g < COUNT; g++) {
#pragma unroll
                for (int i = 0; i < 4; i++) sums[g * N + n] += w[g][i] * v.at[i];
            }
        }
    }
    A whole = scattered_sum<P>(sums, lane);
#pragma unroll
    for (int g = 0; g < COUNT; g++) own[g] = __shfl_sync(0xffffffffu, whole, (g * N + lane % N) * (32 / P));
}

#if TENON_CELL == 0
template <int N>
__device__ __forceinline__ void run_unit(const Recurrence& l, const Operands& o, const Rows& rows, int, i64 local, const Place& p, bool mine, const A* vectors) {
    A sums[1];
    A in = mine ? input_sum(l, o, p, 0, true) : A(0);
    unit_sums<0, 1, N>(sums, l, rows, local, p.unit, vectors);
    int lane = threadIdx.x % 32;
    if (mine) put_hidden(l, o, p, vectors[lane * l.wide + p.unit], activate(l, p.d, 0, in + sums[0]));
}
#elif TENON_CELL == 1
template <int N>
__device__ __forceinline__ void run_unit(const Recurrence& l, const Operands& o, const Rows& rows, int phase, i64 local, const Place& p, bool mine, const A* vectors) {
    int lane = threadIdx.x % 32;
    i64 all = l.directions * l.batch * l.hidden, own = own_at(l, p.d, p.b, p.unit);
    A* reset_state = o.state + 2 * all;
    A* update_gate = o.state + 3 * all;
    if (l.linear) {
        A sums[3], in[3] = {};
        if (mine) {
#pragma unroll
            for (int g = 0; g < 3; g++) in[g] = input_sum(l, o, p, g, g < 2);
        }
        unit_sums<0, 3, N>(sums, l, rows, local, p.unit, vectors);
        if (mine) {
            A last = vectors[lane * l.wide + p.unit];
            A update = activate(l, p.d, 0, in[0] + sums[0]), reset = activate(l, p.d, 0, in[1] + sums[1]);
            A candidate = activate(l, p.d, 1, in[2] + reset * (sums[2] + recurrent_bias(l, o, p, 2)));
            put_hidden(l, o, p, last, (1 - update) * candidate + update * last);
        }
    } else if (phase == 0) {
        A sums[2];
        A first = mine ? input_sum(l, o, p, 0, true) : A(0), second = mine ? input_sum(l, o, p, 1, true) : A(0);
        unit_sums<0, 2, N>(sums, l, rows, local, p.unit, vectors);
        if (mine) {
            update_gate[own] = activate(l, p.d, 0, first + sums[0]);
            reset_state[own] = activate(l, p.d, 0, second + sums[1]) * vectors[lane * l.wide + p.unit];
        }
    } else {
        A sums[1];
        A in = mine ? input_sum(l, o, p, 2, true) : A(0);
        unit_sums<2, 1, N>(sums, l, rows, local, p.unit, vectors);
        if (mine) {
            A last = p.step == 0 ? o.h0 == nullptr ? A(0) : to_compute(o.h0[state_at(l, p.d, p.b, p.unit)]) : o.state[(p.step & 1) * all + own];
            A update = update_gate[own], candidate = activate(l, p.d, 1, in + sums[0]);
            put_hidden(l, o, p, last, (1 - update) * candidate + update * last);
        }
    }
}
#else
__device__ __forceinline__ void lstm_cell(const Recurrence& l, const Operands& o, const Place& p, const A (&sums)[4], A last) {
    i64 all = l.directions * l.batch * l.hidden;
    A* cell = o.state + 2 * all + own_at(l, p.d, p.b, p.unit);
    A memory = p.step > 0 ? *cell : o.c0 == nullptr ? A(0) : to_compute(o.c0[state_at(l, p.d, p.b, p.unit)]);
    A next, output;
    lstm_next(l, o, p, sums, memory, next, output);
    put_hidden(l, o, p, last, output);
    A kept = p.runs() ? next : memory;
    *cell = kept;
    if (p.step == l.steps - 1) o.c[state_at(l, p.d, p.b, p.unit)] = narrowed<T>(kept);
}

template <int N>
__device__ __forceinline__ void run_unit(const Recurrence& l, const Operands& o, const Rows& rows, int, i64 local, const Place& p, bool mine, const A* vectors) {
    A sums[4], in[4] = {};
    if (mine) {
#pragma unroll
        for (int g = 0; g < 4; g++) in[g] = input_sum(l, o, p, g, true);
    }
    unit_sums<0, 4, N>(sums, l, rows, local, p.unit, vectors);
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int g = 0; g < 4; g++) in[g] += sums[g];
    if (mine) lstm_cell(l, o, p, in, vectors[lane * l.wide + p.unit]);
}
#endif

// Which phase of a step of which direction a block is in.
struct Turn {
    i64 d, step;
    int phase;
    i64 first, end;  // of its sequences
};

// The hidden state, or the reset one, of sequences [from, to), zeros past the hidden units and in what fills the last group.
__device__ __forceinline__ void load_vectors(const Recurrence& l, const Operands& o, const Turn& turn, i64 from, i64 to, A* vectors) {
    i64 all = l.directions * l.batch * l.hidden;
    const A* source = o.state + (turn.phase == 1 ? 2 : turn.step & 1) * all + turn.d * l.batch * l.hidden;
    i64 count = to - from;
    i64 whole = (count + l.group - 1) / l.group * l.group;
    for (i64 i = count * l.wide + threadIdx.x; i < whole * l.wide; i += blockDim.x) vectors[i] = 0;
    if (l.wide == l.hidden && (turn.phase == 1 || turn.step > 0)) {  // in fours, as they lie
        const uint4* fours = reinterpret_cast<const uint4*>(source + from * l.hidden);
        int all_fours = static_cast<int>(count * l.hidden * static_cast<i64>(sizeof(A)) / 16), threads = blockDim.x;
        for (int i = threadIdx.x; i < all_fours; i += 8 * threads) {  // eight on their way: the step waits for them
            uint4 some[8];
#pragma unroll
            for (int j = 0; j < 8; j++) {
                if (i + j * threads < all_fours) some[j] = __ldcg(fours + i + j * threads);
            }
#pragma unroll
            for (int j = 0; j < 8; j++) {
                if (i + j * threads < all_fours) reinterpret_cast<uint4*>(vectors)[i + j * threads] = some[j];
            }
        }
        return;
    }
    for (i64 i = threadIdx.x; i < count * l.wide; i += blockDim.x) {
        i64 b = from + i / l.wide, unit = i % l.wide;
        A v = 0;
        if (unit < l.hidden) {
            if (turn.phase == 1 || turn.step > 0) {
                v = __ldcg(source + b * l.hidden + unit);
            } else if (o.h0 != nullptr) {
                v = to_compute(o.h0[state_at(l, turn.d, b, unit)]);
            }
        }
        vectors[i] = v;
    }
}

// One phase of all of a block's units, N sequences a warp at a time.
template <int N>
__device__ __forceinline__ void run_phase(const Recurrence& l, const Operands& o, const Rows& rows, const Turn& turn, i64 first, i64 count, A* vectors) {
    int warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x % 32;
    for (i64 from = turn.first; from < turn.end; from += l.chunk) {
        i64 to = from + l.chunk < turn.end ? from + l.chunk : turn.end;
        load_vectors(l, o, turn, from, to, vectors);
        __syncthreads();
        i64 groups = (to - from + N - 1) / N;
        for (i64 item = warp; item < groups * count; item += warps) {
            i64 local = item % count, group = item / count * N;
            bool mine = lane < N && from + group + lane < to;
            Place p = place_of(l, o, turn.d, mine ? from + group + lane : from, first + local, turn.step);
            run_unit<N>(l, o, rows, turn.phase, local, p, mine, vectors + group * l.wide);
        }
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(recurrent)(const T* r, const T* bias, const i32* lengths, const T* h0, const T* c0, const T* peepholes, const A* z, A* state, T* y, T* h, T* c, u32* counters, Recurrence l, i64 from, i64 to) {
    TENON_DYNAMIC_SHARED(A, vectors);
    await_predecessor();
    Operands o = {r, bias, lengths, h0, c0, peepholes, z, state, y, h, c};
    i64 team = blockIdx.x / l.blocks, part = blockIdx.x % l.blocks, d = team / l.shares;
    i64 begin = (l.first_share + team % l.shares) * l.share, end = begin + l.share < l.batch ? begin + l.share : l.batch;
    i64 first = part * l.units;
    i64 count = first + l.units < l.hidden ? l.units : l.hidden - first;
    T* kept = reinterpret_cast<T*>(vectors + (l.chunk + l.group - 1) / l.group * l.group * l.wide);
    Rows rows = {l.keeps ? kept : nullptr, r + d * GATES * l.hidden * l.hidden};
    if (l.keeps) {
        for (i64 i = threadIdx.x; i < GATES * count * l.wide; i += blockDim.x) {
            i64 row = i / l.wide, k = i % l.wide, gate = row / count, local = row % count;
            kept[(gate * l.units + local) * l.wide + k] = k < l.hidden ? rows.global[(gate * l.hidden + first + local) * l.hidden + k] : T();
        }
    }
    int phases = CELL == 1 && !l.linear ? 2 : 1;
    u32 number = 0;
    for (i64 at = from; at < to; at++) {
        Turn turn = {d, at / phases, static_cast<int>(at % phases), begin, end};
        if (l.group == 1) {
            run_phase<1>(l, o, rows, turn, first, count, vectors);
        } else if (l.group == 4) {
            run_phase<4>(l, o, rows, turn, first, count, vectors);
        } else {
            run_phase<8>(l, o, rows, turn, first, count, vectors);
        }
        if (at + 1 < to && l.blocks > 1) meet(counters + team, static_cast<u32>(l.blocks), ++number);
    }
    release_successor();
    if (number > 0) {  // the last block of a team to get here leaves the counters as it found them
        __syncthreads();
        i64 teams = l.directions * l.shares;
        if (threadIdx.x == 0 && atomicAdd(counters + teams + team, 1u) == static_cast<u32>(l.blocks) - 1) {
            counters[team] = 0;
            counters[teams + team] = 0;
        }
    }
}
TENON_ENTRY(recurrent)

extern "C" __global__ void __launch_bounds__(256) TENON_NAME(recurrent_initial)(const T* h0, const T* c0, T* h, T* c, i64 elements) {
    release_successor();
    await_predecessor();
    for (i64 at = global_thread(); at < elements; at += global_threads()) {
        h[at] = h0 == nullptr ? narrowed<T>(A(0)) : h0[at];
        if (c != nullptr) c[at] = c0 == nullptr ? narrowed<T>(A(0)) : c0[at];
    }
}
TENON_ENTRY(recurrent_initial)
