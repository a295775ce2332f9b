// Device memory: pieces of one reserved range of addresses, each followed by a red zone. A table says for each 256 bytes how many of them
// are in use, so that an access is checked by one look.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

constexpr uint32_t granule_bits = 8;
constexpr uint64_t granule = 1 << granule_bits;

struct DeviceMemory {
    uint64_t base = 0;
    uint64_t size = 0;
    uint16_t* valid = nullptr;  // bytes in use at the start of each granule

    // Whether all of [address, address + bytes) lies in one live piece; bytes > 0.
    bool holds(uint64_t address, uint64_t bytes) const {
        uint64_t from = address - base;
        if (from >= size || bytes > size - from) {
            return false;
        }
        for (uint64_t to = from + bytes; from < to;) {
            uint64_t within = from & (granule - 1);
            uint64_t n = to - from < granule - within ? to - from : granule - within;
            if (within + n > valid[from >> granule_bits]) {
                return false;
            }
            from += n;
        }
        return true;
    }
};

extern DeviceMemory device_memory;

// Takes the range of addresses, if that is not done; false when the host has none.
bool reserve_device();

// 0 when the host has no more. Filled with 0xff when `poison`.
uint64_t allocate_device(uint64_t bytes, bool poison);
void free_device(uint64_t address);

// "4 bytes past the end of the buffer of 4096 bytes at 0x…", for messages.
std::string nearest_buffer(uint64_t address);
