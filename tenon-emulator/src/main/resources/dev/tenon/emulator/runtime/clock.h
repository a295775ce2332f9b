// When things happened to shared memory. Time goes on at barriers; a warp's own time at its __syncwarp too.
#pragma once
#include <cstdint>

struct Clock {
    // A stamp: time, thread of the block, two flags.
    static constexpr uint32_t latest = (1u << 20) - 1;
    static constexpr uint32_t flag_a = 1, flag_b = 2;

    uint32_t now = 1;
    uint32_t start = 1;    // of the block: what is older is another block's
    uint32_t barrier = 1;  // the last one: what is older is ordered for all
    uint32_t warps[32] = {};

    static uint32_t time(uint32_t stamp) { return stamp >> 12; }
    static uint32_t thread(uint32_t stamp) { return stamp >> 2 & 1023; }
    uint32_t stamp(uint32_t thread, uint32_t flags) const { return warps[thread >> 5] << 12 | thread << 2 | flags; }

    // Whether nothing orders the stamped access before one that `thread` makes now.
    bool concurrent(uint32_t stamp, uint32_t by) const {
        if (time(stamp) < barrier || thread(stamp) == by) {
            return false;
        }
        return thread(stamp) >> 5 != by >> 5 || time(stamp) >= warps[by >> 5];
    }

    void begin_block() {
        now++;
        start = barrier = now;
        for (uint32_t& warp : warps) {
            warp = now;
        }
    }
    void at_barrier() {
        now++;
        barrier = now;
        for (uint32_t& warp : warps) {
            warp = now;
        }
    }
    void at_warp(uint32_t warp) { warps[warp] = ++now; }
    bool full() const { return now >= latest - 2; }
};
