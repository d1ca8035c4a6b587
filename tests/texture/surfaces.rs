//! Surfaces: formatless loads and stores of every size under every boundary mode, formatted stores, reductions, every shape; and what one
//! launch wrote, read by the next one through a texture of the same memory.

use super::PTX;
use chacha20::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use warpstep::{Check, Element, Filter, Geometry, Kernel, MemoryModel, Surface, Texture};

/// A surface of two dimensions whose texels are read and written as elements of so many bytes.
const SIZE: [usize; 2] = [8, 5];

/// Coordinates inside, at the edges, beyond and far away, each with the size.
fn places(random: &mut ChaCha8Rng, columns: i32) -> Vec<[i32; 4]> {
    let rows = SIZE[1] as i32;
    let one = |random: &mut ChaCha8Rng, n: i32| match random.random_range(0..6) {
        0 => -1,
        1 => n,
        2 => [-1000, 1000, n - 1, 0][random.random_range(0..4)],
        _ => random.random_range(0..n),
    };
    (0..200).map(|_| [one(random, columns), one(random, rows), columns, rows]).collect()
}

/// Reads and writes elements of a type that has as many channels as a texel of the surface.
fn moves<T: Element>(suffix: &str, channels: u8, element: usize, one: impl Fn(u32) -> T) {
    let mut random = ChaCha8Rng::seed_from_u64(element as u64);
    let per = element / size_of::<T>();
    let row = SIZE[0] * usize::from(channels);
    let columns = row / per;
    let texels: Vec<T> = (0..row * SIZE[1]).map(|_| one(random.random())).collect();
    let size = [SIZE[0] as u32, SIZE[1] as u32, 1];
    let at = places(&mut random, columns as i32);
    let flat: Vec<i32> = at.iter().flatten().copied().collect();
    let count = at.len() as u32;
    let inside = |[x, y, w, h]: [i32; 4]| (0..w).contains(&x) && (0..h).contains(&y);
    let index = |x: i32, y: i32| y as usize * row + x as usize * per;

    let (mut held, mut out) = (texels.clone(), vec![T::zeroed(); at.len() * 3 * per]);
    let kernel = Kernel::from_ptx(PTX).unwrap().entry(&format!("read2d_{suffix}")).grid(count.div_ceil(64)).block(64);
    let surface = Surface::new(Geometry::D2, size, channels, &mut held);
    kernel
        .buffer("view", surface)
        .arg(&flat)
        .arg(&mut out)
        .arg(count)
        .run()
        .unwrap_or_else(|e| panic!("{suffix}: {e}"));
    for (k, place) in at.iter().enumerate() {
        let got = |n: usize| &out[(3 * k + n) * per..(3 * k + n + 1) * per];
        let [x, y, w, h] = *place;
        let nearest = index(x.clamp(0, w - 1), y.clamp(0, h - 1));
        let zeros = vec![T::zeroed(); per];
        let there = &texels[nearest..nearest + per];
        let same = |a: &[T], b: &[T]| bytemuck::cast_slice::<T, u8>(a) == bytemuck::cast_slice::<T, u8>(b);
        assert!(same(got(0), if inside(*place) { there } else { &zeros }), "{suffix} zero at {place:?}");
        assert!(same(got(1), there), "{suffix} clamp at {place:?}");
        assert!(same(got(2), if inside(*place) { there } else { &zeros }), "{suffix} trap at {place:?}");
    }

    // Each place is written once, so that no order matters.
    let mut once = at.clone();
    once.sort_unstable();
    once.dedup();
    let flat: Vec<i32> = once.iter().flatten().copied().collect();
    let new: Vec<T> = (0..once.len() * per).map(|_| one(random.random())).collect();
    let mut written = texels.clone();
    let mut want = texels;
    for (k, place) in once.iter().enumerate().filter(|(_, place)| inside(**place)) {
        let to = index(place[0], place[1]);
        want[to..to + per].copy_from_slice(&new[k * per..(k + 1) * per]);
    }
    let count = once.len() as u32;
    let kernel = Kernel::from_ptx(PTX).unwrap().entry(&format!("write2d_{suffix}")).grid(count.div_ceil(64)).block(64);
    let surface = Surface::new(Geometry::D2, size, channels, &mut written);
    kernel
        .buffer("view", surface)
        .arg(&flat)
        .arg(&new)
        .arg(count)
        .check(Check::Races)
        .run()
        .unwrap_or_else(|e| panic!("{suffix}: {e}"));
    assert!(bytemuck::cast_slice::<T, u8>(&written) == bytemuck::cast_slice::<T, u8>(&want), "{suffix}");
}

#[test]
fn elements_of_every_size_under_every_boundary_mode() {
    moves("b8", 1, 1, |bits| bits as u8);
    moves("b8", 4, 1, |bits| bits as u8);
    moves("v4b8", 4, 4, |bits| bits as u8);
    moves("v2b16", 2, 4, |bits| bits as u16);
    moves("b32", 1, 4, |bits| (bits % 1000) as f32);
    moves("v4b32", 4, 16, |bits| (bits % 1000) as f32);
    moves("v2b64", 4, 16, |bits| bits);
}

/// A kernel that numbers texels: its name, the shape, the size, the layers as they are given, and the arguments behind the surface.
type Numbered = (&'static str, Geometry, [u32; 3], u32, &'static [u32]);

#[test]
fn shapes_lie_row_by_row_slice_by_slice_layer_by_layer() {
    let shapes: [Numbered; 6] = [
        ("number1d", Geometry::D1, [40, 1, 1], 1, &[]),
        ("number3d", Geometry::D3, [4, 3, 2], 1, &[4, 3]),
        ("numbera1d", Geometry::A1, [5, 1, 1], 4, &[5]),
        ("numbera2d", Geometry::A2, [4, 3, 1], 3, &[4, 3]),
        ("numbercube", Geometry::Cube, [3, 3, 1], 1, &[3]),
        ("numberacube", Geometry::ACube, [2, 2, 1], 2, &[2]),
    ];
    for (entry, geometry, size, layers, args) in shapes {
        let faces = if entry.contains("cube") { 6 } else { 1 };
        let count = size.iter().product::<u32>() * layers * faces;
        for memory in ["flat", "fermi", "rsp", "lsc-mutex", "slsc"] {
            let mut texels = vec![u32::MAX; count as usize];
            let surface = Surface::new(geometry, size, 1, &mut texels).layers(layers);
            let mut kernel = Kernel::from_ptx(PTX).unwrap().entry(entry).grid(count.div_ceil(32)).block(32);
            kernel = kernel.memory(MemoryModel::preset(memory).unwrap()).buffer("view", surface);
            for arg in args {
                kernel = kernel.arg(*arg);
            }
            kernel.arg(count).run().unwrap_or_else(|e| panic!("{entry} on {memory}: {e}"));
            assert!(texels.iter().copied().eq(0..count), "{entry} on {memory}: {texels:?}");
        }
    }
}

#[test]
fn a_texture_sees_what_an_earlier_launch_wrote() {
    let texels: Vec<u8> = (0..4 * 6 * 5).map(|n| (n * 7 % 256) as u8).collect();
    let mut out = vec![0u8; texels.len()];
    for (from, round) in [(texels.clone(), 0), (Vec::new(), 1)] {
        let from = if round == 0 { from } else { out.clone() };
        let texture = Texture::new(Geometry::D2, [6, 5, 1], 4, &from);
        let surface = Surface::new(Geometry::D2, [6, 5, 1], 4, &mut out);
        let kernel = Kernel::from_ptx(PTX).unwrap().entry("invert").block((8, 8));
        kernel.buffer("from", texture).buffer("to", surface).arg(6u32).arg(5u32).check(Check::Races).run().unwrap();
    }
    assert_eq!(out, texels);
}

#[test]
fn a_proof_steps_where_texels_are_read_and_nowhere_else() {
    // Two blocks that each read the four texels around a place: as many steps as for four loads.
    let fetch = "tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f1, %f1}];";
    let loads = "ld.global.f32 %f2, [%rd1];\n".repeat(4);
    let texels: Vec<f32> = (0..16u8).map(f32::from).collect();
    let [fetched, loaded] = [fetch, &loads].map(|body| {
        let text = ptx(&format!("mov.f32 %f1, 0f40000000;\n{body}"));
        let kernel = Kernel::from_ptx(&text).unwrap().grid(2);
        let kernel = if body == fetch {
            kernel.arg(Texture::new(Geometry::D2, [4, 4, 1], 1, &texels).filter(Filter::Linear))
        } else {
            kernel.arg(&texels)
        };
        let proof = kernel.prove().unwrap();
        assert_eq!(proof.holds, Some(true));
        proof.states
    });
    assert_eq!(fetched, loaded);
}

/// A kernel in which each thread does one thing to a surface.
fn ptx(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 s)\n{{\n.reg .b32 %r<8>;\n.reg .f32 %f<8>;\n\
         .reg .b64 %rd<4>;\nld.param.u64 %rd1, [s];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\n{body}\nret;\n}}\n"
    )
}

#[test]
fn formatted_stores_convert() {
    let store = |words: &str| ptx(&format!("{words}\nsust.p.1d.v4.b32.trap [%rd1, {{%r1}}], {{%r3, %r4, %r5, %r6}};"));
    let integers = store("mov.u32 %r3, 300;\nmov.u32 %r4, -5;\nmov.u32 %r5, 7;\nmov.u32 %r6, %r1;");
    let mut bytes = [9u8; 8];
    Kernel::from_ptx(&integers)
        .unwrap()
        .block(2)
        .arg(Surface::new(Geometry::D1, [2, 1, 1], 4, &mut bytes))
        .run()
        .unwrap();
    assert_eq!(bytes, [255, 255, 7, 0, 255, 255, 7, 1]);
    let mut signed = [9i16; 4];
    Kernel::from_ptx(&integers)
        .unwrap()
        .block(2)
        .arg(Surface::new(Geometry::D1, [2, 1, 1], 2, &mut signed))
        .run()
        .unwrap();
    assert_eq!(signed, [300, -5, 300, -5]);
    let floats =
        store("mov.f32 %f1, 0f3fc00000;\nmov.b32 %r3, %f1;\nmov.b32 %r4, %f1;\nmov.b32 %r5, %f1;\nmov.b32 %r6, %f1;");
    let mut halves = [half::f16::ZERO; 4];
    Kernel::from_ptx(&floats)
        .unwrap()
        .block(4)
        .arg(Surface::new(Geometry::D1, [4, 1, 1], 1, &mut halves))
        .run()
        .unwrap();
    assert_eq!(halves, [half::f16::from_f32(1.5); 4]);
    let mut singles = [0f32; 4];
    Kernel::from_ptx(&floats)
        .unwrap()
        .block(1)
        .arg(Surface::new(Geometry::D1, [1, 1, 1], 4, &mut singles))
        .run()
        .unwrap();
    assert_eq!(singles, [1.5; 4]);
}

#[test]
fn reductions_are_atomic_and_know_signs() {
    let reduce = |op: &str| ptx(&format!("sub.u32 %r3, %r1, 16;\nsured.{op}.trap [%rd1, {{%r2}}], %r3;"));
    for (op, unsigned, signed) in [
        ("b.add.1d.u32", 496u32.wrapping_sub(512), -16),
        ("b.min.1d.u32", 0, 0),
        ("b.max.1d.s32", 15, 15),
        ("p.min.1d.b32", 0, -16),
        ("p.max.1d.b32", u32::MAX, 15),
        ("p.add.1d.b32", 496u32.wrapping_sub(512), -16),
        ("b.or.1d.b32", u32::MAX, -1),
    ] {
        let text = reduce(op);
        let kernel = || Kernel::from_ptx(&text).unwrap().block(32).check(Check::Races);
        let (mut u, mut s) = ([0u32], [0i32]);
        kernel().arg(Surface::new(Geometry::D1, [1, 1, 1], 1, &mut u)).run().unwrap_or_else(|e| panic!("{op}: {e}"));
        kernel().arg(Surface::new(Geometry::D1, [1, 1, 1], 1, &mut s)).run().unwrap_or_else(|e| panic!("{op}: {e}"));
        assert_eq!((u[0], s[0]), (unsigned, signed), "{op}");
    }
}

#[test]
fn a_proof_goes_through_surfaces() {
    // Two threads count in one texel: with a reduction always 2, with a load and a store not.
    let right = ptx("mov.u32 %r3, 1;\nsured.b.add.1d.u32.trap [%rd1, {%r2}], %r3;");
    let wrong =
        ptx("suld.b.1d.b32.trap %r3, [%rd1, {%r2}];\nadd.u32 %r3, %r3, 1;\nsust.b.1d.b32.trap [%rd1, {%r2}], %r3;");
    for (text, holds) in [(right, true), (wrong, false)] {
        let mut counter = [0u32];
        let kernel = Kernel::from_ptx(&text).unwrap().grid(2);
        let proof = kernel.arg(Surface::new(Geometry::D1, [1, 1, 1], 1, &mut counter)).expect(&[2u32]).prove().unwrap();
        assert_eq!(proof.holds, Some(holds));
    }
}
