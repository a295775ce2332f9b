/** Measures device time. Owns methods of measuring; does not own what is measured. */
@NullMarked
package dev.tenon.cuda.timing;

import org.jspecify.annotations.NullMarked;
