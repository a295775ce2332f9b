/** The platforms there are: the one place where drivers, compilers and the cache are put together. */
@NullMarked
package dev.tenon.cuda.platform;

import org.jspecify.annotations.NullMarked;
