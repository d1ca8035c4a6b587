//! Random programs of functions that call each other and themselves, and that write down in which order their lanes run.

use crate::native_programs::{CONTROLS, same_of};
use chacha20::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::fmt::Write;

/// A ticket of an atomic counter is written down: the next word of the thread's, of 32 words in turn.
const TICKET: &str = "
    atom.global.add.u32 %c, [%m], 1;
    atom.global.add.u32 %o, [%at], 1;
    and.b32 %o, %o, 31;
    mad.wide.u32 %w, %o, 4, %at;
    st.global.u32 [%w+4], %c;
";

/// What functions do between calls; `#` stands for a number of its own.
const STEPS: [&str; 22] = [
    "TICKET",
    "TICKET",
    "mad.lo.u32 %a, %a, 5, 1;",
    "xor.b32 %a, %a, %t; shr.u32 %b, %a, 3;",
    "add.f32 %f, %f, 0f3FC00000; fma.rn.f32 %f, %f, %f, %f;",
    "add.u64 %u, %u, %m; xor.b64 %u, %u, 77; cvt.u32.u64 %b, %u;",
    "setp.lt.u32 %p, %a, %b; selp.b32 %a, %b, %a, %p;",
    "and.b32 %x, %a, 3; setp.eq.u32 %q, %x, 1; @%q add.u32 %b, %b, %a; @%q bra L#; add.u32 %a, %a, 7; TICKET L#:",
    "and.b32 %x, %a, 5; setp.ne.u32 %q, %x, 4; @%q bra L#; TICKET bra M#; L#: sub.u32 %a, %b, %a; M#:",
    "and.b32 %x, %b, 3; mov.u32 %i, 0; L#: add.u32 %a, %a, %i; add.u32 %i, %i, 1; setp.le.u32 %q, %i, %x; @%q bra L#;",
    "and.b32 %x, %a, 3; mov.u32 %i, 0; L#: TICKET add.u32 %i, %i, 1; setp.le.u32 %q, %i, %x; @%q bra L#;",
    "and.b32 %x, %a, 3; shl.b32 %x, %x, 2; mov.u32 %y, room; add.u32 %y, %y, %x; st.local.u32 [%y], %b; ld.local.u32 %b, [room+4];",
    "st.local.v2.u32 [room+8], {%a, %b}; ld.local.u64 %v, [room+8]; add.u64 %u, %u, %v;",
    "st.local.u16 [room+2], %h; cvt.u16.u32 %h, %a; ld.local.u8 %b, [room+3];",
    "st.local.f64 [room+8], %d; ld.local.f64 %d, [room]; add.f64 %d, %d, %d;",
    "and.b32 %x, %a, 63; setp.eq.u32 %q, %x, 9; st.param.b64 [r], %u; @%q ret;",
    "and.b32 %x, %a, 31; setp.gt.u32 %q, %x, 9; @%q bra L#; mov.b64 %v, {%x, %b}; st.param.b64 [r], %v; ret; L#:",
    "activemask.b32 %x; add.u32 %a, %a, %x;",
    "activemask.b32 %x; shfl.sync.bfly.b32 %a, %a, 1, 31, %x;",
    "div.u32 %a, %a, 3; popc.b32 %b, %a;",
    "mov.u32 %b, %ctaid.x; add.u32 %a, %a, %b; mov.u32 %b, %laneid;",
    "ld.global.u32 %b, [%at+8]; add.u32 %a, %a, %b;",
];

/// Some that end a thread or the run, now and then.
const RISKY: [&str; 5] = [
    "and.b32 %x, %a, 127; setp.eq.u32 %q, %x, 5; @%q exit;",
    "mul.wide.u32 %w, %a, 4; add.u64 %w, %w, %m; ld.global.u32 %b, [%w];",
    "mov.u32 %y, room; add.u32 %y, %y, %a; st.local.u32 [%y], %b;",
    "bar.sync 0;",
    "mov.u32 %e, 3000; CALL",
];

/// A call of a function, with what is left of the depth.
fn call(function: usize, count: usize, number: usize) -> String {
    let name = function % count;
    format!(
        "{{ .param .b64 A; st.param.b64 [A], %m; .param .b32 B; st.param.b32 [B], %a; .param .b32 C; st.param.b32 [C], %e;
    .param .b64 D; st.param.b64 [D], %u; .param .b64 R;
    call.uni (R), f{name}, (A, B, C, D);
    ld.param.b64 %v, [R]; }} cvt.u32.u64 %y, %v;
    mad.lo.u32 %a, %y, 3, %a; add.u64 %u, %u, %v; // {number}
"
    )
}

/// The body of a function or of the kernel.
fn body(rng: &mut ChaCha8Rng, (count, own): (usize, usize), numbers: &mut usize, entry: bool) -> String {
    let mut text = String::new();
    for _ in 0..rng.random_range(2..7) {
        *numbers += 1;
        let number = *numbers;
        let called = call(rng.random_range(0..count) + if entry { 0 } else { own }, count, number);
        let step = match rng.random_range(0..10) {
            0..5 => STEPS[rng.random_range(0..STEPS.len())].to_owned(),
            5 if rng.random_range(0..12) == 0 => RISKY[rng.random_range(0..RISKY.len())].to_owned(),
            6 => "and.b32 %x, %a, 3; mov.u32 %j, 0; CALLS".to_owned(),
            7 => "and.b32 %x, %a, 3; setp.lt.u32 %q, %x, 2; @%q bra N#; sub.u32 %e, %d0, 2; CALL N#:".to_owned(),
            _ => "sub.u32 %e, %d0, 1; CALL".to_owned(),
        };
        let step = if entry {
            step.replace("st.param.b64 [r], %u; @%q ret;", "")
                .replace("mov.b64 %v, {%x, %b}; st.param.b64 [r], %v; ret;", "")
        } else {
            step
        };
        let guarded = format!("setp.le.s32 %q, %e, 0; @%q bra K#; {called} K#:");
        let repeated = format!(
            "J#: sub.u32 %e, %d0, 1; {} add.u32 %j, %j, 1; setp.lt.u32 %q, %j, %x; @%q bra J#;",
            guarded.replace('#', "#k")
        );
        let step = step.replace("CALLS", &repeated).replace("CALL", &guarded).replace("TICKET", TICKET);
        writeln!(text, "    {}", step.replace('#', &number.to_string())).unwrap();
    }
    text
}

/// The registers of all functions and of the kernel.
const REGISTERS: &str = "
    .local .align 8 .b8 room[16];
    .reg .pred %p, %q; .reg .b16 %h; .reg .b32 %t, %a, %b, %c, %d0, %e, %i, %j, %o, %x, %y; .reg .f32 %f; .reg .f64 %d;
    .reg .b64 %m, %at, %w, %u, %v;
    mov.u32 %t, %tid.x; mov.u32 %b, 3; mov.f32 %f, 0f3F800000; mov.f64 %d, 0d3FF0000000000000; mov.u16 %h, 5; mov.u32 %e, 0;
";

/// A random program.
pub fn program(seed: u64) -> String {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed ^ 0xf00d);
    let (count, mut numbers) = (rng.random_range(1..4), 0);
    let mut text = ".version 7.0\n.target sm_70\n.address_size 64\n".to_owned();
    let head =
        |k: usize| format!(".func (.param .b64 r) f{k}(.param .b64 m, .param .b32 a, .param .b32 d, .param .b64 u)");
    (0..count).for_each(|k| writeln!(text, "{};", head(k)).unwrap());
    for k in 0..count {
        let body = body(rng, (count, k), &mut numbers, false);
        let ends = if rng.random_range(0..4) == 0 { "" } else { "st.param.b64 [r], %v;" };
        writeln!(
            text,
            "{}\n{{{REGISTERS}
    ld.param.b64 %m, [m]; ld.param.b32 %a, [a]; ld.param.b32 %d0, [d]; ld.param.b64 %u, [u];
    mad.wide.u32 %at, %t, 256, %m; add.u64 %at, %at, 64;
{body}    mov.b64 %v, {{%a, %x}}; xor.b64 %v, %v, %u; {ends}
    ret;
}}",
            head(k)
        )
        .unwrap();
    }
    let depth = ["mov.u32 %d0, 3;", "mov.u32 %d0, 5;", "and.b32 %d0, %t, 3;", "and.b32 %d0, %t, 7;", "mov.u32 %d0, 2;"];
    let depth = depth[rng.random_range(0..depth.len())];
    let start = ["mov.u32 %a, %t;", "mov.u32 %a, 7;", "mul.lo.u32 %a, %t, 0x9e3779b1;", "shr.u32 %a, %t, 3;"];
    let start = start[rng.random_range(0..start.len())];
    let body = body(rng, (count, 0), &mut numbers, true);
    writeln!(
        text,
        ".visible .entry k(.param .u64 memory, .param .u32 n)\n{{{REGISTERS}
    ld.param.u64 %m, [memory]; mov.u64 %u, 1; {depth} {start}
    mad.wide.u32 %at, %t, 256, %m; add.u64 %at, %at, 64;
{body}    st.global.u32 [%at+160], %a; st.global.u64 [%at+168], %u;
    ret;
}}"
    )
    .unwrap();
    text
}

/// The shape of the blocks of a program.
fn shape(seed: u64) -> [u32; 3] {
    let blocks = [[64, 1, 1], [32, 1, 1], [24, 1, 1], [57, 1, 1], [96, 1, 1]];
    blocks[(seed % blocks.len() as u64) as usize]
}

/// Compares the runs of a random program under one control model, independent threads for two programs of three; gives how many
/// native runs there were.
pub fn called_in_turn(seed: u64, most: u32) -> u32 {
    let control = if seed % 3 == 2 { CONTROLS[(seed / 3 % 3) as usize] } else { CONTROLS[1] };
    same_of(&program(seed), ([2, 1, 1], shape(seed)), &[None, Some(seed)], most, (control, &[]))
}
