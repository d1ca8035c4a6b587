// A spin lock that is looked at before it is taken by an exchange (test and test-and-set), around a plain counter.
// Every thread takes it once.
#include "../order.h"

template <memory_order TAKE, memory_order GIVE, cuda::thread_scope S>
__device__ void count(unsigned *lock, unsigned *counter, unsigned *seen)
{
    word<S> l(*lock);
    do {
        while (l.load(relaxed) != 0) {
        }
    } while (l.exchange(1, TAKE) != 0);
    unsigned n = *counter;
    *counter = n + 1;
    l.store(0, GIVE);
    seen[global_id()] = n;
}

#define KERNEL(name, take, give, scope) \
    extern "C" __global__ void name(unsigned *lock, unsigned *counter, unsigned *seen) { count<take, give, scope>(lock, counter, seen); }

KERNEL(ttaslock, acquire, release, device)
KERNEL(ttaslock_acq2rx, relaxed, release, device)
KERNEL(ttaslock_rel2rx, acquire, relaxed, device)
KERNEL(ttaslock_dv2wg, acquire, release, block)
