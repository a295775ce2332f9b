package dev.tenon.formats.onnx;

import dev.tenon.core.error.ImportException;
import dev.tenon.formats.onnx.schema.AttributeProto;
import dev.tenon.formats.onnx.schema.FunctionProto;
import dev.tenon.formats.onnx.schema.OpsetProto;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What is true of all nodes of the model, or of one call of a function: operator sets, the attributes of the call, the
 * calls around it.
 *
 * @param prefix stands before the names of nodes, so that messages tell one call from another
 */
record ModelScope(
        Map<String, Long> opsets, Map<String, AttributeProto> attributes, List<FunctionProto> calls, String prefix) {

    static Map<String, Long> opsets(String file, List<OpsetProto> imports) {
        Map<String, Long> opsets = new HashMap<>();
        for (OpsetProto opset : imports) {
            if (opset.version() < 1) {
                throw new ImportException(
                        file + ": operator set \"" + opset.domain() + "\" has the version " + opset.version());
            }
            opsets.merge(domain(opset.domain()), opset.version(), Math::max);
        }
        return opsets;
    }

    /** The default domain has two names. */
    static String domain(String domain) {
        return domain.equals("ai.onnx") ? "" : domain;
    }
}
