/**
 * NCCL: its functions under their C names, and the library with the check of its statuses. Does not own communicators:
 * those are the CUDA backend's.
 */
@NullMarked
package dev.tenon.nativelib.nccl;

import org.jspecify.annotations.NullMarked;
