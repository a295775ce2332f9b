// The layers of a small transformer encoder in one launch: products on tensor cores with bias and activation, attention, residuals and layer norms behind
// them (formulas in core's MatMul, PlainAttention and LayerNorm). Sums in f32; f32 operands in TF32.
//
// A tile is 16 rows. A sequence fills whole tiles, or is the only one.
//
// Launch: 256 threads; 16 blocks a tile, all resident at once, cooperative. Dynamic shared memory and layouts in layers.cuh, offsets by LayersPlan.java.
// Variants: TENON_T one of float, f16, bf16; TENON_HEAD 32 or 64, the elements of a head; TENON_TILES; TENON_PACKS; from sm_80 on.
#include "layers_rows.cuh"

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
__device__ __forceinline__ int heads_of(const Encoder& e, int rank) { return e.heads > rank ? (e.heads - rank - 1) / BLOCKS + 1 : 0; }

// What a block needs of a layer beside weights, to its place in shared memory.
struct Vectors {
    const T *out_bias, *down_bias, *first_scale, *first_shift, *second_scale, *second_shift, *up_bias, *qkv_bias;

    __device__ __forceinline__ Vectors(const Encoder& e, const T* base) {
        out_bias = base;
        down_bias = out_bias + e.hidden / BLOCKS;
        first_scale = down_bias + e.hidden / BLOCKS;
        first_shift = first_scale + e.hidden;
        second_scale = first_shift + e.hidden;
        second_shift = second_scale + e.hidden;
        up_bias = second_shift + e.hidden;
        qkv_bias = up_bias + e.inner / BLOCKS;  // of heads one behind the other, three parts each
    }
};

// Which of these a thread fetches: some pieces of 16 bytes, each from an address of Layer and an offset. Worked out once.
struct Pieces {
    static constexpr int MOST = NORM_PACKS == 3 ? 2 : 4;
    int from[MOST], offset[MOST];  // which address of Layer, or -1; elements from there on

    __device__ __forceinline__ Pieces(const Encoder& e, const Place& place, int heads) {
        int share = place.share / V, hidden = e.hidden / V, up = e.inner / BLOCKS / V;
#pragma unroll
        for (int p = 0; p < MOST; p++) {
            int at = static_cast<int>(threadIdx.x) + p * MEMBERS;
            from[p] = -1;
            offset[p] = 0;
            if (at < 2 * share) {
                from[p] = at < share ? 5 : 7;
                offset[p] = at % share * V + place.rank * place.share;
            } else if ((at -= 2 * share) < 4 * hidden) {
                from[p] = 8 + at / hidden;
                offset[p] = at % hidden * V;
            } else if ((at -= 4 * hidden) < up) {
                from[p] = 6;
                offset[p] = place.rank * (e.inner / BLOCKS) + at * V;
            } else if ((at = (at - up) * V) < 3 * HEAD * heads) {
                from[p] = 4;
                offset[p] = at / HEAD % 3 * e.hidden + (place.rank + at / (3 * HEAD) * BLOCKS) * HEAD + at % HEAD;
            }
        }
    }

    __device__ __forceinline__ void fetch(const Layer& layer, T* to) const {
#pragma unroll
        for (int p = 0; p < MOST; p++) {
            if (from[p] >= 0) copy_async_16(to + (threadIdx.x + p * MEMBERS) * V, reinterpret_cast<const T* const*>(&layer)[from[p]] + offset[p]);
        }
        copy_async_commit();
    }
};

// Where the words of a layer lie.
struct Words {
    T *mixed, *first, *middle, *second, *handed;

    __device__ __forceinline__ Words(const Encoder& e, int layer) {
        i64 rows = e.rows, all = rows * (3 * e.hidden + e.inner + (e.keys > TILE ? 2 * e.hidden : 0));
        mixed = e.words + layer * all;
        first = mixed + rows * e.hidden;
        middle = first + rows * e.hidden;
        second = middle + rows * e.inner;
        handed = second + rows * e.hidden;
    }
};

__device__ __forceinline__ void clear_columns(T* to, i64 stride, int columns, int rows) {
    int packs = columns / V;
#pragma unroll 1
    for (int i = threadIdx.x; i < rows * packs; i += MEMBERS) {
        *reinterpret_cast<uint4*>(to + i / packs * stride + i % packs * V) = make_uint4(NOT_YET, NOT_YET, NOT_YET, NOT_YET);
    }
}

// Every word that a block hands to others is NOT_YET behind the meeting at the counter.
__device__ __forceinline__ void clear_words(const Encoder& e, const Place& place, int heads) {
#pragma unroll 1
    for (int layer = 0; layer < e.layers; layer++) {
        Words words(e, layer);
        i64 row = place.first;
        int up = e.inner / BLOCKS;
        clear_columns(words.first + row * e.hidden + place.rank * place.share, e.hidden, place.share, place.rows);
        clear_columns(words.second + row * e.hidden + place.rank * place.share, e.hidden, place.share, place.rows);
        clear_columns(words.middle + row * e.inner + place.rank * up, e.inner, up, place.rows);
        for (int i = 0; i < heads; i++) {
            int head = place.rank + i * BLOCKS;
            clear_columns(words.mixed + row * e.hidden + head * HEAD, e.hidden, HEAD, place.rows);
            if (e.keys <= TILE) continue;
            for (int part = 0; part < 2; part++) clear_columns(words.handed + ((head * 2 + part) * static_cast<i64>(e.rows) + row) * HEAD, HEAD, HEAD, place.rows);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) announce(e.counters);
}

__device__ __forceinline__ Segment segment_of(const T* weights, const Cut& cut, int groups, int item) {
    int full = cut.batches * cut.rounds, pieces = cut.chunks * NARROW, warps = groups * cut.splits;
    Segment s;
    s.from = weights + static_cast<i64>(item) * warps * full * pieces * PIECE;
    s.full = static_cast<u16>(full);
    s.empty = static_cast<u16>(full % 2);
    s.pieces = static_cast<u16>(pieces);
    s.warps = static_cast<u16>(warps);
    return s;
}

// Says for all layers what a block reads one behind the other.
__device__ __forceinline__ void list_segments(const Encoder& e, const Place& place, int heads, Segment* segments) {
    int each = heads + 3;
#pragma unroll 1
    for (int i = threadIdx.x; i < each * e.layers; i += MEMBERS) {
        int at = i % each;
        const Layer& l = e.at[i / each];
        segments[i] = at < heads        ? segment_of(l.qkv, e.qkv, GROUPS, place.rank + at * BLOCKS)
                      : at == heads     ? segment_of(l.out, e.out, 1, place.rank)
                      : at == heads + 1 ? segment_of(l.up, e.up, GROUPS, place.rank)
                                        : segment_of(l.down, e.down, 1, place.rank);
    }
}
#endif

extern "C" __global__ void __launch_bounds__(MEMBERS, 1) TENON_NAME(layers)(Encoder const __grid_constant__ e) {
#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
    TENON_DYNAMIC_SHARED(u8, dynamic);
    T* own = reinterpret_cast<T*>(dynamic + e.own);
    float* cells = reinterpret_cast<float*>(dynamic + e.cells);
    float* sums = reinterpret_cast<float*>(dynamic + e.sums);  // cells of the products of words: others may still read these
    float* masks = reinterpret_cast<float*>(dynamic + e.masks);
    Layer* layers = reinterpret_cast<Layer*>(dynamic + e.layers_at);
    Segment* segments = reinterpret_cast<Segment*>(dynamic + e.segments);
    int heads = heads_of(e, Place(e, dynamic).rank);
    list_segments(e, Place(e, dynamic), heads, segments);
    constexpr int WORDS = sizeof(Layer) / 16;
    for (int i = threadIdx.x; i < e.layers * WORDS; i += MEMBERS) reinterpret_cast<uint4*>(layers)[i] = reinterpret_cast<const uint4*>(e.at)[i];
    __syncthreads();
    Weights weights;
    weights.stream.start(segments, e.layers * (heads + 3));
    weights.refill();
    Pieces pieces(e, Place(e, dynamic), heads);
    pieces.fetch(layers[0], reinterpret_cast<T*>(dynamic + e.vectors));
    await_predecessor();
    clear_words(e, Place(e, dynamic), heads);
    norm_tile(e, Place(e, dynamic), {e.x, e.before_scale, e.before_shift, e.before_epsilon, false, nullptr});
    copy_async_wait<0>();
    __syncthreads();
    const T* shown = nullptr;  // the masks that are there
    bool masked = false;
    auto laid = [&] {
        int lane = opaque(threadIdx.x) % 32, wide = wide_row(e.hidden);
        return Laid{reinterpret_cast<const T*>(dynamic) + lane / 4 * wide + lane % 4 * V, wide};
    };
    // What is easy to work out is worked out anew in each part of a layer: registers are for weights.
    auto place = [&] { return Place(e, dynamic); };
    auto words = [&](int layer) { return Words(e, opaque(layer)); };
    auto beside = [&](int layer) { return Vectors(e, reinterpret_cast<const T*>(dynamic + e.vectors) + opaque(layer) % 2 * e.each_vectors); };
#pragma unroll 1
    for (int number = 0; number < e.layers; number++) {
        const Layer& layer = layers[number];
        if (number < e.layers - 1) pieces.fetch(layers[number + 1], reinterpret_cast<T*>(dynamic + e.vectors) + (number + 1) % 2 * e.each_vectors);
#pragma unroll 1
        for (int i = 0; i < heads; i++) {
            multiply_rows(laid(), e.qkv, GROUPS, cells, weights);
            __syncthreads();
            int head = place().rank + i * BLOCKS, start = place().first / e.keys;  // the tile's sequence
            int line = (e.keys + KEYS - 1) / KEYS * KEYS;                          // masks of a query
            T* handed = e.keys > TILE ? words(number).handed + static_cast<i64>(head) * 2 * e.rows * HEAD : nullptr;
            finish_heads(e, place(), cells, beside(number).qkv_bias + i * 3 * HEAD, own, handed);
            const T* mask = first_mask(layer, e, start, head);
            if (!masked || mask != shown) load_masks(masks, mask, layer.mask_dims, e.keys, line, place().first - start * e.keys);
            masked = true;
            shown = mask;
            __syncthreads();
            if (number == 0) meet_all(e);
            int lane = opaque(threadIdx.x) % 32;
            Tile tile = {own, masks, handed == nullptr ? nullptr : handed + static_cast<i64>(start) * e.keys * HEAD, static_cast<i64>(e.rows) * HEAD,
                         words(number).mixed + static_cast<i64>(place().first) * e.hidden + head * HEAD, e.hidden, place().rows, e.keys, layer.mask_dims & 4 ? line : 0,
                         (layer.mask_dims & 16) != 0, layer.factor, lane / 4, lane % 4};
            attend_tile(tile, cells);
            weights.refill();
            if (heads > 1) __syncthreads();
        }
        if (number == 0 && heads == 0) meet_all(e);
        multiply_rows(Handed(words(number).mixed, e.hidden, place()), e.out, 1, sums, weights);
        __syncthreads();
        finish_sums(e, place(), sums, e.out.splits, beside(number).out_bias, words(number).first);
        weights.refill();
        __syncthreads();
        norm_tile(e, place(), {words(number).first, beside(number).first_scale, beside(number).first_shift, layer.first_epsilon, true, nullptr});
        __syncthreads();
        multiply_rows(laid(), e.up, GROUPS, cells, weights);
        __syncthreads();
        finish_up(layer, e, place(), cells, beside(number).up_bias, words(number).middle);
        weights.refill();
        multiply_rows(Handed(words(number).middle, e.inner, place()), e.down, 1, sums, weights);
        __syncthreads();
        finish_sums(e, place(), sums, e.down.splits, beside(number).down_bias, words(number).second);
        weights.refill();
        __syncthreads();
        void* y = number == e.layers - 1 ? e.y : nullptr;
        norm_tile(e, place(), {words(number).second, beside(number).second_scale, beside(number).second_shift, layer.second_epsilon, true, y});
        copy_async_wait<0>();
        __syncthreads();
    }
    if (threadIdx.x == 0 && atomicAdd(e.counters + 1, 1u) == gridDim.x - 1) {  // the last block leaves them as they were
        e.counters[0] = 0;
        e.counters[1] = 0;
    }
#endif
}
TENON_ENTRY(layers)
