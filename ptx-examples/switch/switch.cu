// A small interpreter: each thread runs its own program of one-byte instructions, so a warp
// diverges at the switch, which the compiler turns into a tree of comparisons.
extern "C" __global__ void interpret(const unsigned char *code, int *out, int length)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int a = t, b = 1;
    for (int pc = 0; pc < length; pc++) {
        switch (code[t * length + pc]) {
        case 0: a += b; break;
        case 1: a -= 3 * b; break;
        case 2: b = a ^ (b << 1); break;
        case 3: a = a * 5 + 1; break;
        case 4: a = b & 0xff; b = 7; break;
        case 5: a ^= a >> 3; break;
        case 6: b = -b; break;
        case 7: a |= 1 << (b & 15); break;
        case 8: if (a > b) pc++; break;
        case 9: a = ~a + pc; break;
        case 10: b += pc * pc; break;
        default: a = 0;
        }
    }
    out[2 * t] = a;
    out[2 * t + 1] = b;
}
