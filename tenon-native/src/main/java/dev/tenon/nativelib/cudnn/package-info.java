/**
 * cuDNN 9: the functions of its graph interface as C has them, bound on first use, and the check of their statuses.
 * Owns no policy: which convolution runs where is the CUDA backend's.
 */
@NullMarked
package dev.tenon.nativelib.cudnn;

import org.jspecify.annotations.NullMarked;
