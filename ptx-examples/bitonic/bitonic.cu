// Bitonic sort of one block's keys in shared memory: every compare-exchange step is followed
// by a barrier, and which thread of a pair works alternates.
extern "C" __global__ void bitonic(unsigned *keys)
{
    __shared__ unsigned s[512];
    unsigned t = threadIdx.x;
    unsigned *mine = keys + blockIdx.x * blockDim.x;
    s[t] = mine[t];
    __syncthreads();
    for (unsigned size = 2; size <= blockDim.x; size *= 2)
        for (unsigned step = size / 2; step > 0; step /= 2) {
            unsigned other = t ^ step;
            if (other > t) {
                bool up = (t & size) == 0;
                unsigned a = s[t], b = s[other];
                if ((a > b) == up) {
                    s[t] = b;
                    s[other] = a;
                }
            }
            __syncthreads();
        }
    mine[t] = s[t];
}
