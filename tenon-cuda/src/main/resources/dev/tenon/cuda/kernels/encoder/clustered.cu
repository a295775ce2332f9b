// The layers of a small transformer encoder in one launch, by clusters of blocks: products on tensor cores with bias and activation, attention, residuals
// and layer norms behind them (formulas in core's MatMul, PlainAttention and LayerNorm). Sums in f32; f32 operands in TF32.
//
// A cluster has a tile of 16 rows. A sequence fills whole tiles, or is the only one.
//
// Launch: 512 threads; a cluster of 8 or 16 blocks a tile, all resident at once; where a sequence is longer than a tile, cooperative. Dynamic shared
// memory and layouts in clustered.cuh, offsets by ClusterPlan.java.
// Variants: TENON_T one of float, f16, bf16; TENON_HEAD 32 or 64, the elements of a head; TENON_TILES; from sm_90 on.
#include "clustered_attention.cuh"

#if __CUDA_ARCH__ >= 900 || TENON_EMULATED
#ifdef TENON_STAMPS
__device__ i64 stamps[MOST_LAYERS][16];
#define STAMP(layer, i) if (blockIdx.x == 0 && threadIdx.x == 0) stamps[layer][i] = clock64()
#else
#define STAMP(layer, i)
#endif
#ifndef TENON_EXCHANGE
#define TENON_EXCHANGE 1
#endif
#if TENON_EMULATED
#undef TENON_EXCHANGE
#define TENON_EXCHANGE 0
#endif

// A block's place, and where others are.
struct Place {
    int rank, blocks, tile, rows;  // rows of a block
    T* row_tile;                   // [16, wide], operands
    float* addends;                // [contributions, rows, hidden]
    u64* gates;                    // addends twice, rows twice, vectors twice
    InCluster there, gate;         // of the block that has a lane's row: its addends, its gates
};

constexpr int ADDENDS = 0, ROWS = 2, VECTORS = 4;

template <typename W>
__device__ __forceinline__ void send(InCluster there, InCluster gate, W words) {
#if TENON_EXCHANGE == 1
    send_in_cluster(there, words, gate);
#else
    store_in_cluster(there, words);
#endif
}

// Waits until all that a gate expects is there; `arms` expects as much of the next time.
__device__ __forceinline__ void await_sent(u64* gate, int turn, bool arms, int bytes) {
#if TENON_EXCHANGE == 1
    u32 at = shared_address(gate);
    await_phase_in_cluster(at, turn & 1);
    if (arms) expect_bytes(at, bytes);
#endif
}

__device__ __forceinline__ void meet_blocks() {
#if TENON_EXCHANGE == 0
    meet_cluster();
#endif
}

// What rows [16, wide] times some rows of k add to all columns, sent to the blocks that have the rows.
__device__ __forceinline__ void multiply_across(const T* rows, int wide, int chunks, const Encoder& e, const Place& place, int contribution, int turn, Ring& ring) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, odd = lane % 2;
    int rounds = e.hidden / (COLUMNS * WARPS * TILES);
    int row = lane / 4 + odd * 8;
    InCluster to = place.there + ((contribution * place.rows + row % place.rows) * e.hidden + lane % 4 / 2 * 4) * 4;
    InCluster gate = place.gate + (ADDENDS + turn) * 8;
    const T* a = rows + lane / 4 * wide + lane % 4 * V;
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
        float sums[TILES][4] = {};
#pragma unroll 1
        for (int chunk = 0; chunk < chunks; chunk++) {
            uint4 low = *reinterpret_cast<const uint4*>(a + chunk * CHUNK);
            uint4 high = *reinterpret_cast<const uint4*>(a + 8 * wide + chunk * CHUNK);
            uint4 b[TILES];
            ring.take(b);
#pragma unroll
            for (int j = 0; j < TILES; j++) multiply_packed(sums[j], low, high, b[j], T());
        }
#pragma unroll
        for (int j = 0; j < TILES; j++) {
            // two lanes have four columns of two rows: one takes each row
            float x = odd ? sums[j][0] : sums[j][2], y = odd ? sums[j][1] : sums[j][3];
            x = __shfl_xor_sync(0xffffffffu, x, 1);
            y = __shfl_xor_sync(0xffffffffu, y, 1);
            uint4 v = odd ? make_uint4(__float_as_uint(x), __float_as_uint(y), __float_as_uint(sums[j][2]), __float_as_uint(sums[j][3]))
                          : make_uint4(__float_as_uint(sums[j][0]), __float_as_uint(sums[j][1]), __float_as_uint(x), __float_as_uint(y));
            send(to + ((warp * rounds + round) * TILES + j) * COLUMNS * 4, gate, v);
        }
    }
}

// Sums of a head's columns become queries, keys and values; those that others need go out.
__device__ __forceinline__ void finish_heads(const Encoder& e, const Place& place, const float* cells, const T* bias, T* own, T* handed) {
#pragma unroll 1
    for (int i = threadIdx.x; i < 3 * HEAD * TILE / 4; i += THREADS) {
        int row = i % 32 / 2, column = i / 32 * COLUMNS + i % 2 * 4, part = column / HEAD, within = column % HEAD;
        int token = place.tile * TILE + row;
        float4 sum = gather_sums(cells, i);
        Pack<T, 4> add = load_pack<T, 4>(bias, column / 4);
        float v[4] = {sum.x + to_compute(add.at[0]), sum.y + to_compute(add.at[1]), sum.z + to_compute(add.at[2]), sum.w + to_compute(add.at[3])};
        if (token >= e.rows) v[0] = v[1] = v[2] = v[3] = 0;
        auto words = pack_four(v, T());
        *reinterpret_cast<decltype(words)*>(own + (part * TILE + row) * WIDE_HEAD + within) = words;
        if (handed != nullptr && part > 0 && token < e.rows) {
            store_handed(reinterpret_cast<decltype(words)*>(handed + ((part - 1) * static_cast<i64>(e.rows) + token) * HEAD + within), words);
        }
    }
}

// Sums of a part's columns become operands of the second product.
__device__ __forceinline__ void finish_part(const Layer& layer, const Encoder& e, const float* cells, const T* bias, T* between) {
    int wide = wide_row(e.inner);
#pragma unroll 1
    for (int i = threadIdx.x; i < e.inner * TILE / 4; i += THREADS) {
        int row = i % 32 / 2, column = i / 32 * COLUMNS + i % 2 * 4;
        float4 sum = gather_sums(cells, i);
        Pack<T, 4> add = load_pack<T, 4>(bias, column / 4);
        float v[4] = {sum.x + to_compute(add.at[0]), sum.y + to_compute(add.at[1]), sum.z + to_compute(add.at[2]), sum.w + to_compute(add.at[3])};
        if (layer.fn == FN_GELU) {
#pragma unroll
            for (int c = 0; c < 4; c++) v[c] = ShortFn<T, FN_GELU>::of(v[c], 0, 0);
        } else {
#pragma unroll 1
            for (int c = 0; c < 4; c++) v[c] = unary_fn_call(layer.fn, v[c], layer.alpha, 0.0f);
        }
        auto words = as_operands(pack_four(v, T()), T());
        *reinterpret_cast<decltype(words)*>(between + row * wide + column) = words;
    }
}

// Adds up a row of this block with its bias and residual, and makes its norm: to all blocks, or behind the last layer to y.
__device__ __forceinline__ void norm_own(const Encoder& e, const Place& place, float4& kept, const T* bias, const T* scale, const T* shift, float epsilon, int contributions,
                                         int turn, int layer, float2* states) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = e.hidden / 128;
    int row = warp / warps, column = warp % warps * 128 + lane * 4;
    bool mine = row < place.rows;
    int bytes = contributions * place.rows * e.hidden * 4;
    if (mine) {
        await_sent(place.gates + ADDENDS + turn, layer, threadIdx.x == 0, bytes);
        Pack<T, 4> add = load_pack<T, 4>(bias, column / 4);
        const float4* from = reinterpret_cast<const float4*>(place.addends + row * e.hidden + column);
        int stride = place.rows * e.hidden / 4;
        float4 sum = {};
#pragma unroll 4
        for (int i = 0; i < contributions; i++) {
            float4 v = from[i * stride];
            sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
        }
        kept.x += sum.x + to_compute(add.at[0]), kept.y += sum.y + to_compute(add.at[1]);
        kept.z += sum.z + to_compute(add.at[2]), kept.w += sum.w + to_compute(add.at[3]);
        float mean = kept.x + kept.y + kept.z + kept.w;
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
#pragma unroll 1
    for (int i = 0; i < warps; i++) mean += states[row * warps + i].x;
    mean *= share;
#pragma unroll 1
    for (int i = 0; i < warps; i++) {
        float2 state = states[row * warps + i];
        squares += state.y + 128 * (state.x - mean) * (state.x - mean);
    }
    float by = fast_reciprocal(sqrtf(squares * share * (1.0f / 128) + epsilon));
    Pack<T, 4> factors = load_pack<T, 4>(scale, column / 4), addends = load_pack<T, 4>(shift, column / 4);
    kept.x = fmaf((kept.x - mean) * by, to_compute(factors.at[0]), to_compute(addends.at[0]));
    kept.y = fmaf((kept.y - mean) * by, to_compute(factors.at[1]), to_compute(addends.at[1]));
    kept.z = fmaf((kept.z - mean) * by, to_compute(factors.at[2]), to_compute(addends.at[2]));
    kept.w = fmaf((kept.w - mean) * by, to_compute(factors.at[3]), to_compute(addends.at[3]));
    float v[4] = {kept.x, kept.y, kept.z, kept.w};
    auto words = pack_four(v, T());
    int in_tile = place.rank * place.rows + row;
    if (turn == 1 && layer == e.layers - 1) {
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
    for (int block = 0; block < place.blocks; block++) send(in_cluster(to, block), in_cluster(place.gates + ROWS + turn, block), words);
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, 1) TENON_NAME(clustered)(Encoder const __grid_constant__ e) {
#if __CUDA_ARCH__ >= 900 || TENON_EMULATED
    TENON_DYNAMIC_SHARED(u8, dynamic);
    __shared__ u64 gates[6];
    __shared__ float2 states[WARPS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, hidden = e.hidden, wide = wide_row(hidden);
    Place place;
    place.blocks = e.blocks;
    place.rank = static_cast<int>(blockIdx.x) % e.blocks;
    place.tile = static_cast<int>(blockIdx.x) / e.blocks;
    place.rows = TILE / e.blocks;
    place.row_tile = reinterpret_cast<T*>(dynamic);
    place.addends = reinterpret_cast<float*>(dynamic + e.addends);
    place.gates = gates;
    {
        int block = (lane / 4 + lane % 2 * 8) / place.rows;
        place.there = in_cluster(place.addends, block);
        place.gate = in_cluster(gates, block);
    }
    T* between = reinterpret_cast<T*>(dynamic + e.between);
    T* own = reinterpret_cast<T*>(dynamic + e.own);
    T* mixed = reinterpret_cast<T*>(dynamic + e.mixed);
    float* cells = reinterpret_cast<float*>(dynamic + e.cells);
    int heads = e.heads > place.rank ? (e.heads - place.rank - 1) / e.blocks + 1 : 0, parts = PARTS / e.blocks;
    int of_head = hidden / CHUNK / SPLITS * (3 * HEAD / COLUMNS / GROUPS / TILES), of_out = HEAD / CHUNK * (hidden / COLUMNS / WARPS / TILES);
    int of_up = hidden / CHUNK / SPLITS * (e.inner / COLUMNS / GROUPS / TILES), of_down = e.inner / CHUNK * (hidden / COLUMNS / WARPS / TILES);
    int each = 2 * (heads + parts), row_bytes = TILE * hidden * static_cast<int>(sizeof(T));
    {
        Segment* segments = reinterpret_cast<Segment*>(dynamic + e.segments);
        for (int i = threadIdx.x; i < each * e.layers; i += THREADS) {
            const Layer& layer = e.at[i / each];
            int at = i % each, item = at / 2, second = at % 2;
            Segment s;
            s.unused = 0;
            if (item < heads) {
                s.slots = second ? of_out : of_head;
                s.from = (second ? layer.out : layer.qkv) + static_cast<i64>(place.rank + item * e.blocks) * s.slots * WARPS * SLOT;
            } else {
                s.slots = second ? of_down : of_up;
                s.from = (second ? layer.down : layer.up) + static_cast<i64>(place.rank * parts + item - heads) * s.slots * WARPS * SLOT;
            }
            segments[i] = s;
        }
    }
#if !TENON_EMULATED
    if (threadIdx.x == 0) {
        for (int i = 0; i < 6; i++) start_barrier(shared_address(gates + i), 1);
    }
    if (lane == 0) {
        for (int i = 0; i < e.slots; i++) start_barrier(shared_address(dynamic + e.barriers) + (warp * e.slots + i) * 8, 1);
        show_barriers();
    }
#endif
    __syncthreads();
#if !TENON_EMULATED
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) {
            expect_bytes(shared_address(gates + ADDENDS + i), (i == 0 ? e.heads : PARTS) * place.rows * hidden * 4);
            expect_bytes(shared_address(gates + ROWS + i), row_bytes);
        }
    }
#endif
    Ring ring;
    ring.start(dynamic, e, each * e.layers);
#if TENON_EMULATED
    auto fetch_vectors = [&](int number) {
        if (number >= e.layers) return;
        const Layer& layer = e.at[number];
        T* to = reinterpret_cast<T*>(dynamic + e.vectors) + number % 2 * e.each_vectors;
        int up = e.inner * parts;
        for (int i = threadIdx.x; i < hidden; i += THREADS) {
            to[i] = layer.out_bias[i], to[hidden + i] = layer.first_scale[i], to[2 * hidden + i] = layer.first_shift[i];
            to[3 * hidden + i] = layer.down_bias[i], to[4 * hidden + i] = layer.second_scale[i], to[5 * hidden + i] = layer.second_shift[i];
        }
        for (int i = threadIdx.x; i < up; i += THREADS) to[6 * hidden + i] = layer.up_bias[place.rank * up + i];
        for (int i = threadIdx.x; i < 3 * HEAD * heads; i += THREADS) {
            to[6 * hidden + up + i] = layer.qkv_bias[i / HEAD % 3 * hidden + (place.rank + i / (3 * HEAD) * e.blocks) * HEAD + i % HEAD];
        }
    };
#else
    auto fetch_vectors = [&](int number) {
        if (warp != WARPS - 1 || number >= e.layers) return;
        const Layer& layer = e.at[number];
        u32 gate = shared_address(gates + VECTORS + number % 2);
        u32 to = shared_address(dynamic + e.vectors) + number % 2 * e.each_vectors * sizeof(T);
        int up = e.inner * parts;
        if (lane == 0) expect_bytes(gate, (6 * hidden + up + 3 * HEAD * heads) * sizeof(T));
        __syncwarp();
        if (lane < 6) {
            const T* from = lane == 0 ? layer.out_bias : lane == 1 ? layer.first_scale : lane == 2 ? layer.first_shift : lane == 3 ? layer.down_bias : lane == 4 ? layer.second_scale : layer.second_shift;
            copy_bulk(to + lane * hidden * sizeof(T), from, hidden * sizeof(T), gate);
        } else if (lane == 6) {
            copy_bulk(to + 6 * hidden * sizeof(T), layer.up_bias + place.rank * up, up * sizeof(T), gate);
        }
        for (int i = lane; i < 3 * heads; i += 32) {
            copy_bulk(to + (6 * hidden + up + i * HEAD) * sizeof(T), layer.qkv_bias + i % 3 * hidden + (place.rank + i / 3 * e.blocks) * HEAD, HEAD * sizeof(T), gate);
        }
    };
#endif
    fetch_vectors(0);
    meet_cluster();  // barriers of all blocks are started
    await_predecessor();
    bool hands = e.keys > TILE;
    if (hands) {
        int packs = TILE * HEAD / V;
        for (int i = threadIdx.x; i < e.layers * heads * 2 * packs; i += THREADS) {
            int row = i % packs / (HEAD / V), at = i % (HEAD / V), part = i / packs % 2, item = i / packs / 2 % (heads == 0 ? 1 : heads), layer = i / packs / 2 / (heads == 0 ? 1 : heads);
            int token = place.tile * TILE + row;
            i64 index = ((static_cast<i64>(layer * e.heads + place.rank + item * e.blocks) * 2 + part) * e.rows + token) * (HEAD / V) + at;
            if (token < e.rows) reinterpret_cast<uint4*>(e.handed)[index] = make_uint4(NOT_YET, NOT_YET, NOT_YET, NOT_YET);
        }
        __syncthreads();
        if (threadIdx.x == 0) announce(e.counters);
    }
    for (int i = threadIdx.x; i < TILE * hidden / V; i += THREADS) {
        int row = i / (hidden / V), at = i % (hidden / V), token = place.tile * TILE + row;
        uint4 v = token < e.rows ? *reinterpret_cast<const uint4*>(e.x + static_cast<i64>(token) * hidden + at * V) : make_uint4(0, 0, 0, 0);
        *reinterpret_cast<uint4*>(place.row_tile + row * wide + at * V) = as_operands(v, T());
    }
    float4 kept = {};
    {
        int warps = hidden / 128, row = warp / warps, token = place.tile * TILE + place.rank * place.rows + row;
        if (row < place.rows && token < e.rows) {
            Pack<T, 4> v = load_pack<T, 4>(e.x + static_cast<i64>(token) * hidden, (warp % warps * 128 + lane * 4) / 4);
            kept = make_float4(to_compute(v.at[0]), to_compute(v.at[1]), to_compute(v.at[2]), to_compute(v.at[3]));
        }
    }
    __syncthreads();
#pragma unroll 1
    for (int number = 0; number < e.layers; number++) {
        const Layer& layer = e.at[number];
        const T* vectors = reinterpret_cast<const T*>(dynamic + e.vectors) + number % 2 * e.each_vectors;
        STAMP(number, 0);
        fetch_vectors(number + 1);
#if !TENON_EMULATED
        await_phase(shared_address(gates + VECTORS + number % 2), number / 2 & 1);
#endif
        STAMP(number, 1);
#pragma unroll 1
        for (int i = 0; i < heads; i++) {
            int head = place.rank + i * e.blocks;
            T* handed = hands ? e.handed + static_cast<i64>(number * e.heads + head) * 2 * e.rows * HEAD : nullptr;
            multiply_within(place.row_tile, wide, hidden / CHUNK, 3 * HEAD / (COLUMNS * GROUPS * TILES), cells, ring);
            STAMP(number, 2);
            __syncthreads();
            finish_heads(e, place, cells, vectors + 6 * hidden + e.inner * parts + i * 3 * HEAD, own, handed);
            __syncthreads();
            STAMP(number, 3);
            attend_tile(layer, e, own, handed, mixed, cells, place.tile, head);
            __syncthreads();
            STAMP(number, 4);
            multiply_across(mixed, WIDE_HEAD, HEAD / CHUNK, e, place, head, 0, ring);
        }
        STAMP(number, 5);
        meet_blocks();
        norm_own(e, place, kept, vectors, vectors + hidden, vectors + 2 * hidden, layer.first_epsilon, e.heads, 0, number, states);
        STAMP(number, 6);
        meet_blocks();
        await_sent(gates + ROWS, number, threadIdx.x == 0, row_bytes);
        STAMP(number, 7);
#pragma unroll 1
        for (int i = 0; i < parts; i++) {
            multiply_within(place.row_tile, wide, hidden / CHUNK, e.inner / (COLUMNS * GROUPS * TILES), cells, ring);
            STAMP(number, 8);
            __syncthreads();
            finish_part(layer, e, cells, vectors + 6 * hidden + i * e.inner, between);
            __syncthreads();
            STAMP(number, 9);
            multiply_across(between, wide_row(e.inner), e.inner / CHUNK, e, place, place.rank * parts + i, 1, ring);
        }
        STAMP(number, 10);
        meet_blocks();
        norm_own(e, place, kept, vectors + 3 * hidden, vectors + 4 * hidden, vectors + 5 * hidden, layer.second_epsilon, PARTS, 1, number, states);
        STAMP(number, 11);
        meet_blocks();
        if (number < e.layers - 1) await_sent(gates + ROWS + 1, number, threadIdx.x == 0, row_bytes);
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
