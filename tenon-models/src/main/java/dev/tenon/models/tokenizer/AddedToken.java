package dev.tenon.models.tokenizer;

/**
 * A token that is found in the text before the model sees it.
 *
 * @param singleWord only matches where no word character is next to it
 * @param lstrip takes the whitespace before it along
 * @param rstrip takes the whitespace after it along
 * @param normalized is itself normalised, and looked for in the normalised text
 * @param special is left out when decoding
 */
record AddedToken(
        int id,
        String content,
        boolean singleWord,
        boolean lstrip,
        boolean rstrip,
        boolean normalized,
        boolean special) {}
