// y[i] = (x of rank 0 + x of rank 1 + …)[i] / divisor, in float, rounded once. The plain form: each block puts its part of x into its rank's
// workspace, tells the block of the same number of every rank, waits for those, and reads their parts.
//
// Launch: 512 threads, a block for each 512 packs of 16 bytes, the same on every rank; all ranks' kernels must run at the same time.
// Parts lie in one of two places by turns: a rank that begins call k+2 has seen all ranks arrive in call k+1, hence done with call k.
#include "oneshot.cuh"

extern "C" __global__ void __launch_bounds__(512, 1) TENON_NAME(oneshot_flags)(const u64* workspaces, const TENON_T* x, TENON_T* y, i64 n, i32 rank, i32 world, float divisor) {
    await_predecessor();
    release_successor();
    i64 place = static_cast<i64>(blockIdx.x) * ONESHOT_THREADS + threadIdx.x;
    bool mine = place * Widest<TENON_T>::value < n;
    OneShotHead* head = oneshot_head(workspaces[rank]);
    u32 call = head->turn[blockIdx.x];
    if (mine) store_system(oneshot_slot(workspaces[rank], call & 1, world, 0, place), oneshot_load(x, n, place));
    __syncthreads();
    bool here = true;
    if (threadIdx.x < world) {
        announce_system(&oneshot_head(workspaces[threadIdx.x])->arrived[rank][blockIdx.x]);
        here = wait_until_system(&head->arrived[threadIdx.x][blockIdx.x], call + 1, &head->stop);
    }
    if (__syncthreads_and(here) == 0) return;
    if (threadIdx.x == 0) head->turn[blockIdx.x] = call + 1;
    if (!mine) return;
    float sum[Widest<TENON_T>::value];
    for (i32 r = 0; r < world; r++) {
        oneshot_add<TENON_T>(sum, load_system(oneshot_slot(workspaces[r], call & 1, world, 0, place)), r == 0);
    }
    oneshot_store(y, n, place, sum, divisor);
}
TENON_ENTRY(oneshot_flags)
