// The order between streams: for each 64 bytes of device memory, the work that wrote them last and the work that read them since. Work that
// another stream's access need not come after is a race, whatever the host's threads made of it this time.
#pragma once
#include <cstdint>

#include "shared.h"

// A piece of work: its stream, its number in the stream, and of each stream how many pieces of work it comes after.
struct Order {
    uint32_t stream, streams;
    uint64_t number;
    const uint64_t* known;
};

// Whether any launch so far had an order: then accesses are looked at.
extern bool order_checked;

// Makes the records; false when the host has no room for them.
bool begin_order();
// Notes an access to live device memory. Returns 0, or the access that it races with, for `other_stream` and `other_number`.
uint64_t note_order(uint64_t address, uint64_t bytes, Access access, const Order& order);
inline uint32_t other_stream(uint64_t race) { return static_cast<uint32_t>(race >> 48 & 0x7fff); }
inline uint64_t other_number(uint64_t race) { return race & 0xffffffffffffull; }
// Forgets what is known of pages of device memory.
void forget_order(uint64_t address, uint64_t bytes);

// The same for the launch that the calling thread runs, if it has an order; fails for a race.
void check_order(uint64_t address, uint64_t bytes, Access access, const void* caller);
