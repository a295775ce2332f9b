/**
 * Searches, whose results are as long as what they find.
 */
@NullMarked
package dev.tenon.core.ir.op.searching;

import org.jspecify.annotations.NullMarked;
