/**
 * Windows that slide over spatial dims: what convolution and pooling share.
 */
@NullMarked
package dev.tenon.cpu.window;

import org.jspecify.annotations.NullMarked;
