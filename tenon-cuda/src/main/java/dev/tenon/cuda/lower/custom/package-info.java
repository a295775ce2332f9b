/**
 * Operations that a program defines: their kernels, checked against the launches that the program describes.
 */
@NullMarked
package dev.tenon.cuda.lower.custom;

import org.jspecify.annotations.NullMarked;
