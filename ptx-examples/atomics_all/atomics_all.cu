// Every atomic operation, on 32 and 64 bits, on global and shared memory and with other scopes.
// Each result is the same for every order of the threads.
typedef unsigned long long u64;

__device__ double add_double(double *p, double x)
{
#if __CUDA_ARCH__ >= 600
    return atomicAdd(p, x);
#else // a loop of compare-and-swap on the bits
    u64 *q = (u64 *)p, old = atomicAdd(q, 0ull), seen;
    do {
        seen = old;
        old = atomicCAS(q, seen, (u64)__double_as_longlong(x + __longlong_as_double((long long)seen)));
    } while (old != seen);
    return __longlong_as_double((long long)old);
#endif
}

extern "C" __global__ void atomics_all(int *s, unsigned *u, u64 *l, float *f, double *d, unsigned *tickets, unsigned *sums,
                                       unsigned *last)
{
    __shared__ int part;
    __shared__ u64 wide;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) {
        part = 0;
        wide = 0;
    }
    __syncthreads();

    atomicAdd(&s[0], i);
    atomicSub(&s[1], 3);
    atomicMin(&s[2], -i);
    atomicMax(&s[3], i * 7 % 101);
    atomicMin(&u[0], 1000u - i);
    atomicMax(&u[1], (unsigned)i);
    atomicAnd(&u[2], ~(1u << (i % 32)));
    atomicOr(&u[3], 1u << (i % 29));
    atomicXor(&u[4], 0x01010101u * i);
    atomicInc(&u[5], 99u);
    atomicDec(&u[6], 49u);
    tickets[atomicAdd(&u[7], 1u)] = 1;                // every ticket is drawn once
    atomicAdd(&sums[0], atomicExch(last, (unsigned)i)); // what was swapped out; `finish` adds the rest
    if (atomicCAS(&u[8], 0u, 77u) == 0)               // one thread wins
        atomicAdd(&sums[1], 1u);
    atomicAdd(&l[0], (u64)i << 32);
    atomicMin(&l[1], ~(u64)i);
    atomicMax(&l[2], (u64)i * 0x100000001ull);
    atomicAnd(&l[3], ~(1ull << (i % 64)));
    atomicOr(&l[4], 1ull << (i % 61));
    atomicXor(&l[5], (u64)i * i * i * i);
    atomicAdd(&f[0], 0.5f);
    add_double(&d[0], i * 0.25);

    u64 seen, old = atomicAdd(&l[6], 0ull); // a modular product by compare-and-swap
    do {
        seen = old;
        old = atomicCAS(&l[6], seen, seen * (2 * (u64)i + 1));
    } while (old != seen);

    atomicAdd(&part, i);
    atomicOr(&wide, 1ull << (threadIdx.x % 64));
#if __CUDA_ARCH__ >= 600
    atomicAdd_block(&part, 1);
    atomicAdd_system(&s[4], 1);
#else
    atomicAdd(&part, 1);
    atomicAdd(&s[4], 1);
#endif
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&s[5], part);
        atomicXor(&l[7], wide + blockIdx.x);
    }
}

extern "C" __global__ void finish(unsigned *sums, unsigned *last)
{
    sums[0] += atomicExch(last, 0u);
}
