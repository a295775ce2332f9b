/**
 * How a device is opened and a model compiled: what users choose.
 */
@NullMarked
package dev.tenon.core.options;

import org.jspecify.annotations.NullMarked;
