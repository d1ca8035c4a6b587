// Ten kernels of other kinds than the nine of kernels.cu: shuffles and block reductions, double precision, halves, atomic
// operations, blocks that wait for each other, a recursive function, several launches. What each is launched with, and how its
// results are checked: analysis/src/launch/bench/numbers.rs and integers.rs.
//
// more.ptx is what nvcc makes of this file: nvcc -ptx -arch=sm_80 -std=c++17 more.cu -o more.ptx

#include <cuda_fp16.h>

constexpr unsigned ALL_LANES = 0xffffffffu;
constexpr int BLOCK = 256;
constexpr int WARPS = BLOCK / 32;

__device__ int thread_of_grid() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int lane_of_warp() { return threadIdx.x % 32; }
__device__ int warp_of_block() { return threadIdx.x / 32; }

// The sum over the lanes of a warp, which every lane gets.
template <typename T> __device__ T warp_sum(T value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(ALL_LANES, value, distance);
  return value;
}

__device__ float warp_max(float value) {
  for (int distance = 16; distance > 0; distance /= 2)
    value = fmaxf(value, __shfl_xor_sync(ALL_LANES, value, distance));
  return value;
}

// The sum of the lanes up to each lane, with that lane.
__device__ unsigned warp_scan(unsigned value) {
  for (int distance = 1; distance < 32; distance *= 2) {
    unsigned other = __shfl_up_sync(ALL_LANES, value, distance);
    if (lane_of_warp() >= distance) value += other;
  }
  return value;
}

// The softmax of each row of a matrix, one warp a row.
extern "C" __global__ void softmax(const float* in, float* out, int rows, int columns) {
  int row = thread_of_grid() / 32;
  if (row >= rows) return;
  in += size_t(row) * columns;
  out += size_t(row) * columns;
  // The largest is subtracted, so that no power overflows.
  float largest = in[lane_of_warp()];
  for (int i = lane_of_warp(); i < columns; i += 32) largest = fmaxf(largest, in[i]);
  largest = warp_max(largest);
  float sum = 0.0f;
  for (int i = lane_of_warp(); i < columns; i += 32) {
    float power = expf(in[i] - largest);
    out[i] = power;
    sum += power;
  }
  float scale = 1.0f / warp_sum(sum);
  for (int i = lane_of_warp(); i < columns; i += 32) out[i] *= scale;
}

// The sum over the threads of a block, which every thread gets; `parts` has room for one number a warp.
__device__ float block_sum(float value, float* parts) {
  value = warp_sum(value);
  // What a sum before this one left there has been read by all.
  __syncthreads();
  if (lane_of_warp() == 0) parts[warp_of_block()] = value;
  __syncthreads();
  float sum = 0.0f;
  for (int warp = 0; warp < WARPS; warp++) sum += parts[warp];
  return sum;
}

// Layer normalisation of rows of 1024 numbers, one block a row: mean 0 and variance 1, then a gain and a bias for each column.
extern "C" __global__ void layernorm(const float* in, const float* gain, const float* bias, float* out) {
  constexpr int EACH = 4, COLUMNS = EACH * BLOCK;
  __shared__ float parts[WARPS];
  in += size_t(blockIdx.x) * COLUMNS;
  out += size_t(blockIdx.x) * COLUMNS;
  float x[EACH], sum = 0.0f, squares = 0.0f;
  for (int k = 0; k < EACH; k++) {
    x[k] = in[threadIdx.x + k * BLOCK];
    sum += x[k];
  }
  float mean = block_sum(sum, parts) / COLUMNS;
  for (int k = 0; k < EACH; k++) {
    x[k] -= mean;
    squares += x[k] * x[k];
  }
  float scale = rsqrtf(block_sum(squares, parts) / COLUMNS + 1e-5f);
  for (int k = 0; k < EACH; k++) {
    int column = threadIdx.x + k * BLOCK;
    out[column] = x[k] * scale * gain[column] + bias[column];
  }
}

__device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ float2 operator*(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

// Fourier transforms of 1024 complex numbers each, in place, one block a transform: five steps of radix 4 (Stockham), each from
// shared memory to registers and back. `roots` has exp(-2 pi i k / 1024) for each k.
extern "C" __global__ void fft(float2* data, const float2* roots) {
  constexpr int POINTS = 4 * BLOCK;
  __shared__ float2 points[POINTS];
  int t = threadIdx.x;
  data += size_t(blockIdx.x) * POINTS;
  for (int k = 0; k < 4; k++) points[t + k * BLOCK] = data[t + k * BLOCK];
  for (int done = 1; done < POINTS; done *= 4) {
    __syncthreads();
    // `done` points of the transforms made so far; this thread makes one of four times as many.
    int k = t % done, step = k * (BLOCK / done);
    float2 a = points[t], b = points[t + BLOCK] * roots[step];
    float2 c = points[t + 2 * BLOCK] * roots[2 * step], d = points[t + 3 * BLOCK] * roots[3 * step];
    float2 even = a + c, odd = a - c, sum = b + d, difference = b - d;
    float2 turned = make_float2(difference.y, -difference.x);
    int to = (t - k) * 4 + k;
    __syncthreads();
    points[to] = even + sum;
    points[to + done] = odd + turned;
    points[to + 2 * done] = even - sum;
    points[to + 3 * done] = odd - turned;
  }
  __syncthreads();
  for (int k = 0; k < 4; k++) data[t + k * BLOCK] = points[t + k * BLOCK];
}

// What a tile of the prefix sum has told: nothing, its own sum, or the sum of all tiles up to it.
enum : unsigned { NOTHING, OWN, PREFIX };

// The sum of all tiles before one (decoupled look-back), found by one warp: each lane waits for what one of the 32 tiles before
// tells; these are added up back to the nearest that knows the sum of all up to it.
__device__ unsigned sum_before(int tile, unsigned own, volatile unsigned* told, volatile unsigned* sums,
                               volatile unsigned* prefixes) {
  bool teller = lane_of_warp() == 0;
  if (teller) {
    sums[tile] = own;
    // Whoever sees that it is told sees the sum, too.
    __threadfence();
    told[tile] = OWN;
  }
  unsigned before = 0;
  for (int last = tile - 1;; last -= 32) {
    int other = last - lane_of_warp();
    // Nothing comes before the first tile.
    unsigned state = PREFIX;
    if (other >= 0) {
      do state = told[other];
      while (state == NOTHING);
    }
    __threadfence();
    unsigned known = __ballot_sync(ALL_LANES, state == PREFIX);
    int nearest = known ? __ffs(known) - 1 : 31;
    unsigned value = 0;
    if (lane_of_warp() <= nearest && other >= 0) value = state == PREFIX ? prefixes[other] : sums[other];
    before += warp_sum(value);
    if (known) break;
  }
  if (teller) {
    prefixes[tile] = before + own;
    __threadfence();
    told[tile] = PREFIX;
  }
  return before;
}

// The sum of all numbers up to each, in one launch. A block takes the next tile of 1024 numbers, so that the tiles before have
// blocks that run already: no block waits for one that has not begun.
extern "C" __global__ void scan(const uint4* in, uint4* out, int* next, unsigned* told, unsigned* sums,
                                unsigned* prefixes) {
  __shared__ int tile_of_block;
  __shared__ unsigned parts[WARPS], before;
  if (threadIdx.x == 0) tile_of_block = atomicAdd(next, 1);
  __syncthreads();
  int tile = tile_of_block, at = tile * BLOCK + threadIdx.x;
  uint4 v = in[at];
  v.y += v.x;
  v.z += v.y;
  v.w += v.z;
  unsigned up_to = warp_scan(v.w);
  if (lane_of_warp() == 31) parts[warp_of_block()] = up_to;
  __syncthreads();
  unsigned offset = up_to - v.w, own = 0;
  for (int warp = 0; warp < WARPS; warp++) {
    if (warp < warp_of_block()) offset += parts[warp];
    own += parts[warp];
  }
  if (warp_of_block() == 0) {
    unsigned sum = sum_before(tile, own, told, sums, prefixes);
    if (threadIdx.x == 0) before = sum;
  }
  __syncthreads();
  offset += before;
  out[at] = make_uint4(v.x + offset, v.y + offset, v.z + offset, v.w + offset);
}

constexpr unsigned FREE = 0xffffffffu;

// Where a key is looked for first: all its bits count.
__device__ unsigned hash(unsigned key) {
  key = (key ^ key >> 16) * 0x85ebca6bu;
  key = (key ^ key >> 13) * 0xc2b2ae35u;
  return key ^ key >> 16;
}

// Counts how often each key comes, in a table with open addressing: a key goes into the first slot that is free or has it.
extern "C" __global__ void hash_insert(const unsigned* in, unsigned* keys, unsigned* counts, unsigned mask) {
  unsigned key = in[thread_of_grid()];
  for (unsigned slot = hash(key) & mask;; slot = (slot + 1) & mask) {
    unsigned found = atomicCAS(&keys[slot], FREE, key);
    if (found == FREE || found == key) {
      atomicAdd(&counts[slot], 1);
      return;
    }
  }
}

// How often each of other keys came.
extern "C" __global__ void hash_lookup(const unsigned* in, const unsigned* keys, const unsigned* counts, unsigned* out,
                                       unsigned mask) {
  unsigned key = in[thread_of_grid()], count = 0;
  for (unsigned slot = hash(key) & mask; keys[slot] != FREE; slot = (slot + 1) & mask) {
    if (keys[slot] == key) {
      count = counts[slot];
      break;
    }
  }
  out[thread_of_grid()] = count;
}

// A sparse matrix times a vector, one warp a row. Row r has the entries from starts[r] to starts[r + 1] (CSR).
extern "C" __global__ void spmv(const int* starts, const int* columns, const float* values, const float* x, float* y,
                                int rows) {
  int row = thread_of_grid() / 32;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = starts[row] + lane_of_warp(); i < starts[row + 1]; i += 32) sum += values[i] * x[columns[i]];
  sum = warp_sum(sum);
  if (lane_of_warp() == 0) y[row] = sum;
}

// The cumulative normal distribution, within 7.5e-8 (Abramowitz and Stegun, 26.2.17).
__device__ double normal(double d) {
  double k = 1.0 / (1.0 + 0.2316419 * fabs(d));
  double powers = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
  double tail = 0.39894228040143268 * exp(-0.5 * d * d) * powers;
  return d > 0.0 ? 1.0 - tail : tail;
}

// Prices of European options (Black and Scholes), in double precision.
extern "C" __global__ void blackscholes(const double* prices, const double* strikes, const double* years, double* calls,
                                        double* puts, double rate, double volatility) {
  int i = thread_of_grid();
  double price = prices[i], strike = strikes[i], time = years[i];
  double deviation = volatility * sqrt(time);
  double d = (log(price / strike) + (rate + 0.5 * volatility * volatility) * time) / deviation;
  double up = normal(d), down = normal(d - deviation);
  double discounted = strike * exp(-rate * time);
  calls[i] = price * up - discounted * down;
  puts[i] = discounted * (1.0 - down) - price * (1.0 - up);
}

// One step of the heat equation on a torus of halves, two cells a thread. `width` counts pairs; both sizes are powers of two.
extern "C" __global__ void stencil(const __half2* in, __half2* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const __half2* row = in + y * width;
  __half2 here = row[x], left = row[(x - 1) & (width - 1)], right = row[(x + 1) & (width - 1)];
  __half2 above = in[((y - 1) & (height - 1)) * width + x], below = in[((y + 1) & (height - 1)) * width + x];
  // The neighbours to the west of the two cells, and those to the east: one of two pairs each.
  __half2 west = __halves2half2(__high2half(left), __low2half(here));
  __half2 east = __halves2half2(__high2half(here), __low2half(right));
  __half2 around = __hadd2(__hadd2(west, east), __hadd2(above, below));
  __half2 flow = __hfma2(__float2half2_rn(-4.0f), here, around);
  out[y * width + x] = __hfma2(__float2half2_rn(0.2f), flow, here);
}

// In how many ways queens can be placed in the rows that are left. All are sets of columns: the board, those that have a queen,
// and those that a queen above attacks on a diagonal to the left or to the right.
__noinline__ __device__ unsigned place(unsigned board, unsigned columns, unsigned left, unsigned right) {
  if (columns == board) return 1;
  unsigned ways = 0;
  for (unsigned free = board & ~(columns | left | right); free != 0; free &= free - 1) {
    unsigned queen = free & -free;
    ways += place(board, columns | queen, (left | queen) << 1, (right | queen) >> 1);
  }
  return ways;
}

// N queens on a board of n times n: each thread has one way to place the first four, whose columns are the digits of its number
// in base n, and counts the ways to place the others.
extern "C" __global__ void nqueens(unsigned* ways, int n, int starts) {
  int thread = thread_of_grid();
  if (thread >= starts) return;
  unsigned columns = 0, left = 0, right = 0;
  bool possible = true;
  for (int row = 0, rest = thread; row < 4; row++, rest /= n) {
    unsigned queen = 1u << rest % n;
    possible = possible && (queen & (columns | left | right)) == 0;
    columns |= queen;
    left = (left | queen) << 1;
    right = (right | queen) >> 1;
  }
  ways[thread] = possible ? place((1u << n) - 1, columns, left, right) : 0;
}

// A radix sort by four bits a pass: three launches a pass.
constexpr int DIGITS = 16;

__device__ unsigned digit_of(unsigned key, int shift) { return key >> shift & (DIGITS - 1); }

// How often each digit comes among the keys of a block; the blocks of a digit are neighbours in `counts`.
extern "C" __global__ void radix_count(const unsigned* keys, unsigned* counts, int shift) {
  __shared__ unsigned found[DIGITS];
  if (threadIdx.x < DIGITS) found[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&found[digit_of(keys[thread_of_grid()], shift)], 1);
  __syncthreads();
  if (threadIdx.x < DIGITS) counts[threadIdx.x * gridDim.x + blockIdx.x] = found[threadIdx.x];
}

// The sum of all counts before each, in place, by one block: each thread has a piece of the counts.
extern "C" __global__ void radix_scan(unsigned* counts, int n) {
  __shared__ unsigned parts[WARPS];
  int piece = (n + BLOCK - 1) / BLOCK, begin = min(n, int(threadIdx.x) * piece), end = min(n, begin + piece);
  unsigned own = 0;
  for (int i = begin; i < end; i++) own += counts[i];
  unsigned up_to = warp_scan(own);
  if (lane_of_warp() == 31) parts[warp_of_block()] = up_to;
  __syncthreads();
  unsigned sum = up_to - own;
  for (int warp = 0; warp < warp_of_block(); warp++) sum += parts[warp];
  for (int i = begin; i < end; i++) {
    unsigned count = counts[i];
    counts[i] = sum;
    sum += count;
  }
}

// Puts the keys of a block where those with smaller digits, and those with the same digit in blocks, warps and lanes before,
// leave room: keys with the same digit stay in order.
extern "C" __global__ void radix_scatter(const unsigned* in, unsigned* out, const unsigned* counts, int shift) {
  __shared__ unsigned places[WARPS][DIGITS];
  if (threadIdx.x < WARPS * DIGITS) places[threadIdx.x / DIGITS][threadIdx.x % DIGITS] = 0;
  unsigned key = in[thread_of_grid()], digit = digit_of(key, shift);
  // The lanes that have the same digit.
  unsigned same = ALL_LANES;
  for (int bit = 0; bit < 4; bit++) {
    bool set = digit >> bit & 1;
    unsigned with = __ballot_sync(ALL_LANES, set);
    same &= set ? with : ~with;
  }
  int rank = __popc(same & ((1u << lane_of_warp()) - 1));
  __syncthreads();
  if (rank == 0) places[warp_of_block()][digit] = __popc(same);
  __syncthreads();
  if (threadIdx.x < DIGITS) {
    unsigned place = counts[threadIdx.x * gridDim.x + blockIdx.x];
    for (int warp = 0; warp < WARPS; warp++) {
      unsigned count = places[warp][threadIdx.x];
      places[warp][threadIdx.x] = place;
      place += count;
    }
  }
  __syncthreads();
  out[places[warp_of_block()][digit] + rank] = key;
}
