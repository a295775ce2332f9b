// What blocks of conv_few_channels_mma.cu bring into shared memory: cells as they lie in lines, weights as fragments, and the table of pairs.
#pragma once
#include "few_channels.cuh"

typedef TENON_T T;

constexpr int THREADS = 128;
constexpr int SIDE = 32;     // output channels of 4 products
constexpr int STEP = 8;      // words of k

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED

// What a type's words are: pairs of elements in 16 bits.
template <typename E>
struct Lanes {
    static constexpr int EACH = 2;  // elements of a word
    typedef u16 Cell;               // an element's bits

    static __device__ __forceinline__ u32 bits(E v) { return v.bits; }
    static __device__ __forceinline__ float low(u32 two) { return to_compute(E{static_cast<u16>(two)}); }
    static __device__ __forceinline__ float high(u32 two) { return to_compute(E{static_cast<u16>(two >> 16)}); }
    // As a product takes it.
    static __device__ __forceinline__ u32 operand(u32 word) { return word; }
    static __device__ __forceinline__ void multiply(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) { mma_16816(d, a, b, E()); }

    static __device__ __forceinline__ void load_two(const E* p, float& a, float& b) {
        const u32 two = *reinterpret_cast<const u32*>(p);
        a = low(two);
        b = high(two);
    }
    static __device__ __forceinline__ void store_two(E* p, float a, float b) { *reinterpret_cast<u32*>(p) = to_pair(a, b, E()); }
    static __device__ __forceinline__ void load_eight(const E* p, float (&v)[OUTPUTS]) {
        const uint4 all = *reinterpret_cast<const uint4*>(p);
        const u32 two[4] = {all.x, all.y, all.z, all.w};
#pragma unroll
        for (int o = 0; o < OUTPUTS; o++) v[o] = o % 2 == 0 ? low(two[o / 2]) : high(two[o / 2]);
    }
    static __device__ __forceinline__ void store_eight(E* p, const float (&v)[OUTPUTS]) {
        u32 two[4];
#pragma unroll
        for (int o = 0; o < OUTPUTS; o += 2) two[o / 2] = to_pair(v[o], v[o + 1], E());
        store_16(p, two);
    }
};

// Elements of f32, which are multiplied in TF32.
template <>
struct Lanes<float> {
    static constexpr int EACH = 1;
    typedef u32 Cell;

    static __device__ __forceinline__ u32 bits(float v) { return __float_as_uint(v); }
    static __device__ __forceinline__ u32 operand(u32 word) { return __float_as_uint(to_tf32(__uint_as_float(word))); }
    static __device__ __forceinline__ void multiply(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) { mma_1688_tf32(d, a, b); }

    static __device__ __forceinline__ void load_two(const float* p, float& a, float& b) {
        const float2 two = *reinterpret_cast<const float2*>(p);
        a = two.x;
        b = two.y;
    }
    static __device__ __forceinline__ void store_two(float* p, float a, float b) { *reinterpret_cast<float2*>(p) = make_float2(a, b); }
    static __device__ __forceinline__ void load_eight(const float* p, float (&v)[OUTPUTS]) {
#pragma unroll
        for (int o = 0; o < OUTPUTS; o += 4) {
            const float4 four = *reinterpret_cast<const float4*>(p + o);
            v[o] = four.x;
            v[o + 1] = four.y;
            v[o + 2] = four.z;
            v[o + 3] = four.w;
        }
    }
    static __device__ __forceinline__ void store_eight(float* p, const float (&v)[OUTPUTS]) {
#pragma unroll
        for (int o = 0; o < OUTPUTS; o += 4) {
            const u32 four[4] = {bits(v[o]), bits(v[o + 1]), bits(v[o + 2]), bits(v[o + 3])};
            store_16(p + o, four);
        }
    }
};

typedef Lanes<T> L;
typedef L::Cell Cell;
constexpr int EACH = L::EACH;
constexpr int CHUNK = 16 / static_cast<int>(sizeof(T));  // elements of 16 bytes

// a / b of numbers below 2^22, b not 0, in few instructions.
__device__ __forceinline__ int quotient(int a, int b) {
    int q = static_cast<int>(static_cast<float>(a) * fast_reciprocal(static_cast<float>(b)));
    const int rest = a - q * b;
    if (rest < 0) q--;
    if (rest >= b) q++;
    return q;
}

// Where cells and words lie in shared memory.
struct Layout {
    int sides;   // of the block
    int across;  // elements of a window in a line
    int odd;     // 1 where a line's first pair has one element alone, its second
    int words;   // of a window in a line
    int steps;
    int line;    // elements from a line of cells to the next, whole words
    int start;   // from the first line to its first word
    int copy;    // from the cells to their copy; 0 for none

    __device__ __forceinline__ Layout(const FewChannelsSizes& s, const PositionTile& tile, int lead, int each) {
        sides = static_cast<int>(s.shares) * each;
        const int channels = static_cast<int>(s.channels);
        const int length = tile.wide * channels;
        const bool chunks = lead >= 0;
        across = static_cast<int>(s.kernel[1]) * channels;
        odd = chunks ? lead % EACH : 0;
        words = (across + odd + EACH - 1) / EACH;
        steps = (words * static_cast<int>(s.kernel[0]) + STEP - 1) / STEP;
        line = chunks ? (lead + length + CHUNK - 1) & -CHUNK : (length + EACH - 1) & -EACH;
        start = chunks ? lead & -EACH : 0;
        copy = chunks || static_cast<int>(s.stride[1]) * channels % EACH == 0 ? 0 : tile.high * line + 2;
    }

    __device__ __forceinline__ uint2* table(uint4* shared) const { return reinterpret_cast<uint2*>(shared + sides * steps * 64); }
    __device__ __forceinline__ Cell* cells(uint4* shared) const { return reinterpret_cast<Cell*>(table(shared) + steps * STEP); }

    // Zeros that stand beside the last pair of a line, and of all lines of the copy.
    __device__ __forceinline__ void pad(Cell* cells, const FewChannelsSizes& s, const PositionTile& tile) const {
        const int length = tile.wide * static_cast<int>(s.channels);
#pragma unroll 1
        for (int i = static_cast<int>(threadIdx.x); i < tile.high && length < line; i += THREADS) cells[i * line + length] = 0;
        if (copy > 0 && threadIdx.x == 0) cells[2 * copy - 1] = 0;
    }
};

// Brings cells into shared memory by chunks, which lie in x or beside it as a whole.
__device__ __forceinline__ void fetch_chunks(Cell* cells, const T* x, const PositionTile& tile, const Layout& lay, const FewChannelsSizes& s, int lead) {
    const int channels = static_cast<int>(s.channels);
    const int each = lay.line / CHUNK;
    const int pitch = static_cast<int>(s.input[1]) * channels / CHUNK;
    const int start = (tile.left(s) * channels - lead) / CHUNK;
    const int top = tile.top(s);
    const int groups = each < THREADS ? quotient(THREADS, each) : 1;
    const int group = each < THREADS ? quotient(static_cast<int>(threadIdx.x), each) : 0;
    const u32 height = static_cast<u32>(s.input[0]);
    if (group >= groups) return;
    const uint4* const image = reinterpret_cast<const uint4*>(x + tile.image * s.x_image);
    const i64 down = static_cast<i64>(groups) * pitch;
    const int next = groups * each;
#pragma unroll 1
    for (int chunk = static_cast<int>(threadIdx.x) - group * each; chunk < each; chunk += THREADS) {
        const bool inside = static_cast<u32>(start + chunk) < static_cast<u32>(pitch);
        const u32 seen = inside ? height : 0u;
        const uint4* from = image + (static_cast<i64>(top + group) * pitch + start + chunk);
        uint4* to = reinterpret_cast<uint4*>(cells) + group * each + chunk;
#pragma unroll 4
        for (int i = group; i < tile.high; i += groups, from += down, to += next) {
            copy_async_16_if(to, from, static_cast<u32>(top + i) < seen);
        }
    }
}

// How a thread brings cells into shared memory otherwise: words of neighbouring elements of a line of x (of one channel where channels are not
// innermost), walking over lines, AT_ONCE of them together. Zeros for cells outside of x.
template <int AT_ONCE>
struct Fetch {
    bool last;     // channels are innermost
    bool words;    // lines of x begin at whole words
    int channels;  // that lie in lines of their own
    int pitch;     // elements of a line of x
    int length;    // elements of a line of the tile
    int start;     // the first of them in x, or the one before where words begin there
    int shift;     // 1 then
    int each;      // words of a line
    int units;     // of all channels
    int groups;    // of threads, on different lines
    int from;      // the first line that lies in x
    int lines;     // that lie in x
    int top;
    int high;
    const T* image;
    // of the thread
    int unit;
    int line;   // of the tile; none is left from `high` on
    int first;  // element of the tile's line: -1 where the word begins before
    int channel;

    __device__ __forceinline__ void begin(const T* x, const PositionTile& tile, const FewChannelsSizes& s) {
        last = s.x_channel == 1;
        const int inner = last ? static_cast<int>(s.channels) : 1;
        channels = last ? 1 : static_cast<int>(s.channels);
        pitch = static_cast<int>(s.input[1]) * inner;
        length = tile.wide * inner;
        start = tile.left(s) * inner;
        words = pitch % EACH == 0;
        shift = words && EACH == 2 ? start & 1 : 0;
        start -= shift;
        each = (length + shift + EACH - 1) / EACH;
        units = each * channels;
        groups = units < THREADS ? quotient(THREADS, units) : 1;
        top = tile.top(s);
        high = tile.high;
        from = top < 0 ? -top : 0;
        const int below = static_cast<int>(s.input[0]) - top;
        lines = (below < high ? below : high) - from;
        if (lines < 0) lines = 0;
        image = x + tile.image * s.x_image;
        line = units < THREADS ? quotient(static_cast<int>(threadIdx.x), units) : 0;
        unit = static_cast<int>(threadIdx.x) - line * units;
        if (line >= groups) line = high;
        aim();
    }

    __device__ __forceinline__ void aim() {
        channel = channels == 1 ? 0 : quotient(unit, each);
        first = EACH * (unit - channel * each) - shift;
    }

    __device__ __forceinline__ bool more() const { return line < high; }

    __device__ __forceinline__ void next() {
        line += AT_ONCE * groups;
        if (line < high || groups > 1 || unit + THREADS >= units) return;
        line = 0;
        unit += THREADS;
        aim();
    }

    __device__ __forceinline__ void ask(u32 (&v)[AT_ONCE], const FewChannelsSizes& s) const {
        const int at = start + shift + first;
        const T* p = image + (static_cast<i64>(top + line) * pitch + channel * s.x_channel + at);
        const i64 step = static_cast<i64>(groups) * pitch;
        const u32 seen = static_cast<u32>(lines);
        if (words) {
            const bool inside = static_cast<u32>(at) < static_cast<u32>(pitch);
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++, p += step) {
                v[k] = inside && static_cast<u32>(line + k * groups - from) < seen ? *reinterpret_cast<const u32*>(p) : 0u;
            }
        } else {
            const bool inside = static_cast<u32>(at) < static_cast<u32>(pitch);
            const bool beside = static_cast<u32>(at + 1) < static_cast<u32>(pitch);
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++, p += step) {
                const bool there = static_cast<u32>(line + k * groups - from) < seen;
                const u32 one = inside && there ? L::bits(p[0]) : 0u;
                const u32 two = beside && there ? L::bits(p[1]) : 0u;
                v[k] = one | two << 16;
            }
        }
    }

    __device__ __forceinline__ void put(const u32 (&v)[AT_ONCE], Cell* cells, const Layout& lay, const FewChannelsSizes& s) const {
        const int apart = last ? 1 : static_cast<int>(s.channels);
        const int step = groups * lay.line;
        const int one = first >= 0 ? high : 0;
        const int two = EACH == 2 && first + 1 < length ? high : 0;
        Cell* begin = cells + line * lay.line + first * apart + channel;
#pragma unroll 1
        for (int copies = lay.copy > 0 ? 2 : 1; copies > 0; copies--, begin += lay.copy + 1) {
            Cell* to = begin;
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++, to += step) {
                if (line + k * groups < one) to[0] = static_cast<Cell>(v[k]);
                if (line + k * groups < two) to[apart] = static_cast<Cell>(v[k] >> 16);
            }
        }
    }
};

// Brings the weights of the output channels from `output0` on into shared memory, a lane's words of a step and side in two pieces of 16 bytes. Lane 4 g + t
// has of product j the words t and t + 4 of the output channel 8 (g / 2) + 2 j + g % 2, so that a lane's sums of a position are those of 8
// neighbouring channels. The table has for each word of k the words from a window's first, and what counts of it.
template <int SIDES>
__device__ __forceinline__ void fetch_weights(uint4* shared, const T* w, const Layout& lay, const FewChannelsSizes& s, int output0) {
    const int all = lay.steps * STEP;
    const int bits = all <= 16 ? 4 : all <= 32 ? 5 : all <= 64 ? 6 : 7;
    const int groups = THREADS >> bits;
    const int group = static_cast<int>(threadIdx.x) >> bits;
    const int channels = static_cast<int>(s.channels);
    const int left = static_cast<int>(s.outputs) - output0;
    const int down = static_cast<int>(s.w_output);
    const int over = static_cast<int>(s.w_cell);
    const int aside = static_cast<int>(s.w_channel);
#pragma unroll 1
    for (int p = static_cast<int>(threadIdx.x) & ((1 << bits) - 1); p < all; p += 1 << bits) {
        const int i = quotient(p, lay.words);
        const int first = EACH * (p - i * lay.words) - lay.odd;
        const bool one = i < s.kernel[0] && first >= 0;
        const bool two = EACH == 2 && i < s.kernel[0] && first + 1 < lay.across;
        if (group == 0) {
            const int at = one || two ? i * static_cast<int>(s.dilation[0]) * lay.line + first + lay.odd : 0;
            lay.table(shared)[p] = make_uint2(static_cast<u32>(at) / EACH, (one ? EACH == 2 ? 0xffffu : ~0u : 0u) | (two ? 0xffff0000u : 0u));
        }
        const int cell = first < 0 ? 0 : quotient(first, channels);
        const int channel = first - cell * channels;  // -1 before the first
        const int begin = (i * static_cast<int>(s.kernel[1]) + cell) * over + channel * aside;
        const int beside = channel + 1 < channels ? aside : over - channel * aside;
        u32* const start = reinterpret_cast<u32*>(shared) + (p / STEP * (SIDES * 64) + p % 4) * 4 + p / 4 % 2;
#pragma unroll 1
        for (int number = 0; number < lay.sides; number++) {
            const int side = number * SIDE;
            u32* const to = start + (number / SIDES * lay.steps * SIDES + number % SIDES) * 256;
#pragma unroll 1
            for (int o = group; o < 8; o += groups) {
                const T* from = w + ((output0 + side + o) * down + begin);
                u32 v[4];
#pragma unroll
                for (int k = 0; k < 4; k++, from += 8 * down) {
                    const bool there = side + o + 8 * k < left;
                    const u32 low = one && there ? L::bits(from[0]) : 0u;
                    const u32 high = two && there ? L::bits(from[beside]) : 0u;
                    v[k] = L::operand(low | high << 16);
                }
                u32* const place = to + (o & 4) * 32 + (o & 2) + (o & 1) * 16;
#pragma unroll
                for (int k = 0; k < 4; k++) place[32 * k] = v[k];
            }
        }
    }
}
#endif
