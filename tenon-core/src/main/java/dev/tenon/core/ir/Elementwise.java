package dev.tenon.core.ir;

import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Compare;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.elementwise.Where;

/**
 * A primitive whose result's elements each come from one element of every operand: what a region is made of, and what
 * backends fuse.
 */
public sealed interface Elementwise extends Primitive permits Unary, Binary, Compare, Where, Cast {}
