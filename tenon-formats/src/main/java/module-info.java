/** Model files: ONNX and npy readers. */
module dev.tenon.formats {
    requires static org.jspecify;
    requires transitive dev.tenon.core;

    exports dev.tenon.formats.onnx;
    exports dev.tenon.formats.npy;
}
