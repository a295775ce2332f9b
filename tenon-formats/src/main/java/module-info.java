/** Model files: ONNX, npy and safetensors readers. */
@SuppressWarnings("module") // dev.tenon.models, for which one package is, is compiled later
module dev.tenon.formats {
    requires static org.jspecify;
    requires transitive dev.tenon.core;

    exports dev.tenon.formats.onnx;
    exports dev.tenon.formats.npy;
    exports dev.tenon.formats.safetensors;
    exports dev.tenon.formats.json to
            dev.tenon.models;
}
