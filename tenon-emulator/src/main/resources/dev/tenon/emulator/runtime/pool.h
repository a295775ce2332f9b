// Worker threads, and the launches that they work on.
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "worker.h"

struct Pool {
    static constexpr uint32_t most_workers = 64;

    int64_t spin_milliseconds;      // longest wait in loops while nothing else happens
    int64_t watchdog_milliseconds;  // longest run of one thread between two waits

    // Null and a message when the host has no more threads.
    static Pool* open(uint32_t workers, int64_t watchdog_milliseconds, int64_t spin_milliseconds);
    ~Pool();

    uint32_t size() const { return static_cast<uint32_t>(workers_.size()); }
    uint64_t progress() const;
    // Runs a launch to its end; false when `fault` says why it failed. Any number of threads may call.
    bool run(const Launch& launch, void* const* arguments, Fault* fault);

private:
    std::mutex mutex_, together_;
    std::condition_variable work_, done_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::vector<Job*> jobs_;
    bool closing_ = false;

    static void* main(void* worker);
    void loop(Worker& worker);
    Job* choose(const Worker& worker);
    bool finished(const Job& job) const;
    void watch(Job& job, std::vector<uint64_t>& seen, std::vector<int64_t>& since);
};
