// Collectives of a warp: each lane posts its argument; the last lane of the mask to come computes for all.
#include <cstring>

#include "worker.h"

Lane& Block::collective(Combine combine, const Lane& mine, uint32_t mask, int at_line, const char* at_file) {
    Thread& thread = *current_worker->thread;
    uint32_t warp = thread.index >> 5, lane = thread.index & 31;
    Warp& state = warps[warp];
    thread.line = at_line;
    thread.file = at_file;
    if ((mask >> lane & 1) == 0) [[unlikely]] {
        fail_at(at_line, at_file, "divergent warp collective: lane %u calls with mask 0x%08x, which leaves it out", lane, mask);
    }
    thread.combine = combine;
    thread.mask = mask;
    state.lanes[lane] = mine;
    state.waiting |= 1u << lane;
    uint32_t needed = mask & ~state.gone;
    if ((state.waiting & needed) != needed || !try_collective(warp, lane)) {
        suspend(thread, State::Collective);
    }
    return state.lanes[lane];
}

// Whether all lanes that the lane waits for are there; then computes and wakes them, all but the caller.
bool Block::try_collective(uint32_t warp, uint32_t lane) {
    Warp& state = warps[warp];
    const Thread& first = threads[warp * 32 + lane];
    uint32_t needed = first.mask & ~state.gone;
    if ((state.waiting & needed) != needed) {
        return false;
    }
    for (uint32_t left = needed; left != 0; left &= left - 1) {
        uint32_t i = static_cast<uint32_t>(__builtin_ctz(left));
        const Thread& other = threads[warp * 32 + i];
        if (other.combine == first.combine && other.mask == first.mask && other.line == first.line) [[likely]] {
            continue;
        }
        if ((other.mask >> lane & 1) == 0) {
            return false;  // it takes part in something else first
        } else {
            fail_at(first.line, first.file, "divergent warp collective: lane %u waits with mask 0x%08x, lane %u at %s:%d with mask 0x%08x", lane, first.mask, i,
                    other.file, other.line, other.mask);
        }
    }
    const Thread* caller = current_worker->thread;
    first.combine(state.lanes, needed);
    state.waiting &= ~needed;
    // A warp goes on before others do, so that few stacks are in use at a time and stay in the cache.
    for (uint32_t left = needed; left != 0;) {
        uint32_t i = 31 - static_cast<uint32_t>(__builtin_clz(left));
        left ^= 1u << i;
        Thread& other = threads[warp * 32 + i];
        if (&other != caller) {
            other.state = State::Ready;
            ready.push_first(other.index);
        }
    }
    current_worker->advance();
    return true;
}

// The lanes of the warp that stand together: it is answered when nothing else can go on.
uint32_t Block::active_mask(int at_line, const char* at_file) {
    Thread& thread = *current_worker->thread;
    thread.line = at_line;
    thread.file = at_file;
    suspend(thread, State::ActiveMask);
    return thread.mask;
}

bool Block::resolve_active_mask() {
    for (uint32_t i = 0; i < count; i++) {
        const Thread& first = threads[i];
        if (first.state != State::ActiveMask) {
            continue;
        }
        uint32_t end = (i | 31) + 1 < count ? (i | 31) + 1 : count;
        uint32_t mask = 0;
        for (uint32_t j = i; j < end; j++) {
            if (threads[j].state == State::ActiveMask && threads[j].line == first.line) {
                mask |= 1u << (j & 31);
            }
        }
        uint32_t warp = i & ~31u;
        for (uint32_t left = mask; left != 0; left &= left - 1) {
            Thread& thread = threads[warp + static_cast<uint32_t>(__builtin_ctz(left))];
            thread.mask = mask;
            make_ready(thread);
        }
        return true;
    }
    return false;
}

namespace {
// Which lane each mode reads.
int source(int mode, int lane, int by, int width) {
    int segment = -width & 31;
    int low = lane & segment, high = low | (31 & ~segment);
    switch (mode) {
        case 0: return low | (by & ~segment);
        case 1: return lane - by >= low ? lane - by : lane;
        case 2: return lane + by <= high ? lane + by : lane;
        default: return (lane ^ by) <= high ? lane ^ by : lane;
    }
}

template <int mode>
void shuffle(Lane lanes[32], uint32_t present) {
    for (uint32_t left = present; left != 0; left &= left - 1) {
        int lane = __builtin_ctz(left);
        Lane& mine = lanes[lane];
        int from = source(mode, lane, mine.selector & 31, mine.width);
        if ((present >> from & 1) == 0) [[unlikely]] {
            Thread* caller = current_worker->thread;
            fail_at(caller->line, caller->file, "shuffle: lane %d reads lane %d, which takes no part (not in the mask, ended, or beyond the block)", lane, from);
        }
        mine.result = lanes[from].value;
    }
}

constexpr Combine shuffles[] = {shuffle<0>, shuffle<1>, shuffle<2>, shuffle<3>};

template <typename F>
void each(uint32_t present, F f) {
    for (; present != 0; present &= present - 1) {
        f(__builtin_ctz(present));
    }
}

uint32_t ballot_of(Lane lanes[32], uint32_t present) {
    uint32_t ballot = 0;
    each(present, [&](int i) { ballot |= static_cast<uint32_t>(lanes[i].value != 0) << i; });
    return ballot;
}

void give_all(Lane lanes[32], uint32_t present, uint32_t result) {
    each(present, [&](int i) { lanes[i].result = result; });
}

void ballot(Lane lanes[32], uint32_t present) { give_all(lanes, present, ballot_of(lanes, present)); }
void any(Lane lanes[32], uint32_t present) { give_all(lanes, present, ballot_of(lanes, present) != 0); }
void all(Lane lanes[32], uint32_t present) { give_all(lanes, present, ballot_of(lanes, present) == present); }

void match_any(Lane lanes[32], uint32_t present) {
    each(present, [&](int i) {
        Lane& mine = lanes[i];
        mine.result = 0;
        each(present, [&](int j) { mine.result |= static_cast<uint32_t>(lanes[j].value == mine.value) << j; });
    });
}

void match_all(Lane lanes[32], uint32_t present) {
    uint64_t value = lanes[__builtin_ctz(present)].value;
    bool same = true;
    each(present, [&](int i) { same = same && lanes[i].value == value; });
    give_all(lanes, present, same ? present : 0);
}

void sync(Lane*, uint32_t) {
    Block& block = *current_worker->block;
    if (block.shared.checked()) {
        block.shared.renew();
        block.shared.clock.at_warp(current_worker->thread->index >> 5);
    }
}

constexpr Combine votes[] = {ballot, any, all, match_any, match_all, sync};

template <int mode, bool is_signed>
void reduce(Lane lanes[32], uint32_t present) {
    uint32_t sum = static_cast<uint32_t>(lanes[__builtin_ctz(present)].value);
    each(present & (present - 1), [&](int i) {
        uint32_t v = static_cast<uint32_t>(lanes[i].value);
        bool less = is_signed ? static_cast<int32_t>(v) < static_cast<int32_t>(sum) : v < sum;
        switch (mode) {
            case 0: sum += v; break;
            case 1: sum = less ? v : sum; break;
            case 2: sum = less ? sum : v; break;
            case 3: sum &= v; break;
            case 4: sum |= v; break;
            default: sum ^= v; break;
        }
    });
    give_all(lanes, present, sum);
}

constexpr Combine reductions[6][2] = {{reduce<0, false>, reduce<0, true>}, {reduce<1, false>, reduce<1, true>}, {reduce<2, false>, reduce<2, true>},
                                      {reduce<3, false>, reduce<3, true>}, {reduce<4, false>, reduce<4, true>}, {reduce<5, false>, reduce<5, true>}};
}  // namespace

extern "C" unsigned long long tenon_shuffle(int mode, unsigned int mask, unsigned long long value, int selector, int width, int line, const char* file) {
    if (width < 1 || width > 32 || (width & (width - 1)) != 0) {
        fail_at(line, file, "shuffle: width %d is not a power of two of at most 32", width);
    }
    return current_worker->block->collective(shuffles[mode], {value, 0, selector, width}, mask, line, file).result;
}

extern "C" unsigned int tenon_vote(int mode, unsigned int mask, unsigned long long value, int line, const char* file) {
    if (mode == 6) {
        return current_worker->block->active_mask(line, file);
    }
    return static_cast<uint32_t>(current_worker->block->collective(votes[mode], {value, 0, 0, 0}, mask, line, file).result);
}

extern "C" unsigned int tenon_reduce(int mode, int is_signed, unsigned int mask, unsigned int value, int line, const char* file) {
    Combine combine = reductions[mode][is_signed != 0];
    return static_cast<uint32_t>(current_worker->block->collective(combine, {value, 0, 0, 0}, mask, line, file).result);
}
