/**
 * Turns text into token ids as Hugging Face's {@code tokenizers} does, from a model's {@code tokenizer.json}.
 *
 * <p>In the order text takes: {@link dev.tenon.models.tokenizer.Tokenizer} splits off added tokens ({@code
 * AddedVocabulary}), normalises ({@code Normalizer}), splits into words ({@code PreTokenizer}), splits words into
 * pieces of the vocabulary ({@code WordPiece}), truncates ({@code Truncation}), adds special tokens ({@code
 * PostProcessor}) and pads ({@code Padding}). {@code TokenizerReader} and the other readers build that chain from the
 * file, which is taken to be hostile; {@code dev.tenon.formats.json} is the JSON under them.
 *
 * <p>The package owns the file format, Unicode as the reference implementation sees it, and ids. It does not own
 * models, tensors, or how an id becomes a vector, and knows nothing of the rest of Tenon.
 */
@NullMarked
package dev.tenon.models.tokenizer;

import org.jspecify.annotations.NullMarked;
