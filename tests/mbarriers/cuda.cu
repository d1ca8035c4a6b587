// Barriers of libcu++ and of `cuda::ptx`: `nvcc -ptx -arch=sm_90 -std=c++17` of CUDA 13.5 made cuda.ptx of it.
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda/std/utility>
using barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void meet(int* out) {
    __shared__ barrier bar;
    __shared__ int left[64];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    for (int r = 0; r < 3; r++) {
        left[threadIdx.x] = r * 100 + threadIdx.x;
        auto token = bar.arrive();
        bar.wait(cuda::std::move(token));
        out[threadIdx.x] += left[blockDim.x - 1 - threadIdx.x];
        bar.arrive_and_wait();
    }
    if (threadIdx.x < 5) { bar.arrive_and_drop(); return; }
    bar.arrive_and_wait();
}
__global__ void warps(int* out) {
    using namespace cuda::ptx;
    __shared__ uint64_t full, empty;
    __shared__ int cell;
    if (threadIdx.x == 0) { mbarrier_init(&full, 1); mbarrier_init(&empty, 32); }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int r = 0; r < 4; r++) {
            if (threadIdx.x == 0) {
                while (!mbarrier_try_wait_parity(&empty, (r & 1) ^ 1)) {}
                cell = r + 1;
                mbarrier_arrive(&full);
            }
        }
    } else {
        int s = 0;
        for (int r = 0; r < 4; r++) {
            while (!mbarrier_test_wait_parity(&full, r & 1)) {}
            s += cell;
            mbarrier_arrive(sem_release, scope_cta, space_shared, &empty);
        }
        out[threadIdx.x - 32] = s;
    }
}
