// Open MPI's all-reduce (f32, sum, in place) between processes, as a peer of Tenon's ring: each rank times itself from the end of a barrier to its result, and the slowest rank's time counts.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
    int rank, world, length = argc > 1 ? atoi(argv[1]) : 1024, runs = argc > 2 ? atoi(argv[2]) : 400;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    float *data = malloc(sizeof(float) * (length + 1));
    double *micros = malloc(sizeof(double) * runs);
    for (int run = -50; run < runs; run++) {
        for (int i = 0; i < length; i++) data[i] = rank + 1.0f;
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        MPI_Allreduce(MPI_IN_PLACE, data, length, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        double mine = (MPI_Wtime() - start) * 1e6, slowest;
        MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (run >= 0) micros[run] = slowest;
        if (length > 0 && data[length - 1] != world * (world + 1) / 2) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0) {
        qsort(micros, runs, sizeof(double), by_value);
        printf("%d %d openmpi median %.2f p95 %.2f min %.2f max %.2f\n", world, length, micros[runs / 2], micros[runs * 95 / 100], micros[0], micros[runs - 1]);
    }
    MPI_Finalize();
    return 0;
}
