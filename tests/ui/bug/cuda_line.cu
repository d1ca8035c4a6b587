// The source that cuda_line.ptx names.
__global__ void k(unsigned *out) {
    out[1000] = 1;
}
