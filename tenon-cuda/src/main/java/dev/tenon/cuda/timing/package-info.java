/**
 * Measures device time, and the time that getting ready takes. Owns methods of measuring; does not own what is
 * measured.
 */
@NullMarked
package dev.tenon.cuda.timing;

import org.jspecify.annotations.NullMarked;
