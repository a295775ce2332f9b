// What the compiler calls for undefined behaviour that it found (-fsanitize=bounds,alignment,integer-divide-by-zero).
#include <cstdint>

#include "worker.h"

namespace {
struct SourceLocation {
    const char* file;
    uint32_t line, column;
};

struct TypeDescriptor {
    uint16_t kind, info;
    char name[1];
};

struct OutOfBounds {
    SourceLocation at;
    const TypeDescriptor* array;
    const TypeDescriptor* index;
};

struct TypeMismatch {
    SourceLocation at;
    const TypeDescriptor* type;
    uint8_t log_alignment, kind;
};

struct Overflow {
    SourceLocation at;
    const TypeDescriptor* type;
};

bool in_kernel() { return current_worker != nullptr && current_worker->in_kernel.load(std::memory_order_relaxed); }

int line(const SourceLocation& at) { return static_cast<int>(at.line); }
}  // namespace

#pragma GCC visibility push(default)
extern "C" {
void __ubsan_handle_out_of_bounds(const OutOfBounds* data, uint64_t index) {
    if (in_kernel()) {
        fail_at(line(data->at), data->at.file, "illegal address: index %lld is out of bounds for %s", static_cast<long long>(index), data->array->name);
    }
}

void __ubsan_handle_type_mismatch_v1(const TypeMismatch* data, uint64_t pointer) {
    if (in_kernel()) {
        fail_at(line(data->at), data->at.file, "misaligned address: 0x%llx for %s, which needs a multiple of %u", static_cast<unsigned long long>(pointer),
                data->type->name, 1u << data->log_alignment);
    }
}

void __ubsan_handle_divrem_overflow(const Overflow* data, uint64_t, uint64_t) {
    if (in_kernel()) {
        fail_at(line(data->at), data->at.file, "integer division by zero (%s)", data->type->name);
    }
}
}
#pragma GCC visibility pop
