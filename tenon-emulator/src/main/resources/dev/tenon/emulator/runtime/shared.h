// A block's shared memory, and what is known of each of its bytes.
#pragma once
#include <cstdint>

#include "clock.h"

enum class Access { Read, Write, AtomicRead, AtomicUpdate, AtomicStore };

class Shared {
public:
    static constexpr uint32_t most_fixed = 48 * 1024;
    static constexpr uint32_t most_dynamic = 163 * 1024;

    uint8_t* fixed = nullptr;  // the kernel object's thread-local segment
    uint32_t fixed_bytes = 0;
    uint8_t* dynamic = nullptr;
    uint32_t dynamic_bytes = 0;
    Clock clock;

    ~Shared();
    // Room for dynamic shared memory up to a size; with records of each byte when `checked`. False when the host has no memory.
    bool reserve(uint32_t dynamic, bool checked);
    // Forgets the block before, and leaves nothing of it to read.
    void start(uint8_t* fixed_memory, uint32_t fixed_size, uint32_t dynamic_size);

    // Where the byte's record is, or -1 when the address is not shared memory.
    int64_t locate(uint64_t address, uint64_t bytes) const {
        uint64_t at = address - reinterpret_cast<uint64_t>(fixed);
        if (at < fixed_bytes && bytes <= fixed_bytes - at) {
            return static_cast<int64_t>(at);
        }
        at = address - reinterpret_cast<uint64_t>(dynamic);
        if (at < dynamic_bytes && bytes <= dynamic_bytes - at) {
            return static_cast<int64_t>(most_fixed + at);
        }
        return -1;
    }
    // Checks an access by a thread of the block and notes it. Fails for uninitialised bytes and races.
    void note(int64_t at, uint32_t bytes, Access access, uint32_t thread, const void* caller);
    // The bytes are on their way until `arrived`.
    void pending(int64_t at, uint32_t bytes, uint32_t thread, const void* caller);
    void arrived(int64_t at, uint32_t bytes, uint32_t thread);
    // Makes room on the clock when it runs out; between threads only.
    void renew() {
        if (clock.full()) {
            rebase();
        }
    }
    bool checked() const { return writes_ != nullptr; }

private:
    uint8_t* memory_ = nullptr;
    uint32_t* writes_ = nullptr;  // the last write of each byte, as Clock::stamp
    uint32_t* reads_ = nullptr;   // the last read, or several
    uint32_t entries_ = 0;
    uint64_t mapped_ = 0;

    void rebase();
    [[noreturn]] void race(int64_t at, const char* what, uint32_t other, const void* caller) const;
};
