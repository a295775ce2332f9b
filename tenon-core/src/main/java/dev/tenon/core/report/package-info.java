/**
 * What a device, a model or a plan says about itself.
 */
@NullMarked
package dev.tenon.core.report;

import org.jspecify.annotations.NullMarked;
