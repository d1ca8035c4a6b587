// Two modules in one context: this source is compiled twice, once for each kernel. Both modules
// have a constant and a helper function of the same names; each kernel must use its own.
__constant__ int step = STEP;

__device__ __noinline__ int twist(int v)
{
    return v * STEP + step;
}

#if STEP == 3
extern "C" __global__ void first(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = twist(in[i]);
}
#else
extern "C" __global__ void second(int *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = twist(data[i]) - step;
}
#endif
