// Sparse matrix times vector (compressed rows), twice: one thread per row, whose loop lengths
// differ inside a warp, and one warp per row with a shuffle sum.
extern "C" __global__ void spmv_scalar(int rows, const int *ptr, const int *col, const float *val, const float *x, float *y)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float sum = 0.0f;
        for (int i = ptr[r]; i < ptr[r + 1]; i++)
            sum += val[i] * x[col[i]];
        y[r] = sum;
    }
}

extern "C" __global__ void spmv_vector(int rows, const int *ptr, const int *col, const float *val, const float *x, float *y)
{
    int lane = threadIdx.x % 32;
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (r >= rows)
        return;
    float sum = 0.0f;
    for (int i = ptr[r] + lane; i < ptr[r + 1]; i += 32)
        sum += val[i] * x[col[i]];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0)
        y[r] = sum;
}
