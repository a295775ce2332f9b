package dev.tenon.core.build;

import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.ConvTranspose;

/** What the words for convolutions share. */
final class ContractionWords {
    private ContractionWords() {}

    static Value conv(OpBuilder g, ConvOptions options, Value... operands) {
        String op = "conv";
        Words.option(op, "options", options);
        int spatial = spatial(op, operands[0]);
        if (!options.outputPadding().isEmpty()) {
            throw Words.shape(
                    op,
                    operands[0],
                    "output padding " + options.outputPadding() + " is of transposed convolutions; expected none");
        }
        return g.add(
                Words.named(
                        op,
                        () -> new Conv(
                                Words.each(op, "strides", options.strides(), spatial, 1),
                                Words.each(op, "padding before", options.padsBefore(), spatial, 0),
                                Words.each(op, "padding after", options.padsAfter(), spatial, 0),
                                Words.each(op, "dilations", options.dilations(), spatial, 1),
                                options.groups(),
                                epilogue(operands))),
                operands);
    }

    static Value convTranspose(OpBuilder g, ConvOptions options, Value... operands) {
        String op = "conv_transpose";
        Words.option(op, "options", options);
        int spatial = spatial(op, operands[0]);
        return g.add(
                Words.named(
                        op,
                        () -> new ConvTranspose(
                                Words.each(op, "strides", options.strides(), spatial, 1),
                                Words.each(op, "padding before", options.padsBefore(), spatial, 0),
                                Words.each(op, "padding after", options.padsAfter(), spatial, 0),
                                Words.each(op, "dilations", options.dilations(), spatial, 1),
                                Words.each(op, "output padding", options.outputPadding(), spatial, 0),
                                options.groups(),
                                epilogue(operands))),
                operands);
    }

    private static Epilogue epilogue(Value... operands) {
        return operands.length > 2 ? Epilogue.NONE.withBias() : Epilogue.NONE;
    }

    /** Returns the number of axes after batch and channels, one at least. */
    static int spatial(String op, Value x) {
        int rank = Words.rank(op, x);
        if (rank < 3) {
            throw Words.shape(
                    op, x, "x " + x.shape() + " has rank " + rank + "; expected [batch, channels, spatial...]");
        }
        return rank - 2;
    }
}
