/**
 * What one process keeps on disk for the next: a folder of entries by name. Owns where it lies, how entries are written
 * and what happens when the disk fails; not what is in them.
 */
@NullMarked
package dev.tenon.cuda.store;

import org.jspecify.annotations.NullMarked;
