/** Steps of windows and samples: pooling, resampling, regions of images. */
@NullMarked
package dev.tenon.cuda.lower.window;

import org.jspecify.annotations.NullMarked;
