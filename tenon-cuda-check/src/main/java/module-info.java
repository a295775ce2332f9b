/** What checks the CUDA backend, on a GPU or emulated: kernel cases against float64, and what a backend promises. */
module dev.tenon.cuda.check {
    requires static org.jspecify;
    requires transitive dev.tenon.cuda;

    exports dev.tenon.cuda.check;
}
