// Recursive calls with a different depth in each thread, and two functions that call each other.
__device__ __noinline__ int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__device__ int odd(int n);
__device__ __noinline__ int even(int n)
{
    return n == 0 ? 1 : odd(n - 1);
}
__device__ __noinline__ int odd(int n)
{
    return n == 0 ? 0 : even(n - 1);
}

__device__ __noinline__ int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recursion(int *f, int *e, int *a)
{
    int t = threadIdx.x;
    f[t] = fib(t % 13);
    e[t] = even(t);
    if (t < 9)
        a[t] = ackermann(t / 3, t % 3);
}
