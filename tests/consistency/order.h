// What every kernel of this folder uses: an order or a scope is a template parameter, so that a variant is one line.
#pragma once
#include <cuda/atomic>

using cuda::memory_order;
constexpr memory_order relaxed = cuda::memory_order_relaxed;
constexpr memory_order acquire = cuda::memory_order_acquire;
constexpr memory_order release = cuda::memory_order_release;
constexpr cuda::thread_scope device = cuda::thread_scope_device;
constexpr cuda::thread_scope block = cuda::thread_scope_block;

template <cuda::thread_scope S> using word = cuda::atomic_ref<unsigned, S>;

__device__ inline unsigned global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }
