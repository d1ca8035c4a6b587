// Virtual functions: the objects hold addresses of tables in global memory, and the lanes of a
// warp call different bodies.
struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const { return 0; }
};
struct Square : Shape {
    float side;
    __device__ Square(float s) : side(s) {}
    __device__ float area() const override { return side * side; }
    __device__ int corners() const override { return 4; }
};
struct Disc : Shape {
    float radius;
    __device__ Disc(float r) : radius(r) {}
    __device__ float area() const override { return 3.0f * radius * radius; }
};
struct Triangle : Shape {
    float base, height;
    __device__ Triangle(float b, float h) : base(b), height(h) {}
    __device__ float area() const override { return 0.5f * base * height; }
    __device__ int corners() const override { return 3; }
};

extern "C" __global__ void virtual_calls(float *area, int *corners)
{
    int t = threadIdx.x;
    Square square(t);
    Disc disc(t);
    Triangle triangle(t, 2.0f);
    const Shape *shape;
    switch (t % 3) {
    case 0: shape = &square; break;
    case 1: shape = &disc; break;
    default: shape = &triangle;
    }
    area[t] = shape->area();
    corners[t] = shape->corners();
}
