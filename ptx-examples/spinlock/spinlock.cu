// A spin lock around plain reads and writes. Only one lane of each warp takes it, so no thread
// waits for another of its own warp and the loop ends on every model of divergence. The fences
// order the plain accesses with the lock's atomics.
extern "C" __global__ void spinlock(int *lock, int *counter, int *log)
{
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(lock, 0, 1) != 0)
            ;
        __threadfence();
        int n = *counter;
        log[n] = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
        *counter = n + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}
