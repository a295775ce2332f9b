package dev.tenon.models.tokenizer;

import dev.tenon.core.lazy.Lazy;

/**
 * The sets of characters that decide where BERT text is cut, as Hugging Face's {@code tokenizers} has them.
 *
 * <p>They are frozen here rather than asked of {@link Character}, because the reference carries tables of an old
 * Unicode version (8, by the characters it lacks) for categories and another for decompositions: the JDK would disagree
 * on hundreds of characters today, and on others with each release. The values were read out of {@code tokenizers}
 * 0.23.2, by showing it every code point. The format is that of {@link UnicodeRanges#parse}.
 */
final class UnicodeTables {
    private static final Lazy<UnicodeTables> TABLES = new Lazy<>() {
        @Override
        protected UnicodeTables make() {
            return new UnicodeTables();
        }
    };

    private UnicodeTables() {}

    /** The tables, parsed on first use. */
    static UnicodeTables get() {
        return TABLES.get();
    }

    /** Cc, Cf and Co: what {@code clean_text} removes, but for tab, line feed and carriage return. */
    final UnicodeRanges control = UnicodeRanges.parse("""
            0+8 2+1 1+h 2n+w d 11u+5 m 5c 1d 3cu 1ks+4 q+4 1d+4 1+9 11u8+4xr 16n 6x+2 1 3b3 xya+3 43z+7 h406 u+2n
            1egw+1ekd 2+1ekd
            """);

    /** Nonspacing marks (Mn): what {@code strip_accents} of the BERT normaliser removes after decomposition. */
    final UnicodeRanges nonspacingMark = UnicodeRanges.parse("""
            lc+33 7n+4 7d+18 1 1+1 1+1 1 20+a 1c+k g 2t+6 2+5 2+1 1+3 z u+q 2j+a 1m+8 y+3 1+8 1+2 1+4 17+2 3r+v
            1j 1 4+7 4 3+6 a+1 t 1m 4+3 8 k+1 t+1 1l 4+1 4+1 2+2 3 u+1 3 b+1 1l 4+4 1+1 4 k+1 t 1m 2 1+3 8 8 b+1
            u 1p c 1e 1p+2 5+2 1+3 7+1 b+1 t 1m 2 6 5+1 k+1 t 1r+3 8 k+1 2u 7+2 1 2i 2+6 c+7 2q 2+5 1+1 b+5 22+1
            r 1 1 1j+d 1+4 1+1 5+a 1+z 9 2u+3 1+5 1+1 2+1 p+1 4+2 g+3 d 2+1 6 f jj+2 qa+2 t+2 t+1 u+1 1s+1 1+6 8
            2+a 9 19+2 4b 3a+2 4+1 9 6+2 63+1 2 1m 1+6 1 1 2+7 6+9 2 1c+d 1u+3 1c 1+4 1 5 14+8 c+1 w+3 2+1 1+2 1k
            1+1 3 1+2 1m+7 2+1 48+2 1+c 1+6 4 6 3+1 5i+1h 6+3 k0+c 4 3+b 2da+2 3x 2o+v fe+3 2z+1 n9w 4+9 w+1 28+1
            7k 3 4 p+1 4d r+h 1g+7 p+a 1a+2 1c 2+3 2 14 1v+5 2+1 2+1 c 8 1b 1f 1+2 2+1 5+1 1 16+1 8 6m 2 4 fn4
            kh+f g+f r1 6a 45+4 1ae+2 1+1 5+3 14+2 4 4l+1 10a 1i+e 1k+2 1d+3 2+1 1x+2 10+4 1+7 1q c+1 1g+8 b+2
            2q+2 2 1+1 4n 3+7 l+1 1m 3 11+6 3+4 8u+5 1 4+1 1+1 6m+3 6+1 1+1 r+1 2d+7 2 1+1 2y 1 2+5 1 2t+2 2+3
            1+4 gjo+4 1n+6 uw+3 f7u+1 43s+2 h+7 2+6 u+3 44+2 1iz+1i 4+1d 8 e m+4 1+e 2sg+6 gzl5+6n
            """);

    /** Marks (Mn, Mc, Me): what the {@code StripAccents} normaliser removes. */
    final UnicodeRanges mark = UnicodeRanges.parse("""
            lc+33 7n+6 7b+18 1 1+1 1+1 1 20+a 1c+k g 2t+6 2+5 2+1 1+3 z u+q 2j+a 1m+8 y+3 1+8 1+2 1+4 17+2 3c+d
            1+w 1i+2 1+h 1+6 a+1 t+2 1k 1+6 2+1 2+2 9 a+1 t+2 1k 1+4 4+1 2+2 3 u+1 3 b+2 1k 1+7 1+2 1+2 k+1 t+2
            1k 1+6 2+1 2+2 8+1 a+1 u 1n+4 3+2 1+3 9 14+3 1m+6 1+2 1+3 7+1 b+1 t+2 1k 1+6 1+2 1+3 7+1 b+1 t+2 1m+6
            1+2 1+3 9 a+1 u+1 1y 4+5 1 1+7 i+1 1p 2+6 c+7 2q 2+5 1+1 b+5 22+1 r 1 1 4+1 1d+j 1+1 5+a 1+z 9 2s+j
            n+3 4+2 1+2 2+6 3+3 d+b 1 a+3 jj+2 qa+2 t+2 t+1 u+1 1s+v 9 19+2 3b+1 y 3a+b 4+b 63+4 1l+9 1+s 2 1c+e
            1t+4 1b+g 12+8 c+2 u+c 1k+d 1c+j 48+2 1+k 4 4+2 3+1 5i+1h 5+4 k0+w 2da+2 3x 2o+v fe+5 2x+1 n9w+3 1+9
            w+1 28+1 7k 3 4 n+4 2g+1 1e+h q+h 1g+7 p+c 18+3 1b+d 10 1v+d c 8+1 19+2 1e 1+2 2+1 5+1 1 15+4 5+1
            6k+7 1+1 fn4 kh+f g+f r1 6a 45+4 1ae+2 1+1 5+3 14+2 4 4l+1 109+2 1h+e 1k+3 19+a 1x+2 10+d 1q c+2 1c+d
            9+2 2n+b 6 4g+b l+3 1k 1+6 2+1 2+2 9 a+1 2+6 3+4 5c+h 2x+j 6j+6 2+8 r+1 2a+g 2y+c 2t+e zn+7 1+7 2a+l
            1+d fg9+4 1n+6 t6+19 g+3 f7u+1 43q+4 3+5 8+7 2+6 u+3 44+2 1iz+1i 4+1d 8 e m+4 1+e 11s+6 1+g 2+6 1+1
            1+4 1ph+6 31+6 gzhx+6n
            """);

    /** Punctuation: the ASCII symbols, and P of Unicode. */
    final UnicodeRanges punctuation = UnicodeRanges.parse("""
            x+e a+6 q+5 q+3 y 5 3 a+1 3 3 ji 8 cy+5 15+1 1f 1 2 2 18+1 k+1 1+1 d 2+1 22+3 2u 17+d 6h+2 1i+e v
            79+1 a an lf 2i a+1 4o+e 1 11+3 1z 22+4 4+1 33+5 4r h0+8 47 h8+1 18+1 26+2 1z+1 4d+2 1+2 11+a 8p+1
            60+1 3k+6 1+5 4s+6 4b+3 1n+4 1q+1 1s+7 b n0+n 8+j 1+c 1+b u+1 e+1 hl+3 t+1 u5+d 27+1 v+9 b7+l 1r+3
            w+1 l7+3 1+1 34 3z+1a 1+i ce+2 4+9 2+b g c 2q 2i mwy+1 7h+2 2r a 37+5 ak+3 2e+1 14+2 1 1d+1 1b 2p+c
            g+1 3g+3 3i+1 g+1 6x g2a+1 5s+9 m+y 1+d 1 4 1+1 45+2 1+5 1+3 a+1 3+1 q+2 1 r 1 1+6 be+2 ik 1c bi kn
            5j v 7k+8 12 34+6 1u+6 2h+3 x6+6 31+1 1+3 3i+3 1c+1 27+4 3 d 1+2 2g+5 2z f0 6y+m 2x+2 6w+2 2lt+4
            dtl+1 3p 1t+4 8 g2i 5wn+4
            """);

    /** Younger than the reference normaliser's tables: left alone by, and a wall to, NFD and NFC. */
    final UnicodeRanges newerThanCanonical = UnicodeRanges.parse("""
            1kt 49+8 16+9 8a fx 72+1 al 1ne q1+f mf+4 rap iho 8 7 9 1fj+3 1t+4 8t+1 28+2 1y+a 1d+3 6i ju 1y+3 5
            2 1+1 12 2 6 2 1+2 4+2 3x re+1 6t 4 2 4+1 4 4c 2b i 29 iw 1+1 29 bt+1 d0b+b 5 2er 3+3 hx+1 m8t 4g+6
            af 1p+3 e4+3 72+1
            """);

    /** The same for NFKD and NFKC. */
    final UnicodeRanges newerThanCompatibility = UnicodeRanges.parse("""
            1kt 49+8 16+9 8a fx 72+1 al 1ne q1+f mf+4 45g n3m+2 1j n0 hun 8 7 9 bg+4 1+15 1+8 12h+3 1t+4 8t+1
            28+2 1y+a 1d+3 6i ju 1y+3 5 2 1+1 12 2 6 2 1+2 4+2 3x re+1 6t 4 2 4+1 4 4c 2b i 29 iw 1+1 29 bt+1
            d0b+b 5 2er 3+3 hx+1 ick+z 3sm+1p x 4g+6 af 1p+3 e4+3 72+1 29o 22r+9
            """);
}
