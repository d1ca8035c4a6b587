// Iteration counts of the Mandelbrot set: threads of a warp leave the loop at different times.
// Compiled without contraction to fused multiply-adds, so that every operation is a plain
// IEEE one and the counts are exact.
extern "C" __global__ void mandelbrot(unsigned short *out, int w, int h, float x0, float y0, float step, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h)
        return;
    float cx = x0 + px * step, cy = y0 + py * step;
    float x = 0.0f, y = 0.0f;
    int n = 0;
    while (n < limit) {
        float xx = x * x, yy = y * y;
        if (xx + yy > 4.0f)
            break;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        n++;
    }
    out[py * w + px] = n;
}
