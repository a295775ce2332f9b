/**
 * MPI as C knows it: {@link dev.tenon.nativelib.mpi.MpiLibrary} finds Open MPI, {@link dev.tenon.nativelib.mpi.Mpi} has
 * its functions, {@link dev.tenon.nativelib.mpi.MpiStatus} checks what they return.
 *
 * <p>Owns names, signatures and handles. Does not own communicators ({@code tenon-mpi}).
 */
@NullMarked
package dev.tenon.nativelib.mpi;

import org.jspecify.annotations.NullMarked;
