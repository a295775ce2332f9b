/** What checks the CUDA backend, on a GPU or emulated: kernel cases against float64, and what a backend promises. */
@SuppressWarnings("module") // the modules named in qualified exports are compiled after this one
module dev.tenon.cuda.check {
    requires static org.jspecify;
    requires transitive dev.tenon.cuda;

    exports dev.tenon.cuda.check to
            dev.tenon.cli,
            dev.tenon.cuda.ptx,
            dev.tenon.emulator;
}
