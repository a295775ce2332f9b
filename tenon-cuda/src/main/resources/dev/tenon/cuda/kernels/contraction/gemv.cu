// y = residual + fn(a w + bias) for few rows: a [m,k], m at most ROWS, y [m,n], bias [n]. Time is that of reading w once.
//
//   gemv_along_k   w lies as [n,k]: a group of `share` warps (1, 2, 4 or 8 of a block's 8) sums COLUMNS columns, its lanes 16 bytes of k each
//   gemv_across_k  w lies as [k,n]: a lane sums the columns of 16 bytes, the warps of `splits` blocks share k
//
// Launch: 256 threads. along_k: any number of blocks, which walk over the groups of columns; `shares` is the warps of a group. across_k: any
// number of blocks, which walk over ceil(n / 32 lanes' columns) `shares` units, `shares` being the splits of k; the last block of a group of
// columns to arrive, by `counters` (one a group, 0 before and after), adds the sums in `partial`, [groups, splits, ROWS, columns], in the
// order of k. Dynamic shared memory: 12 chunks of 16 bytes a thread, 8 along_k for one row.
// packed: lines of w in memory (and along_k, rows of a) are whole 16-byte chunks; others are read element by element. Chunks of w pass through
// shared memory, so many of a thread on their way at a time, into the next group of columns too.
// constant: no launch before this one writes w, which is then fetched before they have ended.
// Sums in A. bias and residual may be null; fn 0 leaves the sum as it is.
//
// With a prologue, a is made of x by every block for itself, rounded to T (prologue.cuh): and dynamic shared memory has room behind the
// chunks for m rows of what a block reads of them: k elements along_k, span_of(k, shares) across_k.
//
// Variants: TENON_T one of float, double, f16, bf16; TENON_ROWS one of 1, 2, 4, 8, 16; TENON_PROLOGUE as in prologue.cuh.
#include "prologue.cuh"
#include "unary_fn.cuh"

constexpr int THREADS = WARPS * 32;
constexpr int COLUMNS = ROWS == 1 ? 2 : 4;
constexpr int ALONG_AHEAD = ROWS == 1 ? 8 : 12;
constexpr int ACROSS_AHEAD = 12;
constexpr int CHUNK = 16;
constexpr int RESIDENT = ROWS > 2 ? 1 : ROWS == 1 && sizeof(T) < 8 ? 4 : 2;  // blocks a multiprocessor that registers leave room for

__device__ __forceinline__ void finish(
    T* y, const T* bias, const T* residual, i64 n, i64 row, i64 column, A sum, i32 fn, A p0, A p1) {
    if (bias) sum += to_compute(bias[column]);
    if (fn) sum = unary_fn_call(fn, sum, p0, p1);
    if (residual) sum += to_compute(residual[row * n + column]);
    y[row * n + column] = From<T>::of(sum);
}

// A thread's chunks of w in shared memory: EACH a step, AHEAD in all.
template <int EACH, int AHEAD>
struct Ring {
    static constexpr int STEPS = AHEAD / EACH;

    Pack<T, PACK>* first;
    int write;
    int read;

    __device__ __forceinline__ explicit Ring(u8* shared) : first(reinterpret_cast<Pack<T, PACK>*>(shared) + threadIdx.x), write(0), read(0) {}

    __device__ __forceinline__ void ask(int i, const T* from) const { copy_async_16(first + (write * EACH + i) * THREADS, from); }

    // All of a step has been asked for.
    __device__ __forceinline__ void commit() {
        copy_async_commit();
        write = write + 1 == STEPS ? 0 : write + 1;
    }

    // Until the oldest step is there, whose chunk i `take` gives; `next` goes on to the one behind it.
    __device__ __forceinline__ void await() const { copy_async_wait<STEPS - 1>(); }
    __device__ __forceinline__ Pack<T, PACK> take(int i) const { return first[(read * EACH + i) * THREADS]; }
    __device__ __forceinline__ void next() { read = read + 1 == STEPS ? 0 : read + 1; }
};

// What a lane reads of w along k: a pack of COLUMNS columns a step, group by group.
struct ColumnStream {
    Ring<COLUMNS, ALONG_AHEAD> ring;
    const T* w;
    i64 n, k, begin, stride, group, groups, next;
    int steps;  // of a group
    int step;

    __device__ __forceinline__ ColumnStream(u8* shared, const T* weight, i64 columns, i64 depth, i64 first, int warps, i64 from, i64 on)
        : ring(shared), w(weight), n(columns), k(depth), begin(first), stride(warps * 32), group(from), groups((columns + COLUMNS - 1) / COLUMNS),
          next(on), steps(static_cast<int>((depth / PACK + stride - 1) / stride)), step(0) {}

    __device__ __forceinline__ void ask() {
        i64 pack = begin + step * stride;
        if (group < groups && pack < k / PACK) {
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                i64 column = group * COLUMNS + c;
                ring.ask(c, w + (column < n ? column : n - 1) * k + pack * PACK);
            }
        }
        ring.commit();
        if (++step >= steps) {
            step = 0;
            group += next;
        }
    }

    // Adds a step's products with a, whose rows are k elements apart.
    __device__ __forceinline__ void multiply(A (&sums)[ROWS][COLUMNS], const T* a, i64 m, int at) {
        ring.await();
        i64 pack = begin + at * stride;
        if (pack < k / PACK) {
            Pack<T, PACK> right[COLUMNS];
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) right[c] = ring.take(c);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                Pack<T, PACK> left = load_pack<T, PACK>(a + (r < m ? r : m - 1) * k, pack);
#pragma unroll
                for (int c = 0; c < COLUMNS; c++) {
#pragma unroll
                    for (int e = 0; e < PACK; e++) sums[r][c] += to_compute(left.at[e]) * to_compute(right[c].at[e]);
                }
            }
        }
        ring.next();
    }
};

// Adds the products of columns from `column` on, element by element.
__device__ __forceinline__ void add_singly(A (&sums)[ROWS][COLUMNS], const T* a, const T* w, i64 column, i64 m, i64 n, i64 k, i64 begin, i64 stride) {
#pragma unroll 4
    for (i64 at = begin; at < k; at += stride) {
        A right[COLUMNS];
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) right[c] = to_compute(w[(column + c < n ? column + c : n - 1) * k + at]);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            A left = to_compute(a[(r < m ? r : m - 1) * k + at]);
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) sums[r][c] += left * right[c];
        }
    }
}

extern "C" __global__ void __launch_bounds__(256, RESIDENT) TENON_NAME(gemv_along_k)(
    const T* x, const T* scale, const T* shift, const T* w, const T* bias, const T* residual, T* y, i64 m, i64 n, i64 k, A epsilon, i32 before,
    A q0, A q1, i32 unit, i32 fn, A p0, A p1, i32 packed, i32 shares, i32 constant, A* partial, u32* counters) {
    __shared__ A space[WARPS][ROWS * COLUMNS];
    TENON_DYNAMIC_SHARED(u8, shared);
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    int part = warp % shares;
    i64 groups = (n + COLUMNS - 1) / COLUMNS;
    i64 at_once = WARPS / shares;
    i64 group = blockIdx.x * at_once + warp / shares;
    ColumnStream stream(shared, w, n, k, part * 32 + lane, shares, group, gridDim.x * at_once);
    release_successor();
    if (!constant) await_predecessor();
    if (packed) {
#pragma unroll
        for (int i = 0; i < stream.ring.STEPS; i++) stream.ask();
    }
    if (constant) await_predecessor();
    Prologue prologue(x, scale, shift, m, k, epsilon, before, q0, q1, unit);
    const T* a = prologue.rows(reinterpret_cast<T*>(shared + ALONG_AHEAD * CHUNK * THREADS), 0, k, k);
    for (i64 first = blockIdx.x * at_once; first < groups; first += gridDim.x * at_once, group += gridDim.x * at_once) {
        i64 column = group * COLUMNS;
        A sums[ROWS][COLUMNS] = {};
        if (group < groups) {
            if (packed) {
                for (int i = 0; i < stream.steps; i++) {
                    stream.multiply(sums, a, m, i);
                    stream.ask();
                }
            } else {
                add_singly(sums, a, w, column, m, n, k, part * 32 + lane, shares * 32);
            }
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
#pragma unroll
                for (int lanes = 16; lanes > 0; lanes /= 2) sums[r][c] += __shfl_xor_sync(0xffffffffu, sums[r][c], lanes);
                if (lane == (r * COLUMNS + c) % 32) space[warp][r * COLUMNS + c] = sums[r][c];
            }
        }
        __syncthreads();
        if (part == 0 && group < groups) {
            for (int i = lane; i < ROWS * COLUMNS; i += 32) {
                int row = i / COLUMNS;
                i64 at = column + i % COLUMNS;
                if (row >= m || at >= n) continue;
                A sum = space[warp][i];
                for (int s = 1; s < shares; s++) sum += space[warp + s][i];
                finish(y, bias, residual, n, row, at, sum, fn, p0, p1);
            }
        }
        __syncthreads();
    }
    copy_async_wait<0>();
}
TENON_ENTRY(gemv_along_k)

constexpr int WIDTH = 32 * PACK;   // columns of a group
constexpr int LINES = 2;           // of a step
constexpr int TOGETHER = 16;       // sums of other blocks that a thread reads at once

// What a warp has of a unit: elements [from, to) of k, of a group of columns.
struct WarpPart {
    i64 group, share, from, to;

    __device__ __forceinline__ WarpPart(i64 unit, i64 groups, i64 k, i64 span) {
        group = unit % groups;
        share = unit / groups;
        i64 each = span / WARPS;
        from = share * span + threadIdx.x / 32 * each;
        from = from < k ? from : k;
        to = from + each < k ? from + each : k;
    }
};

// What a lane reads of w across k: the chunks of LINES lines a step, unit by unit.
struct LineStream {
    Ring<LINES, ACROSS_AHEAD> ring;
    const T* w;
    i64 n, k, span, groups, units, unit;
    i64 at, to, column;

    __device__ __forceinline__ LineStream(u8* shared, const T* weight, i64 columns, i64 depth, i64 part, i64 across, i64 all)
        : ring(shared), w(weight), n(columns), k(depth), span(part), groups(across), units(all), unit(blockIdx.x) {
        begin();
    }

    __device__ __forceinline__ void begin() {
        WarpPart part(unit, groups, k, span);
        at = part.from;
        to = unit < units ? part.to : at;
        column = part.group * WIDTH + threadIdx.x % 32 * PACK;
        column = column < n ? column : n - PACK;
    }

    __device__ __forceinline__ void ask() {
#pragma unroll
        for (int i = 0; i < LINES; i++) {
            if (at + i < to) ring.ask(i, w + (at + i) * n + column);
        }
        ring.commit();
        at += LINES;
        if (at >= to && unit < units) {
            unit += gridDim.x;
            begin();
        }
    }

    // Adds a step's products: a, whose rows are `line` elements apart, lies where the step begins, of which `left` lines are there.
    __device__ __forceinline__ void multiply(A (&sums)[ROWS][PACK], const T* a, i64 m, i64 line, i64 left) {
        ring.await();
#pragma unroll
        for (int i = 0; i < LINES; i++) {
            if (i >= left) continue;
            Pack<T, PACK> right = ring.take(i);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                A factor = to_compute(a[(r < m ? r : m - 1) * line + i]);
#pragma unroll
                for (int e = 0; e < PACK; e++) sums[r][e] += factor * to_compute(right.at[e]);
            }
        }
        ring.next();
    }
};

// Adds the products of `count` lines element by element: a lane has every 32nd of `left` columns.
__device__ __forceinline__ void add_lines_singly(A (&sums)[ROWS][PACK], const T* a, const T* w, i64 m, i64 line, i64 n, i64 count, i64 left) {
#pragma unroll 4
    for (i64 at = 0; at < count; at++) {
        T right[PACK];
#pragma unroll
        for (int e = 0; e < PACK; e++) right[e] = e * 32 < left ? w[at * n + e * 32] : From<T>::of(0);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            A factor = to_compute(a[(r < m ? r : m - 1) * line + at]);
#pragma unroll
            for (int e = 0; e < PACK; e++) sums[r][e] += factor * to_compute(right[e]);
        }
    }
}

extern "C" __global__ void __launch_bounds__(256, RESIDENT == 4 ? 3 : RESIDENT) TENON_NAME(gemv_across_k)(
    const T* x, const T* scale, const T* shift, const T* w, const T* bias, const T* residual, T* y, i64 m, i64 n, i64 k, A epsilon, i32 before,
    A q0, A q1, i32 unit, i32 fn, A p0, A p1, i32 packed, i32 shares, i32 constant, A* partial, u32* counters) {
    __shared__ A space[WARPS][WIDTH];
    __shared__ bool last;
    TENON_DYNAMIC_SHARED(u8, shared);
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    i64 groups = (n + WIDTH - 1) / WIDTH;
    i64 span = span_of(k, shares);
    LineStream stream(shared, w, n, k, span, groups, groups * shares);
    release_successor();
    if (!constant) await_predecessor();
    if (packed) {
#pragma unroll
        for (int i = 0; i < stream.ring.STEPS; i++) stream.ask();
    }
    if (constant) await_predecessor();
    Prologue prologue(x, scale, shift, m, k, epsilon, before, q0, q1, unit);
    T* made = reinterpret_cast<T*>(shared + ACROSS_AHEAD * CHUNK * THREADS);
    i64 line = prologue.line(span);
    for (i64 at = blockIdx.x; at < groups * shares; at += gridDim.x) {
        WarpPart part(at, groups, k, span);
        i64 column0 = part.group * WIDTH;
        i64 start = part.share * span < k ? part.share * span : k;
        const T* a = prologue.rows(made, start, start + span < k ? start + span : k, line) + (part.from - start);
        i64 count = part.to - part.from;
        A sums[ROWS][PACK] = {};
        if (packed) {
            // a warp without lines has a step in the stream, too
            for (i64 i = 0; i == 0 || i < count; i += LINES) {
                stream.multiply(sums, a + i, m, line, count - i);
                stream.ask();
            }
        } else {
            add_lines_singly(sums, a, w + part.from * n + column0 + lane, m, line, n, count, n - column0 - lane);
        }
        A* sheet = partial + (part.group * shares + part.share) * (ROWS * WIDTH);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
#pragma unroll
            for (int e = 0; e < PACK; e++) space[warp][packed ? lane * PACK + e : e * 32 + lane] = sums[r][e];
            __syncthreads();
            if (threadIdx.x < WIDTH) {
                A sum = space[0][threadIdx.x];
#pragma unroll
                for (int i = 1; i < WARPS; i++) sum += space[i][threadIdx.x];
                if (shares > 1) {
                    sheet[r * WIDTH + threadIdx.x] = sum;
                } else if (r < m && column0 + threadIdx.x < n) {
                    finish(y, bias, residual, n, r, column0 + threadIdx.x, sum, fn, p0, p1);
                }
            }
            __syncthreads();
        }
        if (shares == 1) continue;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) last = atomicAdd(counters + part.group, 1u) + 1 == static_cast<u32>(shares);
        __syncthreads();
        if (!last) continue;
        __threadfence();
        if (threadIdx.x == 0) counters[part.group] = 0;
        const A* first = partial + part.group * shares * (ROWS * WIDTH);
        for (i64 i = threadIdx.x; i < m * WIDTH; i += 256) {
            i64 column = column0 + i % WIDTH;
            if (column >= n) continue;
            A sum = 0;
            for (int s = 0; s < shares; s += TOGETHER) {
                A some[TOGETHER];
#pragma unroll
                for (int j = 0; j < TOGETHER; j++) some[j] = s + j < shares ? first[(s + j) * (ROWS * WIDTH) + i] : A(0);
#pragma unroll
                for (int j = 0; j < TOGETHER; j++) sum += some[j];
            }
            finish(y, bias, residual, n, i / WIDTH, column, sum, fn, p0, p1);
        }
    }
    copy_async_wait<0>();
}
TENON_ENTRY(gemv_across_k)
