//! Opaque variables: `.texref`, `.samplerref` and `.surfref` with their initialisers, in both texturing modes; pointers to them; results of
//! 16 bits; offsets.

use warpstep::{Address, Filter, Geometry, Kernel, Surface, Texture};

const ROW: [f32; 4] = [10.0, 20.0, 30.0, 40.0];

/// A kernel that gives four words for a coordinate, 1.25 of a row of four texels, or the normalised 1.25.
fn ptx(mode: &str, variables: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80{mode}\n.address_size 64\n{variables}\n.visible .entry k(.param .u64 out)\n{{\n.reg .b32 %r<8>;\n\
         .reg .f32 %f<8>;\n.reg .b64 %rd<4>;\n.reg .b16 %h<8>;\n.reg .pred %p<4>;\nld.param.u64 %rd1, [out];\nmov.f32 %f1, 0f3fa00000;\n\
         mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\n{body}\nst.global.v4.u32 [%rd1], {{%r1, %r2, %r3, %r4}};\nret;\n}}\n"
    )
}

fn row() -> Texture<'static> {
    Texture::new(Geometry::D1, [4, 1, 1], 1, &ROW)
}

fn run(text: &str, bind: impl for<'a> FnOnce(Kernel<'a>) -> Kernel<'a>) -> [u32; 4] {
    let mut out = [0u32; 4];
    let kernel = Kernel::from_ptx(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    bind(kernel.arg(&mut out)).run().unwrap_or_else(|e| panic!("{e}\n{text}"));
    out
}

/// The first value of a fetch, a float.
fn first(text: &str, bind: impl for<'a> FnOnce(Kernel<'a>) -> Kernel<'a>) -> f32 {
    f32::from_bits(run(text, bind)[0])
}

const FETCH: &str = "tex.1d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [picture, {%f1}];";

#[test]
fn an_initialiser_says_how_a_reference_is_read() {
    for (fields, value) in [
        ("", 20.0),
        (" = { filter_mode = linear }", 17.5),
        (" = { normalized_coords = 1, addr_mode_0 = wrap }", 20.0),
        (" = { normalized_coords = 1, addr_mode_0 = mirror }", 30.0),
        (" = { normalized_coords = 1, addr_mode_0 = clamp_to_edge }", 40.0),
        (" = { normalized_coords = 1, addr_mode_0 = clamp_to_border, filter_mode = nearest }", 0.0),
        (" = { normalized_coords = 1, addr_mode_0 = 4 }", 0.0),
        (" = { normalized_coords = 1, addr_mode_0 = clamp_ogl, filter_mode = linear }", 20.0),
    ] {
        let text = ptx("", &format!(".global .texref picture{fields};"), FETCH);
        assert_eq!(first(&text, |kernel| kernel.bind("picture", row())), value, "{fields}");
    }
}

#[test]
fn what_the_host_says_goes_before_the_initialiser() {
    let text = ptx("", ".global .texref picture = { filter_mode = nearest };", FETCH);
    assert_eq!(first(&text, |kernel| kernel.bind("picture", row().filter(Filter::Linear))), 17.5);
    let text = ptx("", ".global .texref picture = { addr_mode_0 = wrap };", FETCH);
    let bound = || row().normalised(true).address(Address::Clamp);
    assert_eq!(first(&text, |kernel| kernel.bind("picture", bound())), 40.0);
}

#[test]
fn samplers_are_named_apart_in_independent_mode() {
    let fetch = "tex.1d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [picture, how, {%f1}];";
    for (fields, normalised, value) in [
        ("filter_mode = linear", false, 17.5),
        ("addr_mode_0 = wrap", true, 20.0),
        ("addr_mode_0 = clamp_to_border", true, 0.0),
        ("addr_mode_0 = clamp_to_border, force_unnormalized_coords = 1", true, 20.0),
    ] {
        let variables = format!(".global .texref picture;\n.global .samplerref how = {{ {fields} }};");
        let text = ptx(", texmode_independent", &variables, fetch);
        let bound = || row().normalised(normalised);
        assert_eq!(first(&text, |kernel| kernel.bind("picture", bound())), value, "{fields}");
    }
    let asks = "txq.filter_mode.b32 %r1, [how];\ntxq.addr_mode_0.b32 %r2, [how];\ntxq.force_unnormalized_coords.b32 %r3, [how];";
    let how =
        ".global .samplerref how = { filter_mode = linear, addr_mode_0 = mirror, force_unnormalized_coords = 1 };";
    assert_eq!(run(&ptx(", texmode_independent", how, asks), |kernel| kernel), [1, 1, 1, 0]);
}

#[test]
fn pointers_to_references_are_handles() {
    let body = "mov.u64 %rd2, picture;\ntex.1d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd2, {%f1}];\nistypep.texref %p1, %rd2;\n\
                istypep.surfref %p2, %rd2;\nistypep.texref %p3, %rd1;\nselp.u32 %r2, 1, 0, %p1;\nselp.u32 %r3, 1, 0, %p2;\n\
                selp.u32 %r4, 1, 0, %p3;";
    let got = run(&ptx("", ".global .texref picture;", body), |kernel| kernel.bind("picture", row()));
    assert_eq!(got, [20f32.to_bits(), 1, 0, 0]);
}

#[test]
fn surfaces_are_bound_too() {
    let body = "mov.u32 %r5, 4;\nsuld.b.1d.b32.trap %r1, [view, {%r5}];\nadd.u32 %r6, %r1, 1;\n\
                sust.b.1d.b32.trap [view, %r5], %r6;\nsuq.width.b32 %r2, [view];";
    let mut texels = [7u32, 8, 9];
    let text = ptx("", ".global .surfref view;", body);
    let mut out = [0u32; 4];
    let surface = Surface::new(Geometry::D1, [3, 1, 1], 1, &mut texels);
    Kernel::from_ptx(&text).unwrap().arg(&mut out).bind("view", surface).run().unwrap();
    assert_eq!((out, texels), ([8, 3, 0, 0], [7, 9, 9]));
}

#[test]
fn results_of_16_bits() {
    let halves =
        "tex.1d.v4.f16.f32 {%h1, %h2, %h3, %h4}, [picture, {%f1}];\ncvt.u32.u16 %r1, %h1;\ncvt.u32.u16 %r4, %h4;";
    let pairs = "tex.1d.v2.f16x2.f32 {%r1, %r4}, [picture, {%f1}];";
    let reference = ".global .texref picture;";
    let twenty = 0x4d00;
    assert_eq!(run(&ptx("", reference, halves), |kernel| kernel.bind("picture", row())), [twenty, 0, 0, 0]);
    assert_eq!(run(&ptx("", reference, pairs), |kernel| kernel.bind("picture", row())), [twenty, 0, 0, 0]);
}

#[test]
fn offsets_count_texels() {
    let reference = ".global .texref picture;";
    for (offset, value) in [(-1, 10.0), (0, 20.0), (2, 40.0), (7, 40.0), (-8, 10.0)] {
        let fetch = format!("tex.1d.v4.f32.f32 {{%r1, %r2, %r3, %r4}}, [picture, {{%f1}}], {{{offset}}};");
        assert_eq!(first(&ptx("", reference, &fetch), |kernel| kernel.bind("picture", row())), value, "{offset}");
        let whole = format!("tex.level.1d.v4.f32.s32 {{%r1, %r2, %r3, %r4}}, [picture, {{1}}], 0, {{{offset}}};");
        assert_eq!(first(&ptx("", reference, &whole), |kernel| kernel.bind("picture", row())), value, "{offset}");
    }
}

#[test]
fn whole_numbers_of_levels_and_what_is_told_of_them() {
    const LEVELS: [f32; 7] = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0];
    let reference = ".global .texref picture;";
    let bound = || Texture::new(Geometry::D1, [4, 1, 1], 1, &LEVELS).levels(3).normalised(true);
    for (level, value) in [(-3, 20.0), (0, 20.0), (1, 60.0), (2, 70.0), (9, 70.0)] {
        let fetch = format!("tex.level.1d.v4.f32.s32 {{%r1, %r2, %r3, %r4}}, [picture, {{1}}], {level};");
        assert_eq!(first(&ptx("", reference, &fetch), |kernel| kernel.bind("picture", bound())), value, "{level}");
    }
    let asks = "txq.num_mipmap_levels.b32 %r1, [picture];\ntxq.level.width.b32 %r2, [picture], 1;\ntxq.width.b32 %r3, [picture];";
    assert_eq!(run(&ptx("", reference, asks), |kernel| kernel.bind("picture", bound())), [3, 2, 4, 0]);
    let graded = ptx("", reference, "tex.grad.1d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [picture, {%f1}], {%f1}, {%f1};");
    let error = Kernel::from_ptx(&graded).unwrap().arg(&mut [0u32; 4]).bind("picture", bound()).run().unwrap_err();
    assert_eq!(error.code(), "unsupported");
}

#[test]
fn a_guard_leaves_lanes_out() {
    // Lanes that do not fetch have no handle, and keep their registers.
    let body = "mov.u64 %rd2, 0;\nmov.u32 %r5, %tid.x;\nsetp.eq.u32 %p1, %r5, 3;\n@%p1 mov.u64 %rd2, picture;\nmov.u32 %r1, 5;\n\
                @%p1 tex.1d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd2, {%f1}];\nmul.wide.u32 %rd3, %r5, 16;\nadd.u64 %rd1, %rd1, %rd3;";
    let mut out = [0u32; 32];
    let text = ptx("", ".global .texref picture;", body);
    Kernel::from_ptx(&text).unwrap().block(8).arg(&mut out).bind("picture", row()).run().unwrap();
    for lane in 0..8 {
        assert_eq!(out[4 * lane], if lane == 3 { 20f32.to_bits() } else { 5 });
    }
}

#[test]
fn what_cannot_be_is_refused_before_it_runs() {
    let text = ptx("", ".global .texref picture;", FETCH);
    let refused = |image: Texture<'static>| {
        let mut out = [0u32; 4];
        Kernel::from_ptx(&text).unwrap().arg(&mut out).bind("picture", image).run().unwrap_err().to_string()
    };
    for (image, says) in [
        (Texture::new(Geometry::D1, [4, 2, 1], 1, &ROW), "a size above 0"),
        (Texture::new(Geometry::D1, [0, 1, 1], 1, &ROW), "a size above 0"),
        (Texture::new(Geometry::D1, [1, 1, 1], 3, &ROW), "1, 2 or 4 channels"),
        (Texture::new(Geometry::Cube, [4, 2, 1], 1, &ROW), "square"),
        (Texture::new(Geometry::D1, [1, 1, 1], 1, &[1u64]), "8, 16 or 32 bits"),
        (row().layers(2), "shapes of layers"),
        (row().levels(4), "level of detail"),
        (Texture::new(Geometry::D1, [2, 1, 1], 1, &ROW).levels(2), "coordinates that count texels"),
        (Texture::new(Geometry::D1, [5, 1, 1], 1, &ROW), "needs 20 bytes"),
        (Texture::new(Geometry::D1, [1, 1, 1], 1, &[1u32]).filter(Filter::Linear), "integers, which cannot be blended"),
    ] {
        let told = refused(image);
        assert!(told.contains(says), "{told}");
    }
    let told = Kernel::from_ptx(&text).unwrap().arg(&mut [0u32; 4]).bind("image", row()).run().unwrap_err().to_string();
    assert!(told.contains("there is no .texref variable `image`") && told.contains("picture"), "{told}");
}
