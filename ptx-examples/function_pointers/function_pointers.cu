// Calls through a table of function addresses. In `same` all threads call one function, in
// `each` the lanes of a warp call different ones.
typedef int (*Op)(int, int);

__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int sub(int a, int b) { return a - b; }
__device__ __noinline__ int mul(int a, int b) { return a * b; }
__device__ __noinline__ int power(int a, int b)
{
    int r = 1;
    for (int i = 0; i < b; i++)
        r *= a;
    return r;
}

__device__ Op table[4] = {add, sub, mul, power};

extern "C" __global__ void same(int *out, int which, int b)
{
    out[threadIdx.x] = table[which](threadIdx.x, b);
}

extern "C" __global__ void each(int *out, int b)
{
    out[threadIdx.x] = table[threadIdx.x % 4](threadIdx.x, b);
}
