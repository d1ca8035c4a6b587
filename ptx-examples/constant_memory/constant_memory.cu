// Constant memory with and without values in the source: a polynomial's coefficients, a table
// of structs and a double; the launch file overrides `scale` and `offset`.
struct Entry {
    short from;
    signed char shift;
    float factor;
};

__constant__ float poly[5] = {1.0f, -0.5f, 0.25f, -0.125f, 0.0625f};
__constant__ Entry entry[4] = {{1, 2, 0.5f}, {-3, 0, 4.0f}, {100, -1, -2.0f}, {0, 7, 1.0f}};
__constant__ int scale[3] = {1, 1, 1};
__constant__ double offset;

extern "C" __global__ void constant_memory(float *p, float *e, double *d)
{
    int t = threadIdx.x;
    float x = t * 0.125f, y = poly[4];
    for (int k = 3; k >= 0; k--)
        y = y * x + poly[k];
    p[t] = y;
    const Entry &it = entry[t % 4]; // a different address in each lane
    e[t] = (it.from + it.shift * t) * it.factor;
    d[t] = scale[t % 3] * t + offset;
}
