// Double precision: division, square root, fused multiply-add and the library's exp, log, sin
// and pow, which the compiler expands to polynomials, table look-ups and conversions.
// Large arguments of sin take a slow path that uses local memory.
extern "C" __global__ void double_math(const double *in, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double x = in[i];
    double *o = out + 8 * i;
    o[0] = 1.0 / x;
    o[1] = sqrt(x);
    o[2] = fma(x, x, -1.0);
    o[3] = exp(-x * 0.01);
    o[4] = log(x);
    o[5] = sin(x);
    o[6] = pow(x, 0.3);
    o[7] = floor(x) + fmin(x, 3.0);
}
