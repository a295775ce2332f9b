// The operands of a tile of a matrix product on tensor cores (mma_tile.cuh): how they pass through shared memory, and registers of them.
//
// An operand lies along k (its rows are those of the result) or across it. Its tile has lines of 16-byte chunks: along k a line is a row of
// the operand, else a line is one k. Chunks of a line are swapped (`place`) so that neither ldmatrix nor the copies meet in a bank.
#pragma once
#include "pack.cuh"

constexpr int STEP_BYTES = 128;  // of k

// One operand's tiles, as a thread copies its part of them and reads registers for multiplications from them. PACKED where lines in memory are
// whole chunks on 16-byte boundaries, else the caller says it of each operand.
template <typename T, bool ALONG_K, int OUTER, int THREADS, bool PACKED>
struct MmaOperand {
    static constexpr int PACK = Widest<T>::value;
    static constexpr int STEP = STEP_BYTES / static_cast<int>(sizeof(T));
    static constexpr int LINES = ALONG_K ? OUTER : STEP;
    static constexpr int CHUNKS = (ALONG_K ? STEP : OUTER) / PACK;
    static constexpr int LINES_AT_ONCE = THREADS / CHUNKS;
    static constexpr int COPIES = LINES / LINES_AT_ONCE;
    static constexpr int SIZE = LINES * CHUNKS;  // in chunks
    static constexpr bool SINGLE = sizeof(T) == 4 && !ALONG_K;  // elements are read one by one
    static constexpr int LINE = SINGLE || CHUNKS < 8 ? CHUNKS : 8;  // chunks of a line that lie together
    static_assert(LINES_AT_ONCE % (SINGLE ? 4 : 8) == 0 && LINES % LINES_AT_ONCE == 0, "copies of a thread are swapped alike");

    // Where a chunk of a line lies. Lines of more than 8 chunks come in columns of 8, as the tensor cores of sm_90a take them. Eight
    // neighbouring lines of one chunk differ in their banks; of floats across k, which are read one by one, two neighbouring chunks of four
    // lines. The lines of one thread's copies, and those 16 apart, are swapped alike.
    static __device__ __forceinline__ int place(int line, int chunk) {
        int swap = CHUNKS >= 8 ? line % 8 : line * CHUNKS / 8 % CHUNKS;
        if (SINGLE) swap = CHUNKS >= 8 ? line % 4 * 2 : line / 2 % 2 * 2;
        return chunk / LINE * (LINES * LINE) + line * LINE + (chunk % LINE ^ swap);
    }

    // Where the 16 rows at row + 16 i and the depth at k lie: base is place() of row and of the first k; k is whole pairs of chunks.
    static __device__ __forceinline__ int place_at(int base, int i, int k) {
        return ALONG_K ? (base ^ k / PACK) + i * 16 * CHUNKS : (base ^ i * (16 / PACK)) + k * LINE;
    }

    const T* source;   // this thread's next chunk
    i64 lines_length;  // elements from one of its chunks to the next
    int lines_left;    // of the tile from the thread's first on; along k
    int chunks_left;   // elements of the line from the thread's chunk on; across k
    i64 k_left;        // from the next step on
    int target;        // place of the thread's first chunk
    bool whole;        // unless PACKED

    __device__ __forceinline__ void start(const T* matrix, i64 outer, i64 k, i64 outer0, i64 k0, i64 k_end, bool packed) {
        int line = threadIdx.x / CHUNKS;
        int at = threadIdx.x % CHUNKS * PACK;
        i64 length = ALONG_K ? k : outer;
        int outer_left = static_cast<int>(outer - outer0 < OUTER ? outer - outer0 : OUTER);
        lines_length = LINES_AT_ONCE * length;
        source = matrix + (ALONG_K ? (outer0 + line) * k + k0 + at : (k0 + line) * outer + outer0 + at);
        lines_left = outer_left - line;
        chunks_left = outer_left - at;
        k_left = k_end - k0;
        target = place(line, threadIdx.x % CHUNKS);
        whole = packed;
    }

    // Copies one of PARTS parts of the next step; what lies beyond the matrix, or the last step, is 0.
    template <int PARTS>
    __device__ __forceinline__ void fetch(uint4* tile, int part) {
        constexpr int EACH = (COPIES + PARTS - 1) / PARTS;
        int left = static_cast<int>(k_left < STEP ? k_left : STEP);
        int lines = ALONG_K ? lines_left : left - static_cast<int>(threadIdx.x / CHUNKS);
        int elements = ALONG_K ? left - static_cast<int>(threadIdx.x % CHUNKS * PACK) : chunks_left;
        if (PACKED || whole) {
#pragma unroll
            for (int i = part * EACH; i < (part + 1) * EACH && i < COPIES; i++) {
                copy_async_16_if(tile + target + i * LINES_AT_ONCE * LINE, source, i * LINES_AT_ONCE < lines && elements > 0);
                source += lines_length;
            }
        } else if (part == 0) {
#pragma unroll 1
            for (int i = 0; i < COPIES; i++) {
                Pack<T, PACK> pack;
#pragma unroll
                for (int e = 0; e < PACK; e++) pack.at[e] = i * LINES_AT_ONCE < lines && e < elements ? source[e] : From<T>::of(0.0f);
                *reinterpret_cast<Pack<T, PACK>*>(tile + target + i * LINES_AT_ONCE * LINE) = pack;
                source += lines_length;
            }
        }
        if (part == PARTS - 1) {
            if (ALONG_K) source += STEP - COPIES * lines_length;
            k_left -= STEP;
        }
    }
};

// Registers of operands for one multiplication, K of k deep: of the left for 16 rows, of the right for 16 columns. `base` is that of
// place_at, for the lane.
template <typename T>
struct MmaFragments {
    static constexpr int K = 16;

    template <typename Operand, bool ALONG_K>
    static __device__ __forceinline__ int left_base(int row, int lane) {
        return ALONG_K ? Operand::place(row + lane % 16, lane / 16) : Operand::place(lane % 8 + lane / 16 * 8, row / Operand::PACK + lane / 8 % 2);
    }

    template <typename Operand, bool ALONG_K>
    static __device__ __forceinline__ int right_base(int column, int lane) {
        return ALONG_K ? Operand::place(column + lane % 8 + lane / 16 * 8, lane / 8 % 2) : Operand::place(lane % 16, column / Operand::PACK + lane / 16);
    }

    template <typename Operand, bool ALONG_K, bool LEFT>
    static __device__ __forceinline__ void load(u32 (&r)[4], const uint4* tile, int base, int i, int k) {
        const uint4* at = tile + Operand::place_at(base, i, k);
        if (ALONG_K) {
            load_matrix_x4(r, at);
        } else {
            load_matrix_x4_transposed(r, at);
        }
    }

    static __device__ __forceinline__ void multiply(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) { mma_16816(d, a, b, T()); }
};

#if __CUDA_ARCH__ >= 800 || TENON_EMULATED
// A chunk is 4 floats, which ldmatrix takes for 8 halves.
template <>
struct MmaFragments<float> {
    static constexpr int K = 8;

    template <typename Operand, bool ALONG_K>
    static __device__ __forceinline__ int left_base(int row, int lane) {
        return ALONG_K ? Operand::place(row + lane % 16, lane / 16) : single<Operand>(row, lane);
    }

    template <typename Operand, bool ALONG_K>
    static __device__ __forceinline__ int right_base(int column, int lane) {
        return ALONG_K ? Operand::place(column + lane % 8 + lane / 16 * 8, lane / 8 % 2) : single<Operand>(column, lane);
    }

    // A lane reads the element lane / 4 of the row or column, at depth lane % 4.
    template <typename Operand>
    static __device__ __forceinline__ int single(int outer, int lane) {
        return Operand::place(lane % 4, outer / 4 + lane / 16);
    }

    template <typename Operand, bool ALONG_K, bool LEFT>
    static __device__ __forceinline__ void load(u32 (&r)[4], const uint4* tile, int base, int i, int k) {
        if (ALONG_K) {
            load_matrix_x4(r, tile + Operand::place_at(base, i, k));
        } else {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                // the left has the other 8 rows before the other 4 of k, the right after them
                int farther = LEFT ? e % 2 : e / 2;
                int deeper = LEFT ? e / 2 : e % 2;
                const uint4* at = tile + Operand::place_at(base ^ farther * 2, i, k + deeper * 4);
                r[e] = reinterpret_cast<const u32*>(at)[threadIdx.x / 4 % 4];
            }
        }
#if !TENON_MMA_ROUNDS
#pragma unroll
        for (int e = 0; e < 4; e++) r[e] = __float_as_uint(to_tf32(__uint_as_float(r[e])));
#endif
    }

    static __device__ __forceinline__ void multiply(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) { mma_1688_tf32(d, a, b); }
};
#endif
