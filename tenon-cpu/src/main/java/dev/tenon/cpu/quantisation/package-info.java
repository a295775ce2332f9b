/**
 * Numbers to small integers and back.
 */
@NullMarked
package dev.tenon.cpu.quantisation;

import org.jspecify.annotations.NullMarked;
