// The layers of a small transformer encoder in one launch, by clusters of blocks: products on tensor cores with bias and activation, attention, residuals
// and layer norms behind them (formulas in core's MatMul, PlainAttention and LayerNorm). Sums in f32; f32 operands in TF32.
//
// A cluster has a tile of 16 rows. A sequence fills whole tiles, or is the only one.
//
// Launch: 256 threads; a cluster of 8 or 16 blocks a tile, all resident at once; where a sequence is longer than a tile, cooperative. Dynamic shared
// memory and layouts in clustered.cuh, offsets by ClusterPlan.java.
// Variants: TENON_T one of float, f16, bf16; TENON_HEAD 32 or 64, the elements of a head; TENON_TILES; TENON_PAIRED; from sm_90 on.
#include "clustered_attention.cuh"

#if __CUDA_ARCH__ >= 900 || TENON_EMULATED
#ifdef TENON_STAMPS
__device__ i64 stamps[MOST_LAYERS][16];
#define STAMP(layer, i) if (blockIdx.x == 0 && threadIdx.x == 0) stamps[layer][i] = clock64()
#else
#define STAMP(layer, i)
#endif

// A block's place, and what it shares with the others of its cluster.
struct Place {
    int rank, blocks, tile, rows;  // rows of a block
    T* row_tile;                   // [16, wide], operands
    float* addends;                // [contributions, rows, hidden]
    u64* gates;                    // barriers for addends, twice, and rows, twice
    InCluster there, gate;         // of the block that has a lane's row: its addends, its gates
};

constexpr int ADDENDS = 0, ROWS = 2, VECTORS = 4;

template <typename W>
__device__ __forceinline__ void send(InCluster there, InCluster gate, W words) {
#if TENON_EMULATED
    store_in_cluster(there, words);
#else
    send_in_cluster(there, words, gate);
#endif
}

// Waits until all that a gate expects is there; `arms`: expects as much of the next time. Emulated clusters meet instead.
__device__ __forceinline__ void await_sent(u64* gate, int turn, bool arms, int bytes) {
#if !TENON_EMULATED
    u32 at = shared_address(gate);
    await_phase_in_cluster(at, turn & 1);
    if (arms) expect_bytes(at, bytes);
#endif
}

__device__ __forceinline__ void meet_emulated() {
#if TENON_EMULATED
    meet_cluster();
#endif
}

// What rows [16, wide] times some rows of k add to all columns, sent to the blocks that have the rows.
__device__ __forceinline__ void multiply_across(const T* rows, int wide, const Cut& cut, const Encoder& e, const Place& place, int contribution, int turn, Stream& stream,
                                                uint4 (&first)[UNITS], uint4 (&second)[UNITS]) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, odd = lane % 2;
    int row = lane / 4 + odd * 8;
    InCluster to = place.there + ((contribution * place.rows + row % place.rows) * e.hidden + lane % 4 / 2 * 4 + warp * cut.rounds * WIDE * COLUMNS) * 4;
    InCluster gate = place.gate + (ADDENDS + turn) * 8;
    const T* a = rows + lane / 4 * wide + lane % 4 * V;
    multiply_all<WIDE, SHORT>(a, wide, cut, stream, first, second, [&](int round, const float (&sums)[WIDE][4]) {
#pragma unroll
        for (int j = 0; j < WIDE; j++) {
            // two lanes have four columns of two rows: one takes each row
            float x = odd ? sums[j][0] : sums[j][2], y = odd ? sums[j][1] : sums[j][3];
            x = __shfl_xor_sync(0xffffffffu, x, 1);
            y = __shfl_xor_sync(0xffffffffu, y, 1);
            uint4 v = odd ? make_uint4(__float_as_uint(x), __float_as_uint(y), __float_as_uint(sums[j][2]), __float_as_uint(sums[j][3]))
                          : make_uint4(__float_as_uint(sums[j][0]), __float_as_uint(sums[j][1]), __float_as_uint(x), __float_as_uint(y));
            send(to + (round * WIDE + j) * COLUMNS * 4, gate, v);
        }
    });
}

// Sums of a head's columns become queries, keys and values; those that others need go out.
__device__ __forceinline__ void finish_heads(const Encoder& e, const Place& place, const float* cells, const T* bias, T* own, T* handed) {
#pragma unroll 1
    for (int i = threadIdx.x; i < 3 * HEAD * TILE / 4; i += MEMBERS) {
        int row = i % 32 / 2, column = i / 32 * COLUMNS + i % 2 * 4, part = column / HEAD, within = column % HEAD;
        int token = place.tile * TILE + row;
        float4 sum = gather_sums(cells, i);
        Pack<T, 4> add = load_pack<T, 4>(bias, column / 4);
        float v[4] = {sum.x + to_compute(add.at[0]), sum.y + to_compute(add.at[1]), sum.z + to_compute(add.at[2]), sum.w + to_compute(add.at[3])};
        if (token >= e.rows) v[0] = v[1] = v[2] = v[3] = 0;
        auto words = pack_four(v, T());
        if (handed != nullptr && part > 0) {
            if (token < e.rows) store_handed(reinterpret_cast<decltype(words)*>(handed + ((part - 1) * static_cast<i64>(e.rows) + token) * HEAD + within), words);
        } else {
            *reinterpret_cast<decltype(words)*>(own + (part * TILE + row) * WIDE_HEAD + within) = words;
        }
    }
}

// Sums of a part's columns become operands of the second product.
__device__ __forceinline__ void finish_part(const Layer& layer, const Encoder& e, const float* cells, const T* bias, T* between) {
    int wide = wide_row(e.inner), fn = layer.fn;
#pragma unroll 1
    for (int i = threadIdx.x; i < e.inner * TILE / 4; i += MEMBERS) {
        int row = i % 32 / 2, column = i / 32 * COLUMNS + i % 2 * 4;
        float4 sum = gather_sums(cells, i);
        Pack<T, 4> add = load_pack<T, 4>(bias, column / 4);
        float v[4] = {sum.x + to_compute(add.at[0]), sum.y + to_compute(add.at[1]), sum.z + to_compute(add.at[2]), sum.w + to_compute(add.at[3])};
        if (fn == FN_GELU) {
#pragma unroll
            for (int c = 0; c < 4; c++) v[c] = ShortFn<T, FN_GELU>::of(v[c], 0, 0);
        } else if (fn != 0) {
#pragma unroll 1
            for (int c = 0; c < 4; c++) v[c] = unary_fn_call(fn, v[c], layer.alpha, 0.0f);
        }
        auto words = as_operands(pack_four(v, T()), T());
        *reinterpret_cast<decltype(words)*>(between + row * wide + column) = words;
    }
}

// A norm of a block's rows: what is added first, and what makes the result of it.
struct Norm {
    const T *bias, *scale, *shift;
    float epsilon;
    int contributions, turn, count;  // the number of times that the gates of this turn were waited at
};

// Adds up a row of this block with its bias and residual, and makes its norm: to all blocks, or to y.
__device__ __forceinline__ void norm_own(const Encoder& e, const Place& place, const Norm& norm, float4& kept, float2* states, bool last) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = e.hidden / 128;
    int row = warp / warps, column = warp % warps * 128 + lane * 4;
    bool mine = row < place.rows;
    Pack<T, 4> factors = {}, shifts = {};
    if (mine) {
        factors = load_pack<T, 4>(norm.scale, column / 4);
        shifts = load_pack<T, 4>(norm.shift, column / 4);
        if (norm.contributions > 0) {
            Pack<T, 4> add = load_pack<T, 4>(norm.bias, column / 4);
            kept.x += to_compute(add.at[0]), kept.y += to_compute(add.at[1]), kept.z += to_compute(add.at[2]), kept.w += to_compute(add.at[3]);
            await_sent(place.gates + ADDENDS + norm.turn, norm.count, threadIdx.x == 0, norm.contributions * place.rows * e.hidden * 4);
        }
        const float4* from = reinterpret_cast<const float4*>(place.addends + row * e.hidden + column);
        int stride = place.rows * e.hidden / 4;
#pragma unroll 4
        for (int i = 0; i < norm.contributions; i++) {
            float4 v = from[i * stride];
            kept.x += v.x, kept.y += v.y, kept.z += v.z, kept.w += v.w;
        }
        float mean = (kept.x + kept.y) + (kept.z + kept.w);
#pragma unroll
        for (int apart = 16; apart > 0; apart /= 2) mean += __shfl_xor_sync(0xffffffffu, mean, apart);
        mean *= 1.0f / 128;
        float x = kept.x - mean, y = kept.y - mean, z = kept.z - mean, w = kept.w - mean;
        float squares = x * x + y * y + z * z + w * w;
#pragma unroll
        for (int apart = 16; apart > 0; apart /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, apart);
        if (lane == 0) states[warp] = make_float2(mean, squares);
    }
    __syncthreads();
    if (!mine) return;
    float mean = 0, squares = 0, share = fast_reciprocal(static_cast<float>(warps));
#pragma unroll 4
    for (int i = 0; i < warps; i++) mean += states[row * warps + i].x;
    mean *= share;
#pragma unroll 4
    for (int i = 0; i < warps; i++) {
        float2 state = states[row * warps + i];
        squares += state.y + 128 * (state.x - mean) * (state.x - mean);
    }
    float by = fast_reciprocal(sqrtf(squares * share * (1.0f / 128) + norm.epsilon));
    kept.x = fmaf((kept.x - mean) * by, to_compute(factors.at[0]), to_compute(shifts.at[0]));
    kept.y = fmaf((kept.y - mean) * by, to_compute(factors.at[1]), to_compute(shifts.at[1]));
    kept.z = fmaf((kept.z - mean) * by, to_compute(factors.at[2]), to_compute(shifts.at[2]));
    kept.w = fmaf((kept.w - mean) * by, to_compute(factors.at[3]), to_compute(shifts.at[3]));
    float v[4] = {kept.x, kept.y, kept.z, kept.w};
    auto words = pack_four(v, T());
    int in_tile = place.rank * place.rows + row;
    if (last) {
        i64 at = static_cast<i64>(place.tile * TILE + in_tile) * e.hidden + column;
        if (place.tile * TILE + in_tile >= e.rows) return;
        if (e.wide) {
            *reinterpret_cast<float4*>(static_cast<float*>(e.y) + at) = kept;
        } else {
            *reinterpret_cast<decltype(words)*>(static_cast<T*>(e.y) + at) = words;
        }
        return;
    }
    words = as_operands(words, T());
    T* to = place.row_tile + in_tile * wide_row(e.hidden) + column;
#pragma unroll 4
    for (int block = 0; block < place.blocks; block++) send(in_cluster(to, block), in_cluster(place.gates + ROWS + norm.turn, block), words);
}

// What a block needs of a layer beside weights, to its place in shared memory; by one warp, or emulated by all.
__device__ __forceinline__ void fetch_vectors(const Layer& layer, const Encoder& e, const Place& place, T* to, u64* gate, int heads) {
    int lane = threadIdx.x % 32, hidden = e.hidden, up = e.inner * PARTS / place.blocks;
#if TENON_EMULATED
    for (int i = threadIdx.x; i < hidden; i += MEMBERS) {
        to[i] = layer.out_bias[i], to[hidden + i] = layer.first_scale[i], to[2 * hidden + i] = layer.first_shift[i];
        to[3 * hidden + i] = layer.down_bias[i], to[4 * hidden + i] = layer.second_scale[i], to[5 * hidden + i] = layer.second_shift[i];
    }
    for (int i = threadIdx.x; i < up; i += MEMBERS) to[6 * hidden + i] = layer.up_bias[place.rank * up + i];
    for (int i = threadIdx.x; i < 3 * HEAD * heads; i += MEMBERS) {
        to[6 * hidden + up + i] = layer.qkv_bias[i / HEAD % 3 * hidden + (place.rank + i / (3 * HEAD) * place.blocks) * HEAD + i % HEAD];
    }
#else
    constexpr int SIZE = static_cast<int>(sizeof(T));
    if (threadIdx.x / 32 != CREW - 1) return;
    u32 barrier = shared_address(gate), base = shared_address(to);
    if (lane == 0) expect_bytes(barrier, (6 * hidden + up + 3 * HEAD * heads) * SIZE);
    __syncwarp();
    if (lane < 6) {
        const T* from = lane == 0 ? layer.out_bias : lane == 1 ? layer.first_scale : lane == 2 ? layer.first_shift : lane == 3 ? layer.down_bias : lane == 4 ? layer.second_scale : layer.second_shift;
        copy_bulk(base + lane * hidden * SIZE, from, hidden * SIZE, barrier);
    } else if (lane == 6) {
        copy_bulk(base + 6 * hidden * SIZE, layer.up_bias + place.rank * up, up * SIZE, barrier);
    }
    for (int i = lane; i < 3 * heads; i += 32) {
        copy_bulk(base + (6 * hidden + up + i * HEAD) * SIZE, layer.qkv_bias + i % 3 * hidden + (place.rank + i / 3 * place.blocks) * HEAD, HEAD * SIZE, barrier);
    }
#endif
}

// Where a tile's masks of a head begin.
__device__ __forceinline__ const T* first_mask(const Layer& layer, const Encoder& e, int batch, int head) {
    int dims = layer.mask_dims, row = dims & 8 ? e.keys : 1;
    i64 matrix = dims & 4 ? static_cast<i64>(row) * e.keys : row, whole = dims & 2 ? matrix * e.heads : matrix;
    return layer.mask == nullptr ? nullptr : layer.mask + (dims & 1 ? batch * whole : 0) + (dims & 2 ? head * matrix : 0);
}

// The masks of a tile's queries, `line` keys of each, or of all alike; -inf past the last key.
__device__ __forceinline__ void load_masks(float* to, const T* from, int dims, int keys, int line, int first) {
    int queries = dims & 4 ? TILE : 1, row = dims & 8 ? keys : 1;
#pragma unroll 1
    for (int i = threadIdx.x; i < queries * line; i += MEMBERS) {
        int key = i % line, query = first + i / line;
        if (query >= keys) query = keys - 1;
        float v = -TENON_INFINITY;
        if (key < keys) v = from == nullptr ? 0.0f : to_compute(from[(dims & 4 ? query * row : 0) + (dims & 8 ? key : 0)]);
        to[i] = v;
    }
}

// Every word that blocks hand to one another in this launch is NOT_YET behind the meeting at the counter.
__device__ __forceinline__ void clear_handed(const Encoder& e, const Place& place, int heads) {
    constexpr int OF_ROW = HEAD / V, PACKS = TILE * OF_ROW;
    for (int i = threadIdx.x; i < e.layers * heads * 2 * PACKS; i += MEMBERS) {
        int row = i % PACKS / OF_ROW, part = i / PACKS % 2, item = i / PACKS / 2, head = place.rank + item % heads * place.blocks;
        int token = place.tile * TILE + row;
        i64 index = (static_cast<i64>((item / heads * e.heads + head) * 2 + part) * e.rows + token) * OF_ROW + i % OF_ROW;
        if (token < e.rows) reinterpret_cast<uint4*>(e.handed)[index] = make_uint4(NOT_YET, NOT_YET, NOT_YET, NOT_YET);
    }
    __syncthreads();
    if (threadIdx.x == 0) announce(e.counters);
}

__device__ __forceinline__ Segment segment_of(const T* weights, const Cut& cut, int item, int tiles) {
    int full = cut.batches * cut.rounds, pieces = cut.chunks * tiles;
    Segment s;
    s.from = weights + static_cast<i64>(item) * full * pieces * CREW * PIECE;
    s.full = static_cast<u16>(full);
    s.empty = static_cast<u16>(PAIRED ? full % 2 : 0);
    s.pieces = pieces;
    return s;
}
#endif

extern "C" __global__ void __launch_bounds__(MEMBERS, 1) TENON_NAME(clustered)(Encoder const __grid_constant__ e) {
#if __CUDA_ARCH__ >= 900 || TENON_EMULATED
    TENON_DYNAMIC_SHARED(u8, dynamic);
    __shared__ u64 gates[6];
    __shared__ float2 states[CREW];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, hidden = e.hidden, wide = wide_row(hidden);
    Place place;
    place.blocks = e.blocks;
    place.rank = static_cast<int>(blockIdx.x) % e.blocks;
    place.tile = static_cast<int>(blockIdx.x) / e.blocks;
    place.rows = TILE / e.blocks;
    place.row_tile = reinterpret_cast<T*>(dynamic);
    place.addends = reinterpret_cast<float*>(dynamic + e.addends);
    place.gates = gates;
    int of_row = (lane / 4 + lane % 2 * 8) / place.rows;
    place.there = in_cluster(place.addends, of_row);
    place.gate = in_cluster(gates, of_row);
    T* between = reinterpret_cast<T*>(dynamic + e.between);
    T* own = reinterpret_cast<T*>(dynamic + e.own);
    T* mixed = reinterpret_cast<T*>(dynamic + e.mixed);
    T* vectors = reinterpret_cast<T*>(dynamic + e.vectors);
    float* cells = reinterpret_cast<float*>(dynamic + e.cells);
    float* masks = reinterpret_cast<float*>(dynamic + e.masks);
    Layer* layers = reinterpret_cast<Layer*>(dynamic + e.layers_at);
    Segment* segments = reinterpret_cast<Segment*>(dynamic + e.segments);
    int heads = e.heads > place.rank ? (e.heads - place.rank - 1) / e.blocks + 1 : 0, parts = PARTS / e.blocks;
    int each = 2 * (heads + parts), row_bytes = TILE * hidden * static_cast<int>(sizeof(T));
    for (int i = threadIdx.x; i < each * e.layers; i += MEMBERS) {
        const Layer& layer = e.at[i / each];
        int item = i % each / 2, head = place.rank + item * e.blocks, part = place.rank * parts + item - heads;
        bool second = i % 2 != 0;
        segments[i] = item < heads ? (second ? segment_of(layer.out, e.out, head, WIDE) : segment_of(layer.qkv, e.qkv, head, NARROW))
                                   : (second ? segment_of(layer.down, e.down, part, WIDE) : segment_of(layer.up, e.up, part, NARROW));
    }
    constexpr int WORDS = sizeof(Layer) / 16;
    for (int i = threadIdx.x; i < e.layers * WORDS; i += MEMBERS) reinterpret_cast<uint4*>(layers)[i] = reinterpret_cast<const uint4*>(e.at)[i];
#if !TENON_EMULATED
    if (threadIdx.x == 0) {
        for (int i = 0; i < 6; i++) start_barrier(shared_address(gates + i), 1);
        show_barriers();
        for (int i = 0; i < 2; i++) {
            expect_bytes(shared_address(gates + ADDENDS + i), (i == 0 ? e.heads : PARTS) * place.rows * hidden * 4);
            expect_bytes(shared_address(gates + ROWS + i), row_bytes);
        }
    }
#endif
    __syncthreads();
    Stream stream(segments, each * e.layers);
    uint4 first[UNITS], second[UNITS];
#pragma unroll
    for (int i = 0; i < UNITS; i++) first[i] = second[i] = make_uint4(0, 0, 0, 0);
    stream.fetch(first);
    stream.fetch(second);
    fetch_vectors(layers[0], e, place, vectors, gates + VECTORS, heads);
    meet_cluster();  // barriers of all blocks are started
    await_predecessor();
    bool hands = e.keys > TILE;
    if (hands) clear_handed(e, place, heads);
    float4 kept = {};
    {
        int warps = hidden / 128, row = warp / warps, token = place.tile * TILE + place.rank * place.rows + row;
        if (row < place.rows && token < e.rows) {
            Pack<T, 4> v = load_pack<T, 4>(e.x + static_cast<i64>(token) * hidden, (warp % warps * 128 + lane * 4) / 4);
            kept = make_float4(to_compute(v.at[0]), to_compute(v.at[1]), to_compute(v.at[2]), to_compute(v.at[3]));
        }
    }
    bool before = e.before_scale != nullptr;
    if (before) {
        norm_own(e, place, {nullptr, e.before_scale, e.before_shift, e.before_epsilon, 0, 1, 0}, kept, states, false);
        meet_emulated();
        await_sent(gates + ROWS + 1, 0, threadIdx.x == 0, row_bytes);
    } else {
        for (int i = threadIdx.x; i < TILE * hidden / V; i += MEMBERS) {
            int row = i / (hidden / V), at = i % (hidden / V), token = place.tile * TILE + row;
            uint4 v = token < e.rows ? *reinterpret_cast<const uint4*>(e.x + static_cast<i64>(token) * hidden + at * V) : make_uint4(0, 0, 0, 0);
            *reinterpret_cast<uint4*>(place.row_tile + row * wide + at * V) = as_operands(v, T());
        }
        __syncthreads();
    }
    int start = place.tile * TILE / e.keys, line = (e.keys + KEYS - 1) / KEYS * KEYS;  // the tile's sequence; masks of a query
    int first_token = place.tile * TILE - start * e.keys;
    const T* shown = nullptr;  // the masks that are there
    bool masked = false;
#pragma unroll 1
    for (int number = 0; number < e.layers; number++) {
        const Layer& layer = layers[number];
        const T* here = vectors + number % 2 * e.each_vectors;
        STAMP(number, 0);
        if (number + 1 < e.layers) fetch_vectors(layers[number + 1], e, place, vectors + (number + 1) % 2 * e.each_vectors, gates + VECTORS + (number + 1) % 2, heads);
#if !TENON_EMULATED
        await_phase(shared_address(gates + VECTORS + number % 2), number / 2 & 1);
#endif
        STAMP(number, 1);
#pragma unroll 1
        for (int i = 0; i < heads; i++) {
            int head = place.rank + i * e.blocks;
            T* handed = hands ? e.handed + static_cast<i64>(number * e.heads + head) * 2 * e.rows * HEAD : nullptr;
            multiply_within(place.row_tile, wide, e.qkv, cells, stream, first, second);
            STAMP(number, 2);
            __syncthreads();
            finish_heads(e, place, cells, here + 6 * hidden + e.inner * parts + i * 3 * HEAD, own, handed);
            const T* mask = first_mask(layer, e, start, head);
            if (!masked || mask != shown) load_masks(masks, mask, layer.mask_dims, e.keys, line, first_token);
            masked = true;
            shown = mask;
            __syncthreads();
            STAMP(number, 3);
            Tile tile = {own, masks, hands ? handed + static_cast<i64>(start) * e.keys * HEAD : nullptr, static_cast<i64>(e.rows) * HEAD, e.keys,
                         layer.mask_dims & 4 ? line : 0, (layer.mask_dims & 16) != 0, layer.factor, lane / 4, lane % 4};
            attend_tile(tile, e.counters, mixed, cells);
            __syncthreads();
            STAMP(number, 4);
            multiply_across(mixed, WIDE_HEAD, e.out, e, place, head, 0, stream, PAIRED ? first : second, PAIRED ? second : first);
        }
        STAMP(number, 5);
        meet_emulated();
        norm_own(e, place, {here, here + hidden, here + 2 * hidden, layer.first_epsilon, e.heads, 0, number}, kept, states, false);
        STAMP(number, 6);
        meet_emulated();
        await_sent(gates + ROWS, number, threadIdx.x == 0, row_bytes);
        STAMP(number, 7);
#pragma unroll 1
        for (int i = 0; i < parts; i++) {
            multiply_within(place.row_tile, wide, e.up, cells, stream, first, second);
            STAMP(number, 8);
            __syncthreads();
            finish_part(layer, e, cells, here + 6 * hidden + i * e.inner, between);
            __syncthreads();
            STAMP(number, 9);
            multiply_across(between, wide_row(e.inner), e.down, e, place, place.rank * parts + i, 1, stream, PAIRED ? first : second, PAIRED ? second : first);
        }
        STAMP(number, 10);
        meet_emulated();
        bool last = number == e.layers - 1;
        norm_own(e, place, {here + 3 * hidden, here + 4 * hidden, here + 5 * hidden, layer.second_epsilon, PARTS, 1, number}, kept, states, last);
        STAMP(number, 11);
        meet_emulated();
        if (!last) await_sent(gates + ROWS + 1, number + (before ? 1 : 0), threadIdx.x == 0, row_bytes);
        STAMP(number, 12);
    }
    if (hands && threadIdx.x == 0 && atomicAdd(e.counters + 1, 1u) == gridDim.x - 1) {  // the last block leaves them as they were
        e.counters[0] = 0;
        e.counters[1] = 0;
    }
    meet_cluster();  // none ends while others send to it
#endif
}
TENON_ENTRY(clustered)
