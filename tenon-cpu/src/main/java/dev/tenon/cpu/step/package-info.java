/**
 * What all steps share: the step itself, the frame of memory that it sees, and the workers that its loops are cut over.
 *
 * <p>Owns threads and workspace. Knows no operation.
 */
@NullMarked
package dev.tenon.cpu.step;

import org.jspecify.annotations.NullMarked;
