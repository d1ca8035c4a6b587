// Doubles the numbers of a buffer. Wrong: the guard lets the thread with number n pass.
extern "C" __global__ void scale(float *x, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n)
        return;
    x[i] = 2.0f * x[i];
}
