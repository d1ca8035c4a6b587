//! Programs whose lanes part and meet, and that write down in which order they run.
//!
//! Each of them takes a ticket of an atomic counter wherever it matters who runs first, so that a group that runs too early or too
//! late, one of lanes that should have met others, and one that waits longer than D-its lets it are in memory.

use crate::native_programs::same;

/// Lanes that have parted meet where the interpreter goes on, in one block after the other.
pub const MET_OUTSIDE: &str = "
.version 7.0
.target sm_60
.address_size 64
.func f()
{
    ret;
}
.visible .entry k(.param .u64 memory, .param .u32 n)
{
    .reg .pred %p; .reg .b32 %t, %r; .reg .b64 %m, %at;
    ld.param.u64 %m, [memory];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %at, %t, 4, %m;
    mov.u32 %r, 7;
    setp.gt.u32 %p, %t, 3;
    @%p bra on;
    add.u32 %r, %r, %t;
on:
    call.uni f;
    st.global.u32 [%at], %r;
    setp.gt.u32 %p, %t, 9;
    @%p bra end;
    add.u32 %r, %r, %t;
end:
    st.global.u32 [%at], %r;
    ret;
}
";

/// What one warp stores the other one loads behind a barrier.
pub const MET: &str = "
.version 7.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 memory, .param .u32 n)
{
    .shared .align 4 .b8 words[256];
    .reg .b32 %t, %b; .reg .b64 %m, %s, %at;
    ld.param.u64 %m, [memory];
    mov.u64 %s, words;
    mov.u32 %t, %tid.x;
    mad.wide.u32 %at, %t, 4, %s;
    st.shared.u32 [%at], %t;
    bar.sync 0;
    xor.b32 %b, %t, 32;
    mad.wide.u32 %at, %b, 4, %s;
    ld.shared.u32 %b, [%at];
    mov.u32 %t, %ctaid.x;
    mad.lo.u32 %t, %t, 64, %b;
    mad.wide.u32 %at, %t, 4, %m;
    st.global.u32 [%at], %b;
    ret;
}
";

/// What all of them begin with: `%m` is memory, `%t` the thread, `%at` where it writes, 512 bytes for each.
const HEAD: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 memory, .param .u32 n)
{
    .reg .pred %p, %q, %s; .reg .b32 %t, %x, %y, %c, %i, %j, %o; .reg .b64 %m, %at, %to, %w;
    ld.param.u64 %m, [memory];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %at, %t, 256;
    add.u64 %at, %at, %m;
    add.u64 %at, %at, 64;
    mov.u32 %o, 0;
";

/// A ticket is written down: the next word of the thread's, of 60 words in turn.
const TICKET: &str = "
    atom.global.add.u32 %c, [%m], 1;
    mul.wide.u32 %w, %o, 4;
    add.u64 %to, %at, %w;
    st.global.u32 [%to], %c;
    add.u32 %o, %o, 1;
    rem.u32 %o, %o, 60;
";

/// Loops that lanes leave one after the other; the numbers of rounds are on a line, or lie anywhere.
const LOOPS: [&str; 10] = [
    "mov.u32 %i, 0; A: TICKET add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %t; @%p bra A; TICKET",
    // From the last lane to the first, and two ways out.
    "and.b32 %x, %t, 7; mov.u32 %i, 0;
     A: add.u32 %i, %i, 1; setp.gt.u32 %p, %i, %x; @%p bra C; TICKET and.b32 %y, %t, %i; setp.eq.u32 %q, %y, 5; @%q bra B; bra A;
     B: TICKET C: TICKET",
    // A loop in a loop, each with rounds of its own.
    "and.b32 %x, %t, 3; mov.u32 %i, 0;
     A: mov.u32 %j, 0; B: TICKET add.u32 %j, %j, 1; setp.le.u32 %p, %j, %x; @%p bra B;
     add.u32 %i, %i, 1; mul.lo.u32 %y, %t, 5; and.b32 %y, %y, 3; setp.le.u32 %q, %i, %y; @%q bra A; TICKET",
    // A side of a branch is far longer than those who wait for it let it run.
    "and.b32 %x, %t, 3; setp.eq.u32 %p, %x, 1; @%p bra D;
     setp.eq.u32 %q, %x, 2; @%q bra C;
     mov.u32 %i, 0; A: add.u32 %i, %i, 1; setp.lt.u32 %s, %i, 900; @%s bra A; TICKET
     mov.u32 %i, 0; B: TICKET add.u32 %i, %i, 1; setp.lt.u32 %s, %i, 300; @%s bra B; bra E;
     C: TICKET TICKET D: TICKET E: TICKET",
    // The same where the lanes that loop part from each other again and again.
    "and.b32 %x, %t, 3; setp.eq.u32 %p, %x, 1; @%p bra C; mov.u32 %i, 0;
     A: and.b32 %y, %i, 7; add.u32 %y, %y, 3; setp.lt.u32 %q, %t, %y; @%q bra B; TICKET B: add.u32 %i, %i, 1; setp.lt.u32 %s, %i, 200;
     @%s bra A; C: TICKET",
    // Lanes part at a branch to where the others go on, too.
    "and.b32 %x, %t, 3; setp.eq.u32 %p, %x, 1; @%p bra C; mov.u32 %i, 0;
     A: and.b32 %y, %t, %i; setp.lt.u32 %q, %y, 3; @%q bra B; B: TICKET add.u32 %i, %i, 1; setp.lt.u32 %s, %i, 200; @%s bra A; C: TICKET",
    // The same behind what is the interpreter's.
    "TICKET TICKET TICKET TICKET TICKET mov.u32 %y, %clock; and.b32 %x, %t, 3; setp.eq.u32 %p, %x, 1; @%p bra C; mov.u32 %i, 0;
     A: TICKET add.u32 %i, %i, 1; setp.lt.u32 %s, %i, 200; @%s bra A; C: TICKET",
    // Those who are behind jump over those who wait.
    "and.b32 %x, %t, 3; setp.eq.u32 %p, %x, 0; @%p bra B; setp.eq.u32 %q, %x, 1; @%q bra C;
     TICKET bra D; B: TICKET bra D; C: TICKET TICKET D: TICKET",
    // Numbers that are the same in all lanes that run, and others in those that wait: of a line with a half of its own, too.
    "mov.u32 %i, 3; mov.u32 %j, %t; setp.lt.u32 %p, %t, 16; @%p bra B; mov.u32 %i, 7; add.u32 %j, %j, 100;
     A: TICKET sub.u32 %i, %i, 1; setp.ne.u32 %q, %i, 0; @%q bra A; bra C;
     B: TICKET sub.u32 %i, %i, 1; setp.ne.u32 %q, %i, 0; @%q bra B;
     C: mov.u32 %c, %j; mad.wide.u32 %w, %t, 4, %m; st.global.u32 [%w+30000], %c; st.global.u32 [%w+31000], %i; TICKET",
    // Lanes that have ended before, and some that wait for others at a barrier of their warp.
    "setp.gt.u32 %p, %t, 50; @%p bra E; mov.u32 %i, 0; A: add.u32 %i, %i, 1; TICKET and.b32 %x, %t, 7; setp.lt.u32 %q, %i, %x; @%q bra A;
     and.b32 %y, %t, 1; setp.eq.u32 %q, %y, 0; @%q bra B; TICKET B: setp.gt.u32 %s, %t, 31; @%s bra C; bar.warp.sync -1; C: TICKET
     E: ret;",
];

/// The program of a loop.
fn program_of(body: &str) -> String {
    format!("{HEAD}{}\n    ret;\n}}\n", body.replace("TICKET", TICKET))
}

/// A number that is widened by lanes apart, of whom each finds that nothing wraps around; together they do not lie on a line.
const WIDENED: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 memory, .param .u32 n)
{
    .reg .pred %p; .reg .b32 %t, %x, %low, %high; .reg .b64 %m, %at, %y;
    ld.param.u64 %m, [memory];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %at, %t, 8;
    add.u64 %at, %at, %m;
    add.u32 %x, %t, 0xfffffff0;
    setp.lt.u32 %p, %t, 16;
    @%p bra X;
    bra Y;
X:
    cvt.u64.u32 %y, %x;
    bra Z;
Y:
    st.global.u32 [%m], 1;
    bra X;
Z:
    add.u64 %y, %y, 5;
    mov.b64 {%low, %high}, %y;
    st.global.v2.u32 [%at+64], {%low, %high};
    ret;
}
";

/// Compares native runs of them, of whole warps and of others.
pub fn grouped(most: u32) -> u32 {
    let of = |text: &str| {
        let shapes = [[64, 1, 1], [24, 1, 1], [57, 1, 1], [16, 4, 1]];
        shapes.map(|block| same(text, ([1 + block[0] % 2, 1, 1], block), &[None, Some(1)], most)).iter().sum::<u32>()
    };
    LOOPS.into_iter().map(|body| of(&program_of(body))).sum::<u32>() + of(WIDENED)
}
