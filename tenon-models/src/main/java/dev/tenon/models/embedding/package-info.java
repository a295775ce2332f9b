/**
 * Texts to vectors: an encoder model, its tokenizer, pooling.
 *
 * <p>Owns batching and pooling. Does not own how the model runs (core) or how text becomes ids ({@code tokenizer}).
 */
@NullMarked
package dev.tenon.models.embedding;

import org.jspecify.annotations.NullMarked;
