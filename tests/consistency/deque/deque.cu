// A work-stealing deque after Chase and Lev, with the orders of Lê, Pop, Cohen and Nardelli (2013). Thread 0 of block 0 owns it:
// it pushes the items 1 to `items` and takes until the deque is empty. The threads of the other blocks each try once to steal.
// `taken[k]` counts how often item k was taken: once each, and never item 0, which nobody pushed.
#include "../order.h"

struct Deque {
    int top, bottom;
    unsigned items[6];
};
constexpr unsigned NONE = ~0u;

template <cuda::thread_scope S> using number = cuda::atomic_ref<int, S>;
constexpr memory_order strongest = cuda::memory_order_seq_cst;
constexpr memory_order both = cuda::memory_order_acq_rel;

// What the fence of a push is, and those of a take and of a steal; what reads `bottom` in a steal; for whom all of it is.
template <bool PUSH, memory_order TAKE, memory_order STEAL, memory_order LOOK, cuda::thread_scope S> struct On {
    static __device__ void push(Deque *d, unsigned item)
    {
        number<S> bottom(d->bottom);
        int b = bottom.load(relaxed);
        d->items[b] = item;
        if (PUSH)
            cuda::atomic_thread_fence(release, S);
        bottom.store(b + 1, relaxed);
    }

    static __device__ unsigned take(Deque *d)
    {
        number<S> top(d->top), bottom(d->bottom);
        int b = bottom.load(relaxed) - 1;
        bottom.store(b, relaxed);
        cuda::atomic_thread_fence(TAKE, S);
        int t = top.load(relaxed);
        unsigned item = NONE;
        if (t <= b) {
            item = d->items[b];
            if (t < b)
                return item;
            if (!top.compare_exchange_strong(t, t + 1, relaxed, relaxed))
                item = NONE;
        }
        bottom.store(b + 1, relaxed);
        return item;
    }

    static __device__ unsigned steal(Deque *d)
    {
        number<S> top(d->top), bottom(d->bottom);
        int t = top.load(acquire);
        cuda::atomic_thread_fence(STEAL, S);
        int b = bottom.load(LOOK);
        if (t >= b)
            return NONE;
        unsigned item = d->items[t];
        return top.compare_exchange_strong(t, t + 1, relaxed, relaxed) ? item : NONE;
    }

    static __device__ void run(Deque *d, unsigned items, unsigned *taken)
    {
        if (blockIdx.x == 0) {
            if (threadIdx.x != 0)
                return;
            for (unsigned k = 1; k <= items; k++)
                push(d, k);
            for (unsigned item; (item = take(d)) != NONE;)
                atomicAdd(&taken[item], 1);
        } else {
            unsigned item = steal(d);
            if (item != NONE)
                atomicAdd(&taken[item], 1);
        }
    }
};

#define KERNEL(name, push, take, steal, look, scope) \
    extern "C" __global__ void name(Deque *d, unsigned items, unsigned *taken) { On<push, take, steal, look, scope>::run(d, items, taken); }

KERNEL(deque, true, strongest, strongest, acquire, device)
KERNEL(deque_no_push_fence, false, strongest, strongest, acquire, device)
KERNEL(deque_weak_take_fence, true, both, strongest, acquire, device)
KERNEL(deque_weak_steal_fence, true, strongest, both, acquire, device)
KERNEL(deque_relaxed_look, true, strongest, strongest, relaxed, device)
KERNEL(deque_block_scope, true, strongest, strongest, acquire, block)
