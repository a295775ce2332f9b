#include "fault.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "worker.h"

namespace {
void record(const void* caller, int line, const char* file, const char* format, va_list values) {
    Worker* worker = current_worker;
    Job* job = worker->job;
    if (job->failed.exchange(true)) {
        return;  // another thread's came first
    }
    Fault& fault = *job->fault;
    vsnprintf(fault.text, sizeof fault.text, format, values);
    if (worker->block != nullptr) {
        memcpy(fault.block, worker->block->index, sizeof fault.block);
    }
    if (worker->thread != nullptr) {
        fault.thread[0] = worker->thread->x;
        fault.thread[1] = worker->thread->y;
        fault.thread[2] = worker->thread->z;
    }
    fault.line = line;
    if (file != nullptr) {
        snprintf(fault.file, sizeof fault.file, "%s", file);
    }
    uint64_t at = reinterpret_cast<uint64_t>(caller);
    if (at != 0 && job->launch.module->runs(at)) {
        fault.offset = at - job->launch.module->base;
    }
}
}  // namespace

void fail(const void* caller, const char* format, ...) {
    va_list values;
    va_start(values, format);
    record(caller, 0, nullptr, format, values);
    va_end(values);
    abandon();
}

void fail_at(int line, const char* file, const char* format, ...) {
    va_list values;
    va_start(values, format);
    record(nullptr, line, file, format, values);
    va_end(values);
    abandon();
}

void report(int line, const char* file, const char* format, ...) {
    va_list values;
    va_start(values, format);
    record(nullptr, line, file, format, values);
    va_end(values);
}
