/** Matrix products by the maker's libraries, cuBLAS and cuBLASLt, where they are found. */
@NullMarked
package dev.tenon.cuda.blas;

import org.jspecify.annotations.NullMarked;
