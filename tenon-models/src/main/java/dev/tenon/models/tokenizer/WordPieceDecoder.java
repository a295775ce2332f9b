package dev.tenon.models.tokenizer;

import java.util.List;

/**
 * Tokens back to text: continuations are joined to what is before them, and, if {@code cleanup} is set, so is
 * punctuation.
 *
 * <p>The clean-up looks at one token at a time, as the reference does: {@code don ' t} stays apart.
 */
record WordPieceDecoder(String prefix, boolean cleanup) {
    private static final String[][] CLEANUP = {
        {" .", "."},
        {" ?", "?"},
        {" !", "!"},
        {" ,", ","},
        {" ' ", "'"},
        {" n't", "n't"},
        {" 'm", "'m"},
        {" do not", " don't"},
        {" 's", "'s"},
        {" 've", "'ve"},
        {" 're", "'re"},
    };

    String decode(List<String> tokens) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < tokens.size(); i++) {
            String token = tokens.get(i);
            if (i > 0) {
                token = token.startsWith(prefix) ? token.substring(prefix.length()) : " " + token;
            }
            out.append(cleanup ? clean(token) : token);
        }
        return out.toString();
    }

    private static String clean(String token) {
        if (token.indexOf(' ') < 0) {
            return token;
        }
        String result = token;
        for (String[] rule : CLEANUP) {
            result = result.replace(rule[0], rule[1]);
        }
        return result;
    }
}
