// The main loop of products of warpgroups: ROWS rows of a times COLUMNS columns of b, whose parts of 128 bytes of k pass through a ring in shared
// memory. One thread fetches; each warpgroup multiplies 64 rows. Of float, operands are TF32, and b lies along k. (Blocks of a cluster
// that fetch together gain 1 to 4 % on an H200 where they make the same rows, and nothing where the same columns.)
#pragma once
#include "wgmma.cuh"

#if __CUDA_ARCH_FEAT_SM90_ALL
template <typename T, int COLUMNS, int STAGES, bool ALONG_B, int ROWS = 128>
struct ProductRing {
    static constexpr int GROUP = 128;  // threads of a warpgroup
    static constexpr int LINE = 128;   // bytes of k, per step
    static constexpr int DEPTH = LINE / sizeof(T);
    static constexpr int LEFT = ROWS * LINE;
    static constexpr int RIGHT = COLUMNS * LINE;
    static constexpr int STAGE = LEFT + RIGHT;
    static constexpr int ATOM = 64 * LINE;  // of 64 columns of b, or 64 rows of a
    static constexpr int TURN = 4;          // numbers of two barriers of the block

    using Place = RingPlace<STAGES>;

    u32 ring;      // on a boundary of 1024
    u32 barriers;  // 2 STAGES

    __device__ __forceinline__ u32 full(u32 stage) const { return barriers + 8 * stage; }
    __device__ __forceinline__ u32 free(u32 stage) const { return barriers + 8 * (STAGES + stage); }

    // By one thread.
    __device__ __forceinline__ void start() const {
        for (int i = 0; i < STAGES; i++) {
            start_barrier(full(i), 1);
            start_barrier(free(i), ROWS / 64);
        }
    }

    // Where a stage may be written.
    __device__ __forceinline__ void await_free(const Place& place) const { await_phase(free(place.stage), place.parity ^ 1); }

    // A warpgroup has read a stage.
    __device__ __forceinline__ void release(u32 stage) const {
        if (static_cast<int>(threadIdx.x) % GROUP == 0) arrive(free(stage));
    }

    // Fetches the parts of a and b at one step; BOX: columns of a box of b.
    template <int BOX>
    __device__ __forceinline__ void fetch(const TensorMap& left, const TensorMap& right, int step, int row0, int column0, Place& place) const {
        static_assert(COLUMNS % BOX == 0, "boxes fill the stage");
        await_free(place);
        u32 barrier = full(place.stage);
        u32 to = ring + place.stage * STAGE;
        expect_bytes(barrier, STAGE);
        copy_box(to, left, step * DEPTH, row0, barrier);
#pragma unroll
        for (int column = 0; column < COLUMNS; column += BOX) {
            int x = ALONG_B ? step * DEPTH : column0 + column;
            int y = ALONG_B ? column0 + column : step * DEPTH;
            copy_box(to + LEFT + column * LINE, right, x, y, barrier);
        }
        place.next();
    }

    // Descriptors differ in their first word alone: units of 16 bytes may be added to it. In a cluster an address has the block's number in its
    // upper bits, where a descriptor has the distance of atoms.
    static __device__ __forceinline__ u64 operand(u32 address) {
        return static_cast<u64>(1024u >> 4 | 1u << 30) << 32 | static_cast<u32>(ATOM >> 4) << 16 | (address & 0x3ffff) >> 4;
    }

    // Where two warpgroups take turns: before the first products and behind the last, of as many steps each.
    __device__ __forceinline__ void start_turns(int own) const {
        if (own == 1) pass_by(TURN, 2 * GROUP);
    }
    __device__ __forceinline__ void end_turns(int own) const {
        if (own == 0) meet_at(TURN, 2 * GROUP);
    }

    // Begins the products of a step, once its operands are there; `own`: the warpgroup's number, 0 or 1. With TURNS it does so when the other has begun
    // those before.
    template <bool FIRST, bool TURNS = false>
    __device__ __forceinline__ void multiply(float (&sums)[COLUMNS / 8][4], const Place& place, int own) const {
        await_phase(full(place.stage), place.parity);
        u32 a = ring + place.stage * STAGE + own * ATOM;
        u32 b = ring + place.stage * STAGE + LEFT;
        if (TURNS) meet_at(TURN + own, 2 * GROUP);
        begin_products();
#pragma unroll
        for (int k = 0; k < LINE; k += 32) {
            u64 left = operand(a + k);
            u64 right = operand(b + (ALONG_B ? k : k / 2 * LINE));
            if (FIRST && k == 0) {
                fresh_warpgroup_product<ALONG_B>(sums, left, right, T());
            } else {
                warpgroup_product<true, ALONG_B>(sums, left, right, T());
            }
        }
        end_products();
        if (TURNS) pass_by(TURN + 1 - own, 2 * GROUP);
    }

    // Waits for the products before the last, whose operands may be fetched anew then.
    __device__ __forceinline__ void pass_on(Place& place, u32& before) const {
        await_products<1>();
        release(before);
        before = place.stage;
        place.next();
    }

    // Waits for all products.
    __device__ __forceinline__ void finish(u32 before) const {
        await_products<0>();
        release(before);
    }
};
#endif
