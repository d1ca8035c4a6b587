// A spin lock taken by compare-and-swap, around a plain counter. Every thread takes it once.
#include "../order.h"

template <memory_order TAKE, memory_order GIVE, cuda::thread_scope S>
__device__ void count(unsigned *lock, unsigned *counter, unsigned *seen)
{
    word<S> l(*lock);
    unsigned free = 0;
    while (!l.compare_exchange_strong(free, 1, TAKE, relaxed))
        free = 0;
    unsigned n = *counter;
    *counter = n + 1;
    l.store(0, GIVE);
    seen[global_id()] = n;
}

#define KERNEL(name, take, give, scope) \
    extern "C" __global__ void name(unsigned *lock, unsigned *counter, unsigned *seen) { count<take, give, scope>(lock, counter, seen); }

KERNEL(caslock, acquire, release, device)
KERNEL(caslock_acq2rx, relaxed, release, device)
KERNEL(caslock_rel2rx, acquire, relaxed, device)
KERNEL(caslock_dv2wg, acquire, release, block)
