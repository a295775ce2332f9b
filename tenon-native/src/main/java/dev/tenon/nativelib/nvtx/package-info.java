/** NVTX, the profilers' marks and ranges. */
@NullMarked
package dev.tenon.nativelib.nvtx;

import org.jspecify.annotations.NullMarked;
