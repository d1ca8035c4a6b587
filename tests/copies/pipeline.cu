// Pipelines of libcu++: `nvcc -ptx -arch=sm_80 -std=c++17` of CUDA 13.5 made pipeline.ptx of it.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

// Each thread has a pipeline of its own, two stages deep.
__global__ void twice(float* out, const float* in, int rounds) {
    __shared__ alignas(16) float tile[2][64];
    auto pipe = cuda::make_pipeline();
    int t = threadIdx.x;
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[0][t], in + t, sizeof(float), pipe);
    pipe.producer_commit();
    float sum = 0;
    for (int r = 0; r < rounds; r++) {
        if (r + 1 < rounds) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[(r + 1) % 2][t], in + (r + 1) * 64 + t, sizeof(float), pipe);
            pipe.producer_commit();
            cuda::pipeline_consumer_wait_prior<1>(pipe);
        } else {
            cuda::pipeline_consumer_wait_prior<0>(pipe);
        }
        __syncthreads();
        sum += tile[r % 2][63 - t];
        pipe.consumer_release();
        __syncthreads();
    }
    out[t] = sum;
}

// The threads of a block share a pipeline of four stages.
__global__ void stages(float* out, const float* in, int rounds) {
    constexpr int deep = 4;
    __shared__ alignas(16) float tile[deep][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, deep> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int t = threadIdx.x, ahead = 0;
    float sum = 0;
    for (int r = 0; r < rounds; r++) {
        for (; ahead < rounds && ahead < r + deep; ahead++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tile[ahead % deep], in + ahead * 128, cuda::aligned_size_t<16>(128 * sizeof(float)), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += tile[r % deep][127 - t] * (r + 1);
        pipe.consumer_release();
    }
    out[t] = sum;
}

// One warp produces, the others consume.
__global__ void roles(float* out, const float* in, int rounds) {
    constexpr int deep = 2;
    __shared__ alignas(16) float tile[deep][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, deep> state;
    auto block = cg::this_thread_block();
    auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    if (role == cuda::pipeline_role::producer) {
        for (int r = 0; r < rounds; r++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[r % deep][threadIdx.x * 2], in + r * 64 + threadIdx.x * 2, cuda::aligned_size_t<8>(8), pipe);
            pipe.producer_commit();
        }
    } else {
        int t = threadIdx.x - 32;
        float sum = 0;
        for (int r = 0; r < rounds; r++) {
            pipe.consumer_wait();
            sum += tile[r % deep][63 - t];
            pipe.consumer_release();
        }
        out[t] = sum;
    }
}

// Double buffering with a `cuda::barrier` for each buffer.
__global__ void barriers(float* out, const float* in, int rounds) {
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(16) float tile[2][64];
    __shared__ barrier full[2];
    auto block = cg::this_thread_block();
    if (threadIdx.x == 0) { init(&full[0], blockDim.x); init(&full[1], blockDim.x); }
    __syncthreads();
    int t = threadIdx.x;
    cuda::memcpy_async(block, tile[0], in, sizeof(tile[0]), full[0]);
    float sum = 0;
    for (int r = 0; r < rounds; r++) {
        if (r + 1 < rounds) cuda::memcpy_async(block, tile[(r + 1) % 2], in + (r + 1) * 64, sizeof(tile[0]), full[(r + 1) % 2]);
        full[r % 2].arrive_and_wait();
        sum += tile[r % 2][63 - t] * (r + 1);
        __syncthreads();
    }
    out[t] = sum;
}
