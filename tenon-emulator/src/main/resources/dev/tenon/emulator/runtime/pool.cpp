#include "pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "signals.h"

namespace {
uint8_t* map_stack() {
    void* memory = mmap(nullptr, Worker::rescue_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<uint8_t*>(memory);
}

int64_t now() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
}  // namespace

Pool* Pool::open(uint32_t workers, int64_t watchdog_milliseconds, int64_t spin_milliseconds) {
    install_signal_handlers();
    Pool* pool = new Pool();
    pool->watchdog_milliseconds = watchdog_milliseconds;
    pool->spin_milliseconds = spin_milliseconds;
    std::unique_lock lock(pool->mutex_);
    for (uint32_t i = 0; i < std::min(workers, most_workers); i++) {
        auto worker = std::make_unique<Worker>();
        worker->pool = pool;
        worker->number = i;
        worker->rescue = map_stack();
        worker->signal_stack = map_stack();
        if (worker->rescue == nullptr || worker->signal_stack == nullptr || pthread_create(&worker->handle, nullptr, main, worker.get()) != 0) {
            break;
        }
        pthread_setname_np(worker->handle, "tenon-emulator");
        pool->workers_.push_back(std::move(worker));
    }
    lock.unlock();
    if (pool->workers_.empty()) {
        delete pool;
        return nullptr;
    }
    return pool;
}

Pool::~Pool() {
    {
        std::lock_guard lock(mutex_);
        closing_ = true;
    }
    work_.notify_all();
    for (auto& worker : workers_) {
        pthread_join(worker->handle, nullptr);
        munmap(worker->rescue, Worker::rescue_bytes);
        munmap(worker->signal_stack, Worker::rescue_bytes);
    }
}

uint64_t Pool::progress() const {
    uint64_t sum = 0;
    for (const auto& worker : workers_) {
        sum += worker->progress.load(std::memory_order_relaxed);
    }
    return sum;
}

void* Pool::main(void* argument) {
    Worker& worker = *static_cast<Worker*>(argument);
    current_worker = &worker;
    prepare_for_signals(worker);
    worker.pool->loop(worker);
    return nullptr;
}

void Pool::loop(Worker& worker) {
    std::unique_lock lock(mutex_);
    for (;;) {
        Job* job = choose(worker);
        if (job == nullptr) {
            if (closing_) {
                return;
            }
            work_.wait(lock);
            continue;
        }
        job->running++;
        job->taken |= 1ull << worker.number;
        lock.unlock();
        worker.job = job;
        worker.run_job();
        worker.job = nullptr;
        lock.lock();
        job->running--;
        if (finished(*job)) {
            done_.notify_all();
        }
    }
}

// The oldest launch that has something left for the worker.
Job* Pool::choose(const Worker& worker) {
    for (Job* job : jobs_) {
        bool left = job->launch.cooperative ? (job->taken >> worker.number & 1) == 0 : job->next < job->blocks && !job->failed;
        if (left) {
            return job;
        }
    }
    return nullptr;
}

bool Pool::finished(const Job& job) const {
    bool given_out = job.launch.cooperative ? static_cast<uint32_t>(__builtin_popcountll(job.taken)) == size() : job.next >= job.blocks || job.failed;
    return given_out && job.running == 0;
}

bool Pool::run(const Launch& launch, void* const* arguments, Fault* fault) {
    Job job;
    job.launch = launch;
    job.arguments = arguments;
    job.fault = fault;
    job.blocks = static_cast<uint64_t>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
    memset(fault, 0, sizeof *fault);
    // Two cooperative launches that each hold some of the workers would wait for one another for ever.
    std::unique_lock<std::mutex> alone(together_, std::defer_lock);
    if (launch.cooperative) {
        alone.lock();
    }
    std::vector<uint64_t> seen(size());
    std::vector<int64_t> since(size(), now());
    std::unique_lock lock(mutex_);
    jobs_.push_back(&job);
    work_.notify_all();
    while (!done_.wait_for(lock, std::chrono::milliseconds(100), [&] { return finished(job); })) {
        watch(job, seen, since);
    }
    jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
    return !job.failed;
}

// A thread that neither ends nor waits for long is stopped where it stands.
void Pool::watch(Job& job, std::vector<uint64_t>& seen, std::vector<int64_t>& since) {
    for (size_t i = 0; i < workers_.size(); i++) {
        Worker& worker = *workers_[i];
        uint64_t progress = worker.progress.load(std::memory_order_relaxed);
        if (worker.job != &job || !worker.in_kernel || progress != seen[i]) {
            seen[i] = progress;
            since[i] = now();
        } else if (now() - since[i] > watchdog_milliseconds) {
            interrupt(worker);
        }
    }
}
