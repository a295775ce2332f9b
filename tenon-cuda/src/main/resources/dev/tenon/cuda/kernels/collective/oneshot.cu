// y[i] = (x of rank 0 + x of rank 1 + …)[i] / divisor, in float, rounded once. The fast form: each thread writes its pack into every rank's
// workspace and waits for the others' packs in its own. A slot that nothing has come to holds a word that no element is written as, so data
// are their own flags: one crossing between the devices, no fence, no barrier before the sum.
//
// Launch: 512 threads, a block for each 512 packs of 16 bytes, the same on every rank; all ranks' kernels must run at the same time. All bytes
// of the slots are 0xFF at first.
// Slots go by three turns. Call k uses turn k and empties turn k+2, which call k-1 used: this rank is done with it, and who writes there next, in
// call k+2, has before seen this rank's pack of call k+1, which was sent after all this.
#include "oneshot.cuh"

constexpr u32 EMPTY = 0xffffffffu;  // a NaN, or two; sent as another NaN

__device__ __forceinline__ u32 sent(u32 word) { return word == EMPTY ? EMPTY - 1 : word; }

__device__ __forceinline__ bool arrived(const uint4* slot, const u32* stop, uint4& words) {
    for (u32 looks = 1;; looks++) {
        words = load_system(slot);
        if (words.x != EMPTY && words.y != EMPTY && words.z != EMPTY && words.w != EMPTY) return true;
        if ((looks & 1023) == 0 && load_system(stop) != 0) return false;
    }
}

extern "C" __global__ void __launch_bounds__(512, 1) TENON_NAME(oneshot)(const u64* workspaces, const TENON_T* x, TENON_T* y, i64 n, i32 rank, i32 world, float divisor) {
    await_predecessor();
    release_successor();
    i64 place = static_cast<i64>(blockIdx.x) * ONESHOT_THREADS + threadIdx.x;
    bool mine = place * Widest<TENON_T>::value < n;
    u64 own = workspaces[rank];
    OneShotHead* head = oneshot_head(own);
    u32 turn = head->turn[blockIdx.x];
    uint4 words = make_uint4(0, 0, 0, 0);
    if (mine) {
        words = oneshot_load(x, n, place);
        words = make_uint4(sent(words.x), sent(words.y), sent(words.z), sent(words.w));
        for (i32 step = 1; step < world; step++) {
            i32 peer = rank + step < world ? rank + step : rank + step - world;
            store_system(oneshot_slot(workspaces[peer], turn, world, rank, place), words);
        }
    }
    u32 emptied = turn == 0 ? 2 : turn - 1;
    for (i32 r = 0; r < world; r++) {
        store_system(oneshot_slot(own, emptied, world, r, place), make_uint4(EMPTY, EMPTY, EMPTY, EMPTY));
    }
    bool whole = true;
    if (mine) {
        float sum[Widest<TENON_T>::value];
        for (i32 r = 0; r < world && whole; r++) {
            uint4 theirs = words;
            if (r != rank) whole = arrived(oneshot_slot(own, turn, world, r, place), &head->stop, theirs);
            oneshot_add<TENON_T>(sum, theirs, r == 0);
        }
        if (whole) oneshot_store(y, n, place, sum, divisor);
    }
    __syncthreads();
    if (threadIdx.x == 0) head->turn[blockIdx.x] = turn == 2 ? 0 : turn + 1;
}
TENON_ENTRY(oneshot)
