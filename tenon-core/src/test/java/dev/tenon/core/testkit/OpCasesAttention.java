package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.attention.Attention;
import dev.tenon.core.ir.op.attention.AttentionMask;
import dev.tenon.core.ir.op.attention.KvAppend;
import dev.tenon.core.ir.op.attention.RaggedAttention;
import dev.tenon.core.ir.op.attention.Rope;
import java.util.ArrayList;
import java.util.List;

/** Attention and rotary embedding. */
final class OpCasesAttention {
    private static final double NAN = Double.NaN;
    private static final double NOT = Double.NEGATIVE_INFINITY;

    private final List<OpCase> cases = new ArrayList<>();
    private final Seeded random = new Seeded(11);

    private OpCasesAttention() {}

    static List<OpCase> all() {
        OpCasesAttention all = new OpCasesAttention();
        all.sizes();
        all.masks();
        all.byHand();
        all.rope();
        all.ragged();
        all.appended();
        return List.copyOf(all.cases);
    }

    private static Attention plain(boolean causal, long window, AttentionMask mask) {
        return new Attention(causal, window, mask, NAN, 0);
    }

    private void sizes() {
        for (DType type : OpCases.FLOATS) {
            // sizes of heads that are no multiple of a warp or a tile, one query, one key
            for (long size : new long[] {1, 8, 33, 64, 80, 128, 256}) {
                attention("size " + size, plain(false, 0, AttentionMask.NONE), type, 2, 2, 2, 5, 7, size, size);
                attention(
                        "one query size " + size, plain(true, 0, AttentionMask.NONE), type, 1, 2, 1, 1, 40, size, size);
            }
            for (long length : new long[] {1, 15, 16, 33, 65}) {
                attention("causal", plain(true, 0, AttentionMask.NONE), type, 1, 2, 2, length, length, 16, 16);
                attention("window", plain(true, 4, AttentionMask.NONE), type, 1, 1, 1, length, length, 16, 16);
                attention("full", plain(false, 0, AttentionMask.NONE), type, 1, 1, 1, length, 2 * length, 16, 16);
            }
            attention("chunk", plain(true, 0, AttentionMask.NONE), type, 2, 4, 2, 9, 33, 24, 24);
            attention("more queries than keys", plain(true, 0, AttentionMask.NONE), type, 1, 2, 2, 9, 4, 8, 8);
            attention("window of a chunk", plain(true, 5, AttentionMask.NONE), type, 1, 2, 1, 9, 33, 24, 24);
            attention("window alone", plain(false, 3, AttentionMask.NONE), type, 1, 1, 1, 9, 9, 8, 8);
            attention("groups", plain(false, 0, AttentionMask.NONE), type, 2, 6, 2, 5, 9, 16, 16);
            attention("one key head", plain(true, 0, AttentionMask.NONE), type, 1, 8, 1, 5, 9, 16, 16);
            attention("other value size", plain(false, 0, AttentionMask.NONE), type, 1, 2, 2, 5, 9, 16, 40);
            attention("scale", new Attention(false, 0, AttentionMask.NONE, 0.125, 0), type, 1, 2, 2, 5, 9, 16, 16);
            attention("soft cap", new Attention(true, 0, AttentionMask.NONE, NAN, 1.5), type, 1, 2, 2, 9, 9, 16, 16);
        }
        attention("no queries", plain(false, 0, AttentionMask.NONE), DType.F32, 1, 2, 2, 0, 9, 16, 16);
        attention("no keys", plain(false, 0, AttentionMask.NONE), DType.F32, 1, 2, 2, 3, 0, 16, 16);
        attention("no batch", plain(false, 0, AttentionMask.NONE), DType.F32, 0, 2, 2, 3, 4, 16, 16);
        attention("long", plain(true, 0, AttentionMask.NONE), DType.F32, 1, 1, 1, 300, 300, 32, 32);
    }

    private void attention(
            String name,
            Attention op,
            DType type,
            long batch,
            long heads,
            long groups,
            long queries,
            long keys,
            long size,
            long valueSize,
            NdArray... mask) {
        List<NdArray> inputs = new ArrayList<>(List.of(
                random.array(type, batch, heads, queries, size),
                random.array(type, batch, groups, keys, size),
                random.array(type, batch, groups, keys, valueSize)));
        inputs.addAll(List.of(mask));
        String full = "attention " + name + " " + queries + " on " + keys + " " + type;
        cases.add(new OpCase(full, op, inputs, Math.max(1, size + keys)));
    }

    private void masks() {
        long[][] shapes = {{9}, {5, 9}, {1, 1, 5, 9}, {2, 1, 1, 9}, {4, 5, 9}, {2, 4, 5, 9}};
        for (DType type : OpCases.FLOATS) {
            for (long[] shape : shapes) {
                String name = "mask " + OpCases.sizes(shape);
                NdArray seen = random.integers(DType.BOOL, 0, 1, shape);
                attention(name, plain(false, 0, AttentionMask.BOOLEAN), type, 2, 4, 2, 5, 9, 16, 16, seen);
                attention(name + " causal", plain(true, 0, AttentionMask.BOOLEAN), type, 2, 4, 2, 5, 9, 16, 16, seen);
                NdArray bias = random.array(type, shape);
                attention(name + " added", plain(false, 0, AttentionMask.ADDITIVE), type, 2, 4, 2, 5, 9, 16, 16, bias);
                Attention capped = new Attention(true, 3, AttentionMask.ADDITIVE, 0.25, 2);
                NdArray hidden = random.array(type, shape);
                for (int i = 0; i < hidden.size(); i += 3) {
                    hidden.set(i, NOT);
                }
                attention(name + " added, capped", capped, type, 2, 4, 2, 5, 9, 16, 16, hidden);
            }
        }
    }

    /** One head of size 1. */
    private static NdArray line(double... values) {
        return OpCases.f32(new long[] {1, 1, values.length, 1}, values);
    }

    private static NdArray zeros(int length) {
        return line(new double[length]);
    }

    private void byHand() {
        Attention causal = plain(true, 0, AttentionMask.NONE);
        close("chunk of 5", causal, zeros(2), zeros(5), line(1, 2, 3, 4, 5));
        close("2 keys for 5", causal, zeros(5), zeros(2), line(10, 20));
        close("decode", causal, zeros(1), zeros(5), line(1, 2, 3, 4, 5));
        for (long window : new long[] {1, 3, 6, 100}) {
            Attention op = plain(true, window, AttentionMask.NONE);
            close("window " + window, op, zeros(6), zeros(6), line(0, 1, 2, 3, 4, 5));
            close("window " + window + " decode", op, zeros(1), zeros(6), line(0, 1, 2, 3, 4, 5));
        }
        NdArray mask = NdArray.of(TensorType.of(DType.BOOL, 3, 3), 0L, 0, 0, 1, 0, 1, 1, 1, 1);
        Attention masked = plain(false, 0, AttentionMask.BOOLEAN);
        close("nothing seen", masked, zeros(3), zeros(3), line(1, 2, 3), mask);
        close("nothing seen, causal", plain(true, 0, AttentionMask.BOOLEAN), zeros(3), zeros(3), line(1, 2, 3), mask);
        close("NaN seen by some", masked, zeros(3), line(NAN, 0, 0), line(1, 2, 3), mask);
        NdArray first = NdArray.of(TensorType.of(DType.BOOL, 1, 2), 1L, 0);
        close(
                "score below any sentinel",
                new Attention(false, 0, AttentionMask.BOOLEAN, 1, 0),
                line(-20000),
                line(1, 0),
                line(1, 100),
                first);
        close(
                "nothing seen by addition",
                plain(false, 0, AttentionMask.ADDITIVE),
                zeros(2),
                zeros(2),
                line(0, 4),
                OpCases.f32(new long[] {2, 2}, NOT, NOT, 0, 1));
        close("large scores", plain(false, 0, AttentionMask.NONE), line(300, -300), line(300, 299), line(1, 2));
        close(
                "groups, not tiles",
                plain(false, 0, AttentionMask.NONE),
                OpCases.f32(new long[] {1, 4, 1, 2}, 1, 1, 1, 1, 1, 1, 1, 1),
                OpCases.f32(new long[] {1, 2, 1, 2}, 1, 1, 1, 1),
                OpCases.f32(new long[] {1, 2, 1, 2}, 10, 10, 20, 20));
    }

    private void close(String name, Attention op, NdArray... inputs) {
        cases.add(OpCase.sums("attention " + name, 8, op, inputs));
    }

    private void rope() {
        for (DType type : OpCases.FLOATS) {
            for (boolean interleaved : new boolean[] {false, true}) {
                for (long rotary : new long[] {0, 2, 6}) {
                    long pairs = rotary == 0 ? 5 : rotary / 2;
                    String name = "rope " + (interleaved ? "pairs " : "halves ") + rotary + " " + type;
                    Rope op = new Rope(interleaved, rotary);
                    NdArray x = random.array(type, 2, 3, 7, 10);
                    cases.add(OpCase.close(name, op, x, angles(type, 7, pairs), angles(type, 7, pairs)));
                    cases.add(OpCase.close(
                            name + " each batch", op, x, angles(type, 2, 1, 7, pairs), angles(type, 2, 1, 7, pairs)));
                }
                Rope op = new Rope(interleaved, 0);
                NdArray one = random.array(type, 1, 128);
                cases.add(OpCase.close(
                        "rope " + (interleaved ? "pairs" : "halves") + " one token " + type,
                        op,
                        one,
                        angles(type, 1, 64),
                        angles(type, 1, 64)));
            }
        }
        for (DType type : OpCases.FLOATS) {
            for (boolean interleaved : new boolean[] {false, true}) {
                ropeOfSomeRows(type, interleaved);
            }
        }
        NdArray none = NdArray.zeros(DType.F32, 0, 4);
        NdArray angles = NdArray.zeros(DType.F32, 0, 2);
        cases.add(OpCase.exact("rope no tokens", new Rope(false, 0), none, angles, angles));
    }

    /** Heads of queries and keys before those of values; cosines and sines in x's type and in f32. */
    private void ropeOfSomeRows(DType type, boolean interleaved) {
        for (long[] form : new long[][] {{9, 6, 0, 10}, {9, 6, 6, 10}, {3, 3, 0, 32}, {5, 1, 0, 32}, {6, 4, 32, 64}}) {
            NdArray x = random.array(type, 2, 7, form[0], form[3]);
            long pairs = (form[2] == 0 ? form[3] : form[2]) / 2;
            Rope op = new Rope(interleaved, form[2], form[1]);
            String name = "rope of " + form[1] + " of " + form[0] + " rows, " + pairs + " pairs "
                    + (interleaved ? "of neighbours " : "") + type;
            cases.add(OpCase.close(name, op, x, angles(type, 7, 1, pairs), angles(type, 2, 7, 1, pairs)));
            if (type.accumulator() != type) {
                NdArray cos = angles(DType.F32, 7, 1, pairs);
                cases.add(OpCase.close(name + ", angles f32", op, x, cos, angles(DType.F32, 7, form[1], pairs)));
            }
        }
    }

    /** Three sequences, the second without queries, a token of none; keys in one piece, then in pages out of order. */
    private void ragged() {
        NdArray offsets = NdArray.of(TensorType.of(DType.I32, 4), 0L, 3L, 3L, 5L);
        NdArray keyOffsets = NdArray.of(TensorType.of(DType.I32, 4), 1L, 5L, 8L, 10L);
        NdArray lengths = NdArray.of(TensorType.of(DType.I32, 3), 5L, 0L, 2L);
        NdArray pages = NdArray.of(TensorType.of(DType.I32, 3, 2), 3L, 0L, -1L, 99L, 1L, -1L);
        for (DType type : OpCases.FLOATS) {
            NdArray q = random.array(type, 6, 4, 8);
            NdArray slopes = random.floats(DType.F32, -0.5, 0.5, 4);
            for (boolean causal : new boolean[] {false, true}) {
                String name = "ragged_attention " + type + (causal ? " causal" : "");
                NdArray k = random.array(type, 11, 2, 8);
                RaggedAttention plain = new RaggedAttention(causal, 0, Double.NaN, 0, false, false, 0);
                cases.add(OpCase.sums(name, 16, plain, q, k, random.array(type, 11, 2, 5), offsets, keyOffsets));
                NdArray cache = random.array(type, 4, 4, 2, 8);
                RaggedAttention paged = new RaggedAttention(causal, 2, 0.5, 4, true, true, 3);
                cases.add(OpCase.sums(name + " paged", 16, paged, q, cache, cache, offsets, lengths, pages, slopes));
            }
        }
        NdArray none = NdArray.of(TensorType.of(DType.I32, 1), 0L);
        NdArray q = random.array(DType.F32, 2, 1, 4);
        RaggedAttention op = new RaggedAttention(false, 0, 1, 0, false, false, 0);
        cases.add(OpCase.exact("ragged_attention no sequences", op, q, q, q, none, none));
    }

    /** Tokens of a cache of three pages of four: across pages, the same place twice, from the end, none. */
    private void appended() {
        for (DType type : OpCases.FLOATS) {
            NdArray keys = random.array(type, 3, 4, 2, 6);
            NdArray values = random.array(type, 3, 4, 2, 5);
            for (long[] places : new long[][] {{0, 4, 11, 3}, {5, 5, -1}, {}}) {
                NdArray at = NdArray.of(TensorType.of(DType.I64, places.length), places);
                NdArray k = random.array(type, places.length, 2, 6);
                NdArray v = random.array(type, places.length, 2, 5);
                String name = "kv_append " + type + " of " + places.length;
                cases.add(OpCase.close(name, new KvAppend(false, false), keys, values, k, v, at));
                NdArray cos = angles(type, places.length, 1, 3);
                NdArray sin = angles(type, places.length, 1, 3);
                NdArray narrow = NdArray.of(TensorType.of(DType.I32, places.length), places);
                for (boolean pairs : new boolean[] {false, true}) {
                    KvAppend op = new KvAppend(true, pairs);
                    cases.add(OpCase.close(name + " rotated" + pairs, op, keys, values, k, v, narrow, cos, sin));
                }
            }
        }
    }

    private NdArray angles(DType type, long... sizes) {
        return random.floats(type, -1, 1, sizes);
    }
}
