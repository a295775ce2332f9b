/**
 * cuBLAS and cuBLASLt: their functions as C has them, bound on first use, and the checks of their statuses. Owns no
 * policy: which product runs where is the CUDA backend's.
 */
@NullMarked
package dev.tenon.nativelib.cublas;

import org.jspecify.annotations.NullMarked;
