package dev.tenon.models.embedding;

import java.util.List;

/**
 * Texts that go through the model together.
 *
 * @param parts the texts
 * @param rows how many the model is given; those beyond the texts repeat the first one, and nothing reads their results
 * @param length the tokens that each is padded to
 */
record TextBatch(List<TextPart> parts, int rows, int length) {}
