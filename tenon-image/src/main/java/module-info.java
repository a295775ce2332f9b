/** Pictures as inputs of models. */
module dev.tenon.image {
    requires transitive dev.tenon.core;
    requires java.desktop;
    requires static org.jspecify;

    exports dev.tenon.image;
}
