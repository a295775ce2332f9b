// How a kernel ends that did something it must not.
#pragma once
#include <cstdint>

struct Fault {
    uint32_t block[3], thread[3];
    uint64_t offset;  // of the instruction within the kernel's object; 0 where the line is known or nothing is
    int32_t line;     // 0 where unknown
    char file[252];
    char text[1024];
};

// Ends the launch with the calling thread's fault; never comes back. `caller` is a return address in the kernel, or null.
[[noreturn]] void fail(const void* caller, const char* format, ...) __attribute__((format(printf, 2, 3)));
[[noreturn]] void fail_at(int line, const char* file, const char* format, ...) __attribute__((format(printf, 3, 4)));
// The same from the scheduler: marks the launch as failed and comes back.
void report(int line, const char* file, const char* format, ...) __attribute__((format(printf, 3, 4)));
