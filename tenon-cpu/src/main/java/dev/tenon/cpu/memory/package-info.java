/**
 * How steps, loops and kernels in machine code name memory: {@code Place} and {@code Matrix}. Knows nothing of what is
 * computed there.
 */
@NullMarked
package dev.tenon.cpu.memory;

import org.jspecify.annotations.NullMarked;
