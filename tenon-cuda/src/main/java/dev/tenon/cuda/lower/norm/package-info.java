/** Steps of softmax and norms, whose rows share four skeletons. */
@NullMarked
package dev.tenon.cuda.lower.norm;

import org.jspecify.annotations.NullMarked;
