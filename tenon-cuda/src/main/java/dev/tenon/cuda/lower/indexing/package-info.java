/** Steps that read or write places that indices name. */
@NullMarked
package dev.tenon.cuda.lower.indexing;

import org.jspecify.annotations.NullMarked;
