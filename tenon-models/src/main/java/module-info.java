/** Tokenizers and encoders. */
module dev.tenon.models {
    requires static org.jspecify;

    exports dev.tenon.models.tokenizer;
}
