// A ticket lock around a plain counter: a thread draws the next number and waits until it is served. Every thread takes it once.
#include "../order.h"

struct Tickets {
    unsigned next, served;
};

template <memory_order TAKE, memory_order GIVE, cuda::thread_scope S>
__device__ void count(Tickets *lock, unsigned *counter, unsigned *seen)
{
    word<S> next(lock->next), served(lock->served);
    unsigned mine = next.fetch_add(1, relaxed);
    while (served.load(TAKE) != mine) {
    }
    unsigned n = *counter;
    *counter = n + 1;
    served.fetch_add(1, GIVE);
    seen[global_id()] = n;
}

#define KERNEL(name, take, give, scope) \
    extern "C" __global__ void name(Tickets *lock, unsigned *counter, unsigned *seen) { count<take, give, scope>(lock, counter, seen); }

KERNEL(ticketlock, acquire, release, device)
KERNEL(ticketlock_acq2rx, relaxed, release, device)
KERNEL(ticketlock_rel2rx, acquire, relaxed, device)
KERNEL(ticketlock_dv2wg, acquire, release, block)
