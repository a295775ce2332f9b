/**
 * {@link dev.tenon.mpi.MpiCommunicator}: ranks that are processes under {@code mpirun}.
 *
 * <p>Owns the process's MPI session and how elements get in and out of it. Does not own the bindings ({@code
 * dev.tenon.nativelib.mpi}) nor the meaning of the operations ({@code dev.tenon.core.collective}).
 */
@NullMarked
package dev.tenon.mpi;

import org.jspecify.annotations.NullMarked;
