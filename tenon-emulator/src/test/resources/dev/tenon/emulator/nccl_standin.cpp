// Stands in for NCCL where there is none: makes communicators, late or not at all if it is told to, and tells what became of them. It moves no elements: every collective is refused.
//   STANDIN_LOG       a file that gets a line for each communicator made, aborted, destroyed
//   STANDIN_JOIN_MS   how long joining takes
//   STANDIN_JOIN_CODE what joining then answers
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

constexpr int SUCCESS = 0;
constexpr int INVALID_USAGE = 5;
std::atomic<long> made{0};

long number(const char* name) {
    const char* text = std::getenv(name);
    return text ? std::atol(text) : 0;
}

void log(const char* what, long comm) {
    if (const char* path = std::getenv("STANDIN_LOG")) {
        if (std::FILE* file = std::fopen(path, "a")) {
            std::fprintf(file, "%s %ld\n", what, comm);
            std::fclose(file);
        }
    }
}

int join(long* comms, int count) {
    std::this_thread::sleep_for(std::chrono::milliseconds(number("STANDIN_JOIN_MS")));
    if (int code = static_cast<int>(number("STANDIN_JOIN_CODE"))) return code;
    for (int i = 0; i < count; i++) {
        comms[i] = ++made;
        log("made", comms[i]);
    }
    return SUCCESS;
}

int end(const char* what, long comm) {
    log(what, comm);
    return SUCCESS;
}

}  // namespace

extern "C" {

struct UniqueId {
    char bytes[128];
};

int ncclGetVersion(int* version) {
    *version = 22809;
    return SUCCESS;
}
int ncclGetUniqueId(UniqueId* id) {
    std::memset(id, 7, sizeof *id);
    return SUCCESS;
}
int ncclCommInitAll(long* comms, int count, const int*) { return join(comms, count); }
int ncclCommInitRank(long* comm, int, UniqueId, int) { return join(comm, 1); }
int ncclCommInitRankConfig(long* comm, int, UniqueId, int, void*) { return join(comm, 1); }
int ncclCommFinalize(long) { return SUCCESS; }
int ncclCommDestroy(long comm) { return end("destroyed", comm); }
int ncclCommAbort(long comm) { return end("aborted", comm); }
int ncclCommGetAsyncError(long, int* status) {
    *status = SUCCESS;
    return SUCCESS;
}
int ncclGroupStart() { return SUCCESS; }
int ncclGroupEnd() { return SUCCESS; }
int ncclAllReduce() { return INVALID_USAGE; }
int ncclReduce() { return INVALID_USAGE; }
int ncclReduceScatter() { return INVALID_USAGE; }
int ncclAllGather() { return INVALID_USAGE; }
int ncclBroadcast() { return INVALID_USAGE; }
int ncclSend() { return INVALID_USAGE; }
int ncclRecv() { return INVALID_USAGE; }
const char* ncclGetErrorString(int) { return "the stand-in moves no elements"; }
const char* ncclGetLastError(long) { return ""; }
}
