/**
 * What the rules of many operations share: checks with messages of one form, types of results, graphs put into graphs.
 */
@NullMarked
package dev.tenon.core.ir.rule;

import org.jspecify.annotations.NullMarked;
