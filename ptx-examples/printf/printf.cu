// Formatted output. Conversions with width, precision, 64-bit values, strings and characters.
#ifndef __CUDACC_RTC__ // NVRTC knows printf without the header
#include <cstdio>
#endif

extern "C" __global__ void hello(int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        printf("block %d thread %d: %5.2f %s\n", blockIdx.x, threadIdx.x, i * 0.25, i % 2 ? "odd" : "even");
}

extern "C" __global__ void conversions(long long big, double x)
{
    printf("%d %u %x %X %o %c %%\n", -1, 4000000000u, 48879, 48879, 8, 'z');
    printf("[%6d] [%-6d] [%06d] [%+d] [%.3s]\n", 42, 42, 42, 42, "abcdef");
    printf("%lld %llx %f %e %g %8.3f\n", big, big, x, x, x, x);
    printf("no arguments\n");
}
