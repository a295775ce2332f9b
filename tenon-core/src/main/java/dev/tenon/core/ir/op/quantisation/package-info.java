/**
 * Numbers to small integers and back.
 */
@NullMarked
package dev.tenon.core.ir.op.quantisation;

import org.jspecify.annotations.NullMarked;
