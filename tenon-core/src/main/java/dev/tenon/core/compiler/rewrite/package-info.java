/**
 * What passes are made of: the rewriter, questions about values, stores of constants.
 */
@NullMarked
package dev.tenon.core.compiler.rewrite;

import org.jspecify.annotations.NullMarked;
