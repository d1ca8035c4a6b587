//! Kernels of single warps: exchanges of lanes, votes, reductions, atomic operations and moves of matrices.

use super::pools::{self, Sort, Style};
use super::probe::{Buffer, Probe};
use std::fmt::Write as _;

/// Blocks of a warp.
const BLOCKS: usize = 32;

/// A kernel over three words of each thread, `%a`, `%b` and `%c` in registers of 32 bits and `%x` in 64, that leaves `%d` and `%e`.
fn probe(name: &str, sort: Sort, body: &str) -> Probe {
    let mut ptx = String::from(
        ".version 8.8\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 po)\n{\n\
         .reg .b16 %h<4>;\n.reg .b32 %r<4>, %a, %b, %c, %d, %e, %t;\n.reg .b64 %q<4>, %x, %y, %z, %o, %w;\n.reg .pred %p<4>;\n\
         .shared .align 16 .b8 s[1024];\n\
         mov.u32 %t, %tid.x; mov.u32 %r0, %ctaid.x; mad.lo.u32 %r0, %r0, 32, %t; mul.wide.u32 %w, %r0, 8;\n\
         mov.b32 %d, 0; mov.b32 %e, 0;\n",
    );
    for (register, (wide, narrow)) in [("p0", ("%x", "%a")), ("p1", ("%y", "%b")), ("p2", ("%z", "%c"))] {
        writeln!(
            ptx,
            "ld.param.u64 %q0, [{register}]; add.s64 %q0, %q0, %w; ld.global.b64 {wide}, [%q0]; ld.global.b32 {narrow}, [%q0];"
        )
        .unwrap();
    }
    let count = BLOCKS * 32;
    let mut buffers: Vec<Buffer> =
        (0..3).map(|k| Buffer::of(&pools::words(sort, Style::Any, 10 + k, count), u64::to_le_bytes)).collect();
    buffers.push(Buffer::result(8 * count));
    ptx += "ld.param.u64 %o, [po]; add.s64 %o, %o, %w;\n";
    writeln!(ptx, "{body}\nst.global.v2.b32 [%o], {{%d, %e}};\nret;\n}}").unwrap();
    Probe { name: name.to_owned(), ptx, grid: BLOCKS as u32, block: 32, buffers }
}

/// Exchanges, votes and reductions, by all lanes and by those that a branch has let in.
fn exchanges() -> Vec<(String, Sort, String)> {
    let mut all = Vec::new();
    let mut whole = |name: &str, body: String| all.push((name.to_owned(), Sort::Int, body));
    for mode in ["up", "down", "bfly", "idx"] {
        // Lane and clamp come from the first lane, or from each.
        whole(
            &format!("shfl.sync.{mode}"),
            format!(
                "and.b32 %b, %b, 31; and.b32 %c, %c, 0x1f1f; shfl.sync.{mode}.b32 %d|%p0, %a, %b, %c, 0xffffffff; selp.b32 %e, 1, 0, %p0;"
            ),
        );
        whole(
            &format!("shfl.sync.{mode} any operand"),
            format!("shfl.sync.{mode}.b32 %d|%p0, %a, %b, %c, 0xffffffff; selp.b32 %e, 1, 0, %p0;"),
        );
    }
    for kind in ["all", "any", "uni"] {
        let vote = format!("vote.sync.{kind}.pred %p1, %p0, 0xffffffff; selp.b32 %d, 1, 0, %p1;");
        whole(&format!("vote.sync.{kind}"), format!("and.b32 %b, %a, 3; setp.ne.u32 %p0, %b, 0; {vote}"));
        whole(
            &format!("vote.sync.{kind} by block"),
            format!("mov.u32 %b, %ctaid.x; and.b32 %b, %b, 1; setp.ne.u32 %p0, %b, 0; {vote}"),
        );
    }
    whole(
        "vote.sync.ballot",
        "and.b32 %b, %a, 1; setp.ne.u32 %p0, %b, 0; vote.sync.ballot.b32 %d, %p0, 0xffffffff;".to_owned(),
    );
    for (bits, few) in
        [("b32", "and.b32 %a, %a, 3;"), ("b32", ""), ("b64", "and.b64 %x, %x, 0x300000000;"), ("b64", "")]
    {
        let source = if bits == "b32" { "%a" } else { "%x" };
        whole(
            &format!("match.any.sync.{bits} {few}"),
            format!("{few} match.any.sync.{bits} %d, {source}, 0xffffffff;"),
        );
        whole(
            &format!("match.all.sync.{bits} {few}"),
            format!("{few} match.all.sync.{bits} %d|%p0, {source}, 0xffffffff; selp.b32 %e, 1, 0, %p0;"),
        );
    }
    whole(
        "match.all.sync.b32 equal",
        "mov.u32 %a, %ctaid.x; match.all.sync.b32 %d|%p0, %a, 0xffffffff; selp.b32 %e, 1, 0, %p0;".to_owned(),
    );
    for op in ["add.u32", "add.s32", "min.u32", "max.u32", "min.s32", "max.s32", "and.b32", "or.b32", "xor.b32"] {
        whole(&format!("redux.sync.{op}"), format!("redux.sync.{op} %d, %a, 0xffffffff;"));
        whole(
            &format!("redux.sync.{op} of some"),
            format!("and.b32 %b, %t, 5; setp.eq.u32 %p0, %b, 4; @%p0 redux.sync.{op} %d, %a, 0x50505050;"),
        );
    }
    whole("elect.sync", "elect.sync %d|%p0, 0xffffffff; selp.b32 %e, 1, 0, %p0;".to_owned());
    whole("activemask", "and.b32 %b, %t, 6; setp.eq.u32 %p0, %b, 2; @%p0 activemask.b32 %d;".to_owned());
    for name in [
        "laneid",
        "warpid",
        "nwarpid",
        "ntid.x",
        "nctaid.x",
        "lanemask_eq",
        "lanemask_le",
        "lanemask_lt",
        "lanemask_ge",
        "lanemask_gt",
    ] {
        let warp = name.contains("warpid");
        if !warp {
            whole(&format!("%{name}"), format!("mov.u32 %d, %{name};"));
        }
    }
    all
}

/// Atomic operations of each thread on a place of its own: what was there, and what is.
fn atomics() -> Vec<(String, Sort, String)> {
    let narrow = [
        "and.b32", "or.b32", "xor.b32", "exch.b32", "add.u32", "add.s32", "inc.u32", "dec.u32", "min.u32", "min.s32",
        "max.u32", "max.s32",
    ];
    let wide = ["and.b64", "or.b64", "xor.b64", "exch.b64", "add.u64", "min.u64", "min.s64", "max.u64", "max.s64"];
    let halves = ["add.noftz.f16x2", "add.noftz.bf16x2"];
    let mut all = Vec::new();
    for space in ["global", "shared"] {
        let place = if space == "global" {
            "ld.param.u64 %q1, [po]; add.s64 %q1, %q1, %w;"
        } else {
            "mul.wide.u32 %q1, %t, 8; mov.u64 %q2, s; add.s64 %q1, %q1, %q2;"
        };
        let mut one = |op: &str, sort, operands: &str, bits: u32| {
            let (before, value) = if bits == 64 { ("%x", "%y") } else { ("%a", "%b") };
            let left = match bits {
                64 => format!("ld.{space}.b64 %q3, [%q1]; mov.b64 {{%d, %e}}, %q3;"),
                _ => format!("ld.{space}.b32 %d, [%q1]; mov.b32 %e, %r1;"),
            };
            let result = if bits == 64 { "%q3" } else { "%r1" };
            let operands = if operands.is_empty() { value } else { operands };
            let what = format!(
                "{place} st.{space}.b{bits} [%q1], {before}; atom.{space}.{op} {result}, [%q1], {operands}; {left}"
            );
            all.push((format!("atom.{space}.{op}"), sort, what));
        };
        narrow.iter().for_each(|op| one(op, Sort::Int, "", 32));
        wide.iter().for_each(|op| one(op, Sort::Int, "", 64));
        one("cas.b32", Sort::Int, "%b, %c", 32);
        one("cas.b64", Sort::Int, "%y, %z", 64);
        one("add.f32", Sort::F32, "", 32);
        one("add.f64", Sort::F64, "", 64);
        one(halves[0], Sort::F16, "", 32);
        one(halves[1], Sort::Bf16, "", 32);
    }
    all
}

/// Moves of matrices by way of shared memory, whose rows are where the lanes say.
fn moves() -> Vec<(String, Sort, String)> {
    let store = "mul.lo.u32 %r1, %t, 16; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; st.shared.v4.b32 [%r1], {%a, %b, %c, %t}; bar.warp.sync -1;";
    let mut all = Vec::new();
    for (count, list, sum) in [
        (1, "{%d}", ""),
        (2, "{%d, %e}", ""),
        (4, "{%d, %e, %r2, %r3}", "mad.lo.u32 %d, %d, 31, %r2; mad.lo.u32 %e, %e, 31, %r3;"),
    ] {
        for trans in ["", ".trans"] {
            let load = format!("ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {list}, [%r1]; {sum}");
            all.push((format!("ldmatrix.x{count}{trans}"), Sort::Int, format!("{store} {load}")));
        }
    }
    all.push(("movmatrix".to_owned(), Sort::Int, "movmatrix.sync.aligned.m8n8.trans.b16 %d, %a;".to_owned()));
    for (count, list) in [(1, "{%a}"), (2, "{%a, %b}"), (4, "{%a, %b, %c, %t}")] {
        for trans in ["", ".trans"] {
            let store = format!(
                "{store} bar.warp.sync -1; stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%r1], {list}; bar.warp.sync -1; ld.shared.v2.b32 {{%d, %e}}, [%r1];"
            );
            all.push((format!("stmatrix.x{count}{trans}"), Sort::Int, store));
        }
    }
    all
}

/// All of them.
pub fn probes() -> Vec<Probe> {
    let all = exchanges().into_iter().chain(atomics()).chain(moves());
    all.map(|(name, sort, body)| probe(&name, sort, &body)).collect()
}
