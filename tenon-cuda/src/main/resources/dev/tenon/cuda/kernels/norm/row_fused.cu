// y = after(row(before(x…)), z…): what is done along rows, with whole elementwise expressions compiled into its loads and its stores. Each
// operand crosses the bus once, what is between the parts stays in registers and is not rounded to a short type.
//
// Launch: TENON_THREADS 32: warps cover the rows, a warp a row; else that many threads, a block a row. A row has at most
// TENON_THREADS · TENON_VALUES elements, a multiple of TENON_W. All values on 16-byte boundaries.
//
// Variants, written by FusedRows.java: TENON_T the type that rows are of, one of float, double, f16, bf16; and
//   TENON_W, TENON_VALUES, TENON_BATCH  elements an access, a thread; accesses of a thread on their way
//   TENON_RULE(A)                       the rule of rows
//   TENON_REDUCES                       1 where a row gives one element, 0 where it gives a row
//   TENON_INPUTS, TENON_STEPS, TENON_GIVES              before: lists as in fused_operands.cuh, and the variable that is given
//   TENON_LATER_INPUTS, TENON_LATER_STEPS, TENON_RESULT after: the same, where v0 is the row's; RESULT(type, value)
//   TENON_LATER                         what to add to a later input's number for its operand's
// Two more forms of operands: Column<type>, an element a column; Each<type>, an element a row.
#include "fused_operands.cuh"
#include "norm_rules.cuh"
#include "reduce_rule.cuh"
#include "row_edges.cuh"
#include "softmax_rule.cuh"

typedef TENON_T T;
typedef Compute<T>::type A;
typedef TENON_RULE(A) Rule;
constexpr int W = TENON_W;
constexpr int THREADS = TENON_THREADS;
constexpr int PACKS = TENON_VALUES / W;
constexpr int BATCH = TENON_BATCH;
constexpr bool WARP = THREADS == 32;

struct RowPlace : Place {
    i64 row, column;

    __device__ __forceinline__ RowPlace(const Layout& all, i64 of, i64 at, i64 cols, bool fits) : Place(all, of * cols + at, fits), row(of), column(at) {}
};

template <int TYPE>
struct Column {
    template <int N>
    struct Held : Neighbours<TYPE, N> {
        __device__ __forceinline__ void load(const void* x, const RowPlace& place) { this->pack(x, place.column); }
    };
};

template <int TYPE>
struct Each {
    template <int N>
    struct Held : Neighbours<TYPE, 1> {
        __device__ __forceinline__ void load(const void* x, const RowPlace& place) { this->one(0, x, place.row); }
        __device__ __forceinline__ auto element(int) const { return Neighbours<TYPE, 1>::element(0); }
    };
};

// N neighbouring elements of what is read before the row's operation, and after it.
template <int N>
struct Before {
#define INPUT(value, ...) __VA_ARGS__::template Held<N> x##value;
    TENON_INPUTS
#undef INPUT

    __device__ __forceinline__ void load(const Operands& operands, const RowPlace& place) {
#define INPUT(value, ...) x##value.load(operands.x[value], place);
        TENON_INPUTS
#undef INPUT
    }
};

template <int N>
struct After {
#define INPUT(value, ...) __VA_ARGS__::template Held<N> x##value;
    TENON_LATER_INPUTS
#undef INPUT

    __device__ __forceinline__ void load([[maybe_unused]] const Operands& operands, [[maybe_unused]] const RowPlace& place) {
#define INPUT(value, ...) x##value.load(operands.x[TENON_LATER + value], place);
        TENON_LATER_INPUTS
#undef INPUT
    }
};

#define INPUT(value, ...) [[maybe_unused]] auto v##value = inputs.x##value.element(i);

template <int N>
__device__ __forceinline__ void compute(const Before<N>& inputs, A* rows, [[maybe_unused]] void* faults, [[maybe_unused]] i32 step) {
#pragma unroll
    for (int i = 0; i < N; i++) {
        TENON_INPUTS
        TENON_STEPS
        rows[i] = TENON_GIVES;
    }
}

#define RESULT(type, value)                                         \
    typedef Element<type>::S Y;                                     \
    Pack<Y, N> results;                                             \
    _Pragma("unroll") for (int i = 0; i < N; i++) {                 \
        [[maybe_unused]] A v0 = rows[i];                            \
        TENON_LATER_INPUTS                                          \
        TENON_LATER_STEPS                                           \
        results.at[i] = stored<type>(v##value);                     \
    }                                                               \
    *reinterpret_cast<Pack<Y, N>*>(static_cast<Y*>(y) + at) = results;

// Stores what comes of N elements of rows, from position `at` of the result on.
template <int N>
__device__ __forceinline__ void finish([[maybe_unused]] const After<N>& inputs, const A* rows, void* y, i64 at, [[maybe_unused]] void* faults, [[maybe_unused]] i32 step) {
    TENON_RESULT
}

extern "C" __global__ void __launch_bounds__(WARP ? 128 : THREADS, WARP ? 4 : 512 / THREADS)
    TENON_NAME(row_fused)(Operands operands, i64 rows, i64 cols, A epsilon, Layout layout, void* faults, i32 step) {
    __shared__ __align__(16) Rule::State slots[32];
    i64 row = WARP ? static_cast<i64>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32 : blockIdx.x;
    if (row >= rows) return;
    int thread = WARP ? threadIdx.x % 32 : threadIdx.x;
    int packs = static_cast<int>(cols) / W;
    bool small = rows * cols <= 0x7fffffff;

    await_predecessor();
    A v[PACKS * W + 1];  // the last place is for the rules' loose element, unused
    int count = 0;
#pragma unroll
    for (int first = 0; first < PACKS; first += BATCH) {
        Before<W> inputs[BATCH];
#pragma unroll
        for (int p = 0; p < BATCH; p++) {
            int pack = thread + THREADS * (first + p);
            if (pack < packs) inputs[p].load(operands, RowPlace(layout, row, pack * W, cols, small));
        }
#pragma unroll
        for (int p = 0; p < BATCH; p++) {
            if (thread + THREADS * (first + p) < packs) {
                compute<W>(inputs[p], v + (first + p) * W, faults, step);
                count = first + p + 1;
            }
        }
    }
    release_successor();

    typename Rule::Scale scale;
    if constexpr (WARP) {
        typename Rule::State whole = Rule::template gather<W>(v, count, false);
        scale = Rule::rescale(whole, whole, cols, epsilon);
    } else {
        scale = Rule::scale(merge_block<Rule, A>(Rule::fold(Rule::none(), v, count * W), slots), cols, epsilon);
    }

    void* y = operands.y[0];
#if TENON_REDUCES
    if (thread == 0) {
        After<1> inputs;
        inputs.load(operands, RowPlace(layout, row, 0, 1, small));
        A given[1] = {Rule::value(scale)};
        finish<1>(inputs, given, y, row, faults, step);
    }
#else
#pragma unroll
    for (int first = 0; first < PACKS; first += BATCH) {
        After<W> inputs[BATCH];
#pragma unroll
        for (int p = 0; p < BATCH; p++) {
            int pack = thread + THREADS * (first + p);
            if (pack < packs) inputs[p].load(operands, RowPlace(layout, row, pack * W, cols, small));
        }
#pragma unroll
        for (int p = 0; p < BATCH; p++) {
            int pack = thread + THREADS * (first + p);
            if (pack < packs) {
                A given[W];
#pragma unroll
                for (int i = 0; i < W; i++) {
                    A one = v[(first + p) * W + i];
                    given[i] = WARP ? Rule::apply_last(scale, one) : Rule::apply(scale, one);
                }
                finish<W>(inputs[p], given, y, row * cols + pack * W, faults, step);
            }
        }
    }
#endif
}
TENON_ENTRY(row_fused)
