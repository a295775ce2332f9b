/** Tokenizers and encoders. */
module dev.tenon.models {
    requires dev.tenon.core;
    requires dev.tenon.formats;
    requires static org.jspecify;

    exports dev.tenon.models.embedding;
    exports dev.tenon.models.serving;
    exports dev.tenon.models.tokenizer;
}
