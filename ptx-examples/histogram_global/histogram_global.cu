// Histogram with one atomic per byte in global memory.
extern "C" __global__ void histogram_global(const unsigned char *in, unsigned *bins, unsigned n)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1u);
}
