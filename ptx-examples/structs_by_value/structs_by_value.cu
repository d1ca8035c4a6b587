// Structs passed and returned by value: as a kernel parameter with padding, as a parameter and
// result of a function that is not inlined, and in arrays in memory.
struct Particle {
    char kind;
    int id;
    double mass;
    short cell[3];
};

struct Pair {
    float lo, hi;
};

__device__ __noinline__ Particle moved(Particle p, int by)
{
    p.id += by;
    p.mass *= 0.5;
    p.cell[by % 3] = (short)by;
    return p;
}

__device__ __noinline__ Pair ordered(Pair p)
{
    return p.lo <= p.hi ? p : Pair{p.hi, p.lo};
}

extern "C" __global__ void structs_by_value(Particle p, Particle *out, const Pair *in, Pair *pairs)
{
    int t = threadIdx.x;
    Particle q = moved(p, t);
    out[t].kind = q.kind + t % 2;
    out[t].id = q.id;
    out[t].mass = q.mass;
    for (int i = 0; i < 3; i++)
        out[t].cell[i] = q.cell[i];
    pairs[t] = ordered(in[t]);
}
