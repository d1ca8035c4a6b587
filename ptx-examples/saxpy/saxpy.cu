// saxpy with a grid-stride loop: any grid covers any n.
extern "C" __global__ void saxpy(unsigned n, float a, const float *x, float *y)
{
    unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        y[i] = a * x[i] + y[i];
}
