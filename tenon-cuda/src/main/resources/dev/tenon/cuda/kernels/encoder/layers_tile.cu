// The layers of a small transformer encoder in one launch, of few sequences of at most 16 tokens, a tile each (formulas as in layers.cu). Blocks have roles,
// so that each holds its weights of a layer in registers long before it works on them: a block a head makes q, k and v, what its queries see, and what that
// adds to all columns of the rows; a block 64 columns of the feed-forward makes these and what they add; a block a row adds up, norms and hands the row to all.
//
// Launch: 512 threads; heads + inner / 64 + tokens blocks a sequence, all resident at once, cooperative. Dynamic shared memory by TilePlan.java.
// Variants: TENON_T f16 or bf16; TENON_HEAD 32 or 64, the elements of a head; TENON_HIDDEN, columns; from sm_80 on.
#include "layers_roles.cuh"

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
// What a thread adds to sums of q, k and v, four columns a time.
struct HeadBias {
    static constexpr int PACKS = 3 * HEAD * TILE / FOUR, EACH = (PACKS + ALL - 1) / ALL;
    Pack<T, FOUR> at[EACH];

    __device__ __forceinline__ void load(const Layer& layer, int head) {
#pragma unroll
        for (int p = 0; p < EACH; p++) {
            int i = static_cast<int>(threadIdx.x) + p * ALL, column = i / 32 * COLUMNS + i % 2 * FOUR;
            if (i < PACKS) at[p] = load_pack<T, FOUR>(layer.qkv_bias + column / HEAD * HIDDEN + head * HEAD + column % HEAD, 0);
        }
    }
};

// Sums of a head's columns become queries, keys and values.
__device__ __forceinline__ void finish_heads(const float* cells, const HeadBias& bias, int rows, T* own) {
#pragma unroll
    for (int p = 0; p < HeadBias::EACH; p++) {
        int i = static_cast<int>(threadIdx.x) + p * ALL;
        if (i >= HeadBias::PACKS) break;
        int row = i % 32 / 2, column = i / 32 * COLUMNS + i % 2 * FOUR, part = column / HEAD, within = column % HEAD;
        float v[4];
        add_parts<4>(v, cells, SPLITS, i);
#pragma unroll
        for (int c = 0; c < 4; c++) v[c] = row < rows ? v[c] + to_compute(bias.at[p].at[c]) : 0.0f;
        *reinterpret_cast<uint2*>(own + (part * TILE + row) * WIDE_HEAD + within) = pack_four(v, T());
    }
}

// What the queries of a head see, to shared memory; by one warp.
__device__ __forceinline__ void attend_own(const Tile& tile, T* seen) {
    TileTurn turn;
    float most[2] = {}, total[2] = {}, o[HEAD / 8][4] = {};
    turn.look(tile, most, 0);
    turn.weigh(o, total, tile, most, KEYS);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        float share = 1.0f / tile.divisor(sum_of_quad(total[i]));
#pragma unroll
        for (int n = 0; n < HEAD / 4; n += 4) {  // columns 2t and 2t + 1: neighbours in the head
            float v[4];
#pragma unroll
            for (int e = 0; e < 4; e++) v[e] = o[(n + e) % (HEAD / 8)][2 * i + (n + e) / (HEAD / 8)] * share;
            *reinterpret_cast<uint2*>(seen + (tile.quad + i * 8) * WIDE_HEAD + tile.own * (HEAD / 4) + n) = pack_four(v, T());
        }
    }
}

__device__ __forceinline__ void be_head(const Encoder& e, const Layer* layers, u8* dynamic, int tile, int head) {
    T* rows = reinterpret_cast<T*>(dynamic);
    T* own = rows + TILE * WIDE;
    T* seen = own + 3 * TILE * WIDE_HEAD;
    float* cells = reinterpret_cast<float*>(seen + TILE * WIDE_HEAD);
    float* masks = cells + SPLITS * TILE * 3 * HEAD;
    uint4 qkv[HEAD_TILES * OWN_CHUNKS], out[ROW_TILES * HEAD / CHUNK];
    ask(qkv, layers[0].qkv, head);
    ask(out, layers[0].out, head);
    HeadBias bias;
    bias.load(layers[0], head);
    await_predecessor();
    bool before = e.before_scale != nullptr;
    if (threadIdx.x == 0) announce(e.counters);
    if (before) meet_all(e);
    const T* shown = nullptr;
    bool masked = false;
    int lane = threadIdx.x % 32, there = e.keys;
    const T* entry = before ? reinterpret_cast<const T*>(TileWords::start(e, tile)) : e.x + static_cast<i64>(tile) * there * HIDDEN;
#pragma unroll 1
    for (int number = 0; number < e.layers; number++) {
        const Layer& layer = layers[number];
        const T* from = number > 0 ? TileWords(e, tile, number - 1).second : entry;
        stage_rows(rows, from, there, number > 0 || before);
        const T* mask = first_mask(layer, e, tile, head);
        if (!masked || mask != shown) load_masks(masks, mask, layer.mask_dims, e.keys, KEYS, 0);
        masked = true;
        shown = mask;
        __syncthreads();
        multiply_whole<HEAD_TILES>(rows, qkv, cells);
        __syncthreads();
        finish_heads(cells, bias, there, own);
        __syncthreads();
        if (threadIdx.x / 32 == 0) {
            Tile all = {own, masks, nullptr, 0, nullptr, 0, there, e.keys, layer.mask_dims & 4 ? KEYS : 0, (layer.mask_dims & 16) != 0, layer.factor, lane / 4, lane % 4};
            attend_own(all, seen);
        }
        __syncthreads();
        if (number == 0 && !before) meet_all(e);
        multiply_part<HEAD / CHUNK>(seen, WIDE_HEAD, out, TileWords(e, tile, number).mixed + head * ROW_PARTS, there);
        if (number + 1 < e.layers) {
            ask(qkv, layers[number + 1].qkv, head);
            ask(out, layers[number + 1].out, head);
            bias.load(layers[number + 1], head);
        }
    }
}

// Sums become what the second product of the feed-forward reads.
__device__ __forceinline__ void finish_up(const Layer& layer, const float* cells, Pack<T, FOUR> bias, T* middle) {
    int fn = layer.fn, i = threadIdx.x;
    if (i >= UP * TILE / FOUR) return;
    int row = i % 32 / 2, column = i / 32 * COLUMNS + i % 2 * FOUR;
    float v[4];
    add_parts<4>(v, cells, SPLITS, i);
#pragma unroll
    for (int c = 0; c < 4; c++) v[c] += to_compute(bias.at[c]);
    if (fn == FN_GELU) {
#pragma unroll
        for (int c = 0; c < 4; c++) v[c] = ShortFn<T, FN_GELU>::of(v[c], 0, 0);
    } else if (fn != 0) {
#pragma unroll 1
        for (int c = 0; c < 4; c++) v[c] = unary_fn_call(fn, v[c], layer.alpha, 0.0f);
    }
    *reinterpret_cast<uint2*>(middle + row * WIDE_UP + column) = pack_four(v, T());
}

__device__ __forceinline__ Pack<T, FOUR> up_bias(const Layer& layer, int part) {
    int i = threadIdx.x, column = i / 32 * COLUMNS + i % 2 * FOUR;
    Pack<T, FOUR> pack = {};
    if (column < UP) pack = load_pack<T, FOUR>(layer.up_bias + part * UP + column, 0);
    return pack;
}

__device__ __forceinline__ void clear_words(const Encoder& e, int tile, int rank) {
    uint4* words = reinterpret_cast<uint4*>(TileWords::start(e, tile));
    int of = e.inner / UP + e.keys;
    i64 packs = TileWords::all(e) / 4;
#pragma unroll 4
    for (i64 i = static_cast<i64>(rank) * ALL + threadIdx.x; i < packs; i += static_cast<i64>(of) * ALL) words[i] = make_uint4(NOT_YET, NOT_YET, NOT_YET, NOT_YET);
    __syncthreads();
    if (threadIdx.x == 0) announce(e.counters);
}

__device__ __forceinline__ void be_feed(const Encoder& e, const Layer* layers, u8* dynamic, int tile, int part) {
    T* rows = reinterpret_cast<T*>(dynamic);
    T* middle = rows + TILE * WIDE;
    float* cells = reinterpret_cast<float*>(middle + TILE * WIDE_UP);
    uint4 up[UP_TILES * OWN_CHUNKS], down[ROW_TILES * UP / CHUNK];
    ask(up, layers[0].up, part);
    ask(down, layers[0].down, part);
    Pack<T, FOUR> bias = up_bias(layers[0], part);
    await_predecessor();
    clear_words(e, tile, part);
    meet_all(e);
    int there = e.keys;
#pragma unroll 1
    for (int number = 0; number < e.layers; number++) {
        TileWords words(e, tile, number);
        stage_rows(rows, words.first, there, true);
        __syncthreads();
        multiply_whole<UP_TILES>(rows, up, cells);
        __syncthreads();
        finish_up(layers[number], cells, bias, middle);
        __syncthreads();
        multiply_part<UP / CHUNK>(middle, WIDE_UP, down, words.middle + part * ROW_PARTS, there);
        if (number + 1 < e.layers) {
            ask(up, layers[number + 1].up, part);
            ask(down, layers[number + 1].down, part);
            bias = up_bias(layers[number + 1], part);
        }
    }
}

__device__ __forceinline__ void be_row(const Encoder& e, const Layer* layers, u8* dynamic, int tile, int row) {
    float* sums = reinterpret_cast<float*>(dynamic);  // twice [4, hidden]
    await_predecessor();
    clear_words(e, tile, e.inner / UP + row);
    meet_all(e);
    bool last = threadIdx.x / 32 == TEAM - 1;  // which of the block's warps holds the row
    Row own;
    Pack<T, FOUR> addend[LANE_QUADS], scale[LANE_QUADS], shift[LANE_QUADS];
    if (last) {
        own.load(e.x + (static_cast<i64>(tile) * e.keys + row) * HIDDEN);
        if (e.before_scale != nullptr) {
            load_quads(scale, e.before_scale);
            load_quads(shift, e.before_shift);
            own.norm(scale, shift, e.before_epsilon);
            own.hand(reinterpret_cast<T*>(TileWords::start(e, tile)) + row * HIDDEN);
        }
    }
#pragma unroll 1
    for (int half = 0; half < 2 * e.layers; half++) {
        const Layer& layer = layers[half / 2];
        TileWords words(e, tile, half / 2);
        bool second = half % 2 != 0;
        if (last) {
            load_quads(addend, second ? layer.down_bias : layer.out_bias);
            load_quads(scale, second ? layer.second_scale : layer.first_scale);
            load_quads(shift, second ? layer.second_shift : layer.first_shift);
        }
        float* here = sums + half % 2 * 4 * HIDDEN;
        add_row_parts(here, second ? words.middle : words.mixed, second ? e.inner / UP : e.heads, row);
        __syncthreads();
        if (!last) continue;
        own.add(addend);
        own.add(here);
        own.norm(scale, shift, second ? layer.second_epsilon : layer.first_epsilon);
        if (half == 2 * e.layers - 1) {
            own.store(e.y, (static_cast<i64>(tile) * e.keys + row) * HIDDEN, e.wide != 0);
        } else {
            own.hand((second ? words.second : words.first) + row * HIDDEN);
        }
    }
}
#endif

extern "C" __global__ void __launch_bounds__(ALL, 1) TENON_NAME(layers_tile)(Encoder const __grid_constant__ e) {
#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
    TENON_DYNAMIC_SHARED(u8, shared);
    Layer* layers = reinterpret_cast<Layer*>(shared);
    u8* dynamic = shared + e.layers * sizeof(Layer);
    constexpr int WORDS = sizeof(Layer) / 16;
    for (int i = threadIdx.x; i < e.layers * WORDS; i += ALL) reinterpret_cast<uint4*>(layers)[i] = reinterpret_cast<const uint4*>(e.at)[i];
    __syncthreads();
    int parts = e.inner / UP, each = e.heads + parts + e.keys, tile = static_cast<int>(blockIdx.x) / each, block = static_cast<int>(blockIdx.x) % each;
    if (block < e.heads) {
        be_head(e, layers, dynamic, tile, block);
    } else if (block < e.heads + parts) {
        be_feed(e, layers, dynamic, tile, block - e.heads);
    } else {
        be_row(e, layers, dynamic, tile, block - e.heads - parts);
    }
    if (threadIdx.x == 0 && atomicAdd(e.counters + 1, 1u) == gridDim.x - 1) {  // the last block leaves them as they were
        e.counters[0] = 0;
        e.counters[1] = 0;
    }
#endif
}
TENON_ENTRY(layers_tile)
