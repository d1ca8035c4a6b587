// A second file of a program, whose modules are linked by name.
extern "C" __global__ void twice(unsigned n, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * i;
}
