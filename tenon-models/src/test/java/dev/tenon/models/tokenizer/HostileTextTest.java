package dev.tenon.models.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class HostileTextTest {
    @Test
    void textsWithoutWords() {
        for (String text : new String[] {"", " ", "\t\n\r", "\u3000\u2028", "\u0000\u0000", "\u200B\uFEFF", "\u0301"}) {
            assertThat(MiniLm.TOKENIZER.encode(text).ids()).containsExactly(101, 102);
        }
    }

    @Test
    void loneSurrogatesAreLikeTheReplacementCharacter() {
        assertThat(MiniLm.TOKENIZER.encode("he\uD800llo \uDC00world\uD83D").tokens())
                .containsExactly("[CLS]", "hello", "world", "[SEP]");
        Tokenizer raw = new SmallFile().without("normalizer").load();
        assertThat(raw.encode("a \uD800", false).tokens()).containsExactly("a", "[UNK]");
    }

    @Test
    void hugeTexts() {
        assertThat(MiniLm.UNLIMITED.encode("x".repeat(1 << 20)).tokens()).containsExactly("[CLS]", "[UNK]", "[SEP]");
        assertThat(MiniLm.UNLIMITED.encode("\u00E9".repeat(1 << 20)).size()).isEqualTo(3);
        assertThat(MiniLm.UNLIMITED.encode("a\u0301".repeat(1 << 19)).size()).isEqualTo(3);
        assertThat(MiniLm.UNLIMITED.encode("!".repeat(1 << 20)).size()).isEqualTo((1 << 20) + 2);
        assertThat(MiniLm.TOKENIZER.encode("[CLS]".repeat(1 << 18)).size()).isEqualTo(128);
        assertThat(MiniLm.TOKENIZER.encode(" ".repeat(1 << 20)).size()).isEqualTo(2);
    }

    @Test
    void anyCharactersAtAll() {
        Random random = new Random(2);
        for (int i = 0; i < 2000; i++) {
            StringBuilder text = new StringBuilder();
            for (int n = random.nextInt(40); n > 0; n--) {
                text.append((char) random.nextInt(0x10000));
            }
            Encoding encoding = MiniLm.TOKENIZER.encode(text.toString());
            assertThat(encoding.tokens()).hasSize(encoding.size());
            for (int id : encoding.ids()) {
                assertThat(MiniLm.TOKENIZER.idToToken(id)).isPresent();
            }
        }
    }

    @Test
    void threadsShareATokenizer() throws InterruptedException, ExecutionException {
        List<String> texts = MiniLm.golden("embed-texts.json").strings("texts");
        List<Encoding> expected = texts.stream().map(MiniLm.TOKENIZER::encode).toList();
        Tokenizer fresh = Tokenizer.load(MiniLm.json());
        try (ExecutorService pool = Executors.newFixedThreadPool(4)) {
            List<Future<List<Encoding>>> results = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                results.add(pool.submit(() -> texts.stream().map(fresh::encode).toList()));
            }
            for (Future<List<Encoding>> result : results) {
                assertThat(result.get()).isEqualTo(expected);
            }
        }
    }
}
