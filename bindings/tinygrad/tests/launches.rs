//! Launches that come to their end: memory, arguments, threads.

mod common;

use common::{error, kernel, pointer, run, run_grid};

/// `c[i] = a[i] + b[i]` for `i < n`.
const ADD: &str = "ld.param.u64 %rd0, [a]; ld.param.u64 %rd1, [b]; ld.param.u64 %rd2, [c]; ld.param.u32 %r5, [n];
    mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.s32 %r0, %r1, %r2, %r0;
    setp.ge.s32 %p0, %r0, %r5; @%p0 bra END;
    mul.wide.s32 %rd3, %r0, 4; add.s64 %rd0, %rd0, %rd3; add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3;
    ld.global.f32 %f0, [%rd0]; ld.global.f32 %f1, [%rd1]; add.f32 %f2, %f0, %f1; st.global.f32 [%rd2], %f2;
    END:";
const THREE: &str = ".param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n";

#[test]
fn vectors_are_added_where_they_lie() {
    let text = kernel(THREE, ADD);
    for n in [1usize, 33, 1000, 100_000] {
        let mut a: Vec<f32> = (0..n).map(|k| k as f32).collect();
        let (mut b, mut c) = (a.clone(), vec![0f32; n]);
        let blocks = i32::try_from(n.div_ceil(128)).unwrap();
        run_grid(&text, [128, 1, 1], [blocks, 1, 1], &[pointer(&mut a), pointer(&mut b), pointer(&mut c), n as u64]);
        assert_eq!(error(), None);
        assert!(std::hint::black_box(&c).iter().enumerate().all(|(k, c)| *c == 2.0 * k as f32));
    }
    // On the stack, too.
    let (mut a, mut b, mut c) = ([1f32; 8], [2f32; 8], [0f32; 8]);
    run(&text, 8, &[pointer(&mut a), pointer(&mut b), pointer(&mut c), 8]);
    assert_eq!((error(), *std::hint::black_box(&c)), (None, [3f32; 8]));
}

#[test]
fn arguments_are_as_wide_as_parameters() {
    let parameters =
        ".param .u64 out, .param .u8 b, .param .s16 h, .param .s32 w, .param .b64 q, .param .f32 f, .param .f64 d";
    let code = "ld.param.u64 %rd0, [out];
        ld.param.u8 %r0, [b]; cvt.u64.u32 %rd1, %r0; st.global.u64 [%rd0], %rd1;
        ld.param.s16 %r0, [h]; cvt.s64.s32 %rd1, %r0; st.global.u64 [%rd0+8], %rd1;
        ld.param.s32 %r0, [w]; cvt.s64.s32 %rd1, %r0; st.global.u64 [%rd0+16], %rd1;
        ld.param.b64 %rd1, [q]; st.global.u64 [%rd0+24], %rd1;
        ld.param.f32 %f0, [f]; cvt.f64.f32 %d0, %f0; st.global.f64 [%rd0+32], %d0;
        ld.param.f64 %d0, [d]; st.global.f64 [%rd0+40], %d0;";
    let mut out = [0u64; 6];
    let float = u64::from(1.5f32.to_bits());
    let args = [pointer(&mut out), 0xabcd_ef12, u64::MAX - 1, 0xffff_fffd, u64::MAX - 3, float, 2.5f64.to_bits()];
    run(&kernel(parameters, code), 1, &args);
    let minus = |n: i64| n.cast_unsigned();
    let expected = [0x12, minus(-2), minus(-3), minus(-4), 1.5f64.to_bits(), 2.5f64.to_bits()];
    assert_eq!((error(), *std::hint::black_box(&out)), (None, expected));
}

#[test]
fn blocks_have_shared_and_local_memory_beside_the_hosts() {
    let code = ".shared .align 4 .b8 s[256]; .local .align 4 .b8 own[16];
        ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x;
        shl.b32 %r1, %r0, 2; mov.u32 %r2, s; add.u32 %r2, %r2, %r1; st.shared.u32 [%r2], %r0;
        st.local.u32 [own], %r0;
        bar.sync 0;
        xor.b32 %r1, %r1, 252; mov.u32 %r2, s; add.u32 %r2, %r2, %r1; ld.shared.u32 %r3, [%r2]; ld.local.u32 %r4, [own];
        cvta.shared.u64 %rd2, 0; mov.u64 %rd3, s; cvta.shared.u64 %rd2, %rd3; ld.u32 %r6, [%rd2];
        mad.lo.u32 %r3, %r3, 1000, %r4; add.u32 %r3, %r3, %r6;
        mul.wide.u32 %rd1, %r0, 4; add.s64 %rd0, %rd0, %rd1; st.u32 [%rd0], %r3;";
    let code = code.replace("cvta.shared.u64 %rd2, 0; ", "");
    let mut out = [0u32; 64];
    run(&kernel(".param .u64 out", &code), 64, &[pointer(&mut out)]);
    assert_eq!(error(), None);
    assert!(std::hint::black_box(&out).iter().zip(0u32..).all(|(x, k)| *x == (63 - k) * 1000 + k));
}

#[test]
fn lanes_meet_at_one_word() {
    let code = "ld.param.u64 %rd0, [out]; atom.global.add.u32 %r0, [%rd0], 1; red.global.add.u32 [%rd0+4], 2;
        atom.global.cas.b64 %rd1, [%rd0+8], 0, 7; red.global.add.f32 [%rd0+16], 0f3F800000;";
    let mut out = [0u32; 6];
    run_grid(&kernel(".param .u64 out", code), [96, 1, 1], [5, 1, 1], &[pointer(&mut out)]);
    assert_eq!((error(), *std::hint::black_box(&out)), (None, [480, 960, 7, 0, 480f32.to_bits(), 0]));
}

#[test]
fn the_first_kernel_is_the_one_that_runs() {
    let entry = |name: &str, n: u32| {
        format!(
            ".visible .entry {name}(.param .u64 out) {{ .reg .b64 %d<2>; ld.param.u64 %d0, [out]; st.global.u32 [%d0], {n}; ret; }}\n"
        )
    };
    let text = format!(".version 7.5\n.target sm_50\n.address_size 64\n{}{}", entry("z", 1), entry("a", 2));
    let mut out = [0u32];
    run(&std::ffi::CString::new(text).unwrap(), 1, &[pointer(&mut out)]);
    assert_eq!((error(), *std::hint::black_box(&out)), (None, [1]));
}

#[test]
fn threads_launch_at_the_same_time() {
    let text = kernel(THREE, ADD);
    // Neighbours in memory: each writes its own.
    let mut all = vec![0f32; 8 * 100];
    std::thread::scope(|scope| {
        for (k, c) in all.chunks_mut(100).enumerate() {
            let text = &text;
            scope.spawn(move || {
                for round in 0..20 {
                    let (mut a, mut b) = ([k as f32; 100], [round as f32; 100]);
                    run(text, 100, &[pointer(&mut a), pointer(&mut b), pointer(c), 100]);
                    assert_eq!(error(), None);
                    assert!(std::hint::black_box(&*c).iter().all(|x| *x == (k + round) as f32));
                }
            });
        }
    });
}

#[test]
fn a_launch_is_as_many_as_the_text_says() {
    // Long enough to become machine code, with memory that is reached late.
    let code = "ld.param.u64 %rd0, [out]; ld.param.u32 %r1, [n]; mov.u32 %r0, %tid.x; mov.u32 %r2, 0;
        LOOP: mad.lo.u32 %r3, %r2, 64, %r0; mul.wide.u32 %rd1, %r3, 4; add.s64 %rd1, %rd0, %rd1;
        ld.global.u32 %r4, [%rd1]; add.u32 %r4, %r4, %r2; st.global.u32 [%rd1], %r4;
        add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, %r1; @%p0 bra LOOP;";
    let n = 40_000usize;
    let mut out = vec![1u32; n * 64];
    run(&kernel(".param .u64 out, .param .u32 n", code), 64, &[pointer(&mut out), n as u64]);
    assert_eq!(error(), None);
    assert!(std::hint::black_box(&out).iter().enumerate().all(|(k, x)| *x as usize == 1 + k / 64));
}
