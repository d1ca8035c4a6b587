//! `isspacep` of addresses of every state space, and `st.bulk`.

use warpstep::{Check, Kernel};

/// Which spaces each address is in: bits 0 to 4 are `.global`, `.shared`, `.local`, `.const`, `.param`.
#[test]
fn every_address_is_in_its_space() {
    let mut text = ".version 8.0\n.target sm_90\n.address_size 64\n.global .u32 g; .shared .u32 s; .const .u32 c = 7; .const .u64 cc[4];\n\
        .visible .entry k(.param .u64 out, .param .u32 p)\n{\n.local .u32 l; .reg .b64 %a, %o; .reg .pred %q; .reg .b32 %r, %t;\n\
        ld.param.u64 %o, [out];\n"
        .to_owned();
    let addresses = [
        ("mov.u64 %a, g; cvta.global.u64 %a, %a;", 0b1),
        ("mov.u64 %a, %o;", 0b1),
        ("mov.u64 %a, s; cvta.shared.u64 %a, %a;", 0b10),
        ("mov.u64 %a, l; cvta.local.u64 %a, %a;", 0b100),
        ("mov.u64 %a, c; cvta.const.u64 %a, %a;", 0b1000),
        ("mov.u64 %a, cc; cvta.const.u64 %a, %a; add.u64 %a, %a, 31;", 0b1000),
        // The ISA says that parameters are among global memory.
        ("mov.u64 %a, p; cvta.param.u64 %a, %a;", 0b10001),
    ];
    for (k, (address, _)) in addresses.iter().enumerate() {
        text += &format!("{address} mov.u32 %r, 0;\n");
        for (bit, space) in ["global", "shared", "local", "const", "param"].iter().enumerate() {
            text += &format!("isspacep.{space} %q, %a; selp.u32 %t, {}, 0, %q; or.b32 %r, %r, %t;\n", 1 << bit);
        }
        text += &format!("st.global.u32 [%o+{}], %r;\n", 4 * k);
    }
    text += "ret;\n}\n";
    let mut out = [0u32; 7];
    let kernel = Kernel::from_ptx(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    kernel.arg(&mut out[..]).arg(5u32).run().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(out, addresses.map(|(_, spaces)| spaces));
}

/// A kernel of eight threads that fill 256 bytes with ones, then zeros by an instruction, and copy all out.
fn fill(instruction: &str) -> String {
    format!(
        ".version 9.0\n.target sm_100\n.address_size 64\n.shared .align 16 .b8 s[256];\n.visible .entry k(.param .u64 out)\n{{\n\
         .reg .b64 %o, %n, %g; .reg .b32 %r, %t, %i, %m; .reg .pred %p, %q;\n\
         ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %i, s; mad.lo.u32 %i, %t, 32, %i;\n\
         st.shared.v4.u32 [%i], {{-1, -1, -1, -1}}; st.shared.v4.u32 [%i+16], {{-1, -1, -1, -1}};\n\
         mad.wide.u32 %o, %t, 32, %o; cvt.u64.u32 %n, %t; shl.b64 %n, %n, 3; cvt.u32.u64 %m, %n;\n\
         mov.u64 %g, s; cvta.shared.u64 %g, %g; mad.wide.u32 %g, %t, 32, %g; and.b32 %r, %t, 1; setp.eq.u32 %q, %r, 1;\n\
         {instruction}\n\
         setp.eq.u32 %p, %t, 99;\n\
         LOOP: ld.shared.u32 %r, [%i]; st.global.u32 [%o], %r; add.u32 %i, %i, 4; add.u64 %o, %o, 4;\n\
         and.b32 %r, %i, 31; setp.ne.u32 %p, %r, 0; @%p bra LOOP;\nret;\n}}\n"
    )
}

/// How many bytes each thread's part has in zeros, from its start.
fn zeros(instruction: &str) -> [u32; 8] {
    let text = fill(instruction);
    let mut out = [0u32; 64];
    let kernel = Kernel::from_ptx(&text).unwrap_or_else(|e| panic!("{e}\n{text}")).block(8).check(Check::Races);
    kernel.arg(&mut out[..]).run().unwrap_or_else(|e| panic!("{e}\n{text}"));
    std::array::from_fn(|thread| {
        let words = &out[8 * thread..8 * thread + 8];
        let count = words.iter().take_while(|word| **word == 0).count();
        assert!(words[count..].iter().all(|word| *word == u32::MAX), "{words:x?}");
        4 * count as u32
    })
}

#[test]
fn regions_of_shared_memory_are_filled_with_zeros() {
    assert_eq!(zeros("st.bulk.weak.shared::cta [%i], 24, 0;"), [24; 8]);
    assert_eq!(zeros("st.bulk [%g], 8, 0;"), [8; 8]);
    assert_eq!(zeros("st.bulk.shared::cta [%i], 0, 0;"), [0; 8]);
    // Each thread its own number, by registers of both sizes.
    let up_to = |most: u32| std::array::from_fn(|t| (8 * t as u32).min(most));
    assert_eq!(zeros("min.u64 %n, %n, 32; st.bulk.shared::cta [%i], %n, 0;"), up_to(32));
    assert_eq!(zeros("min.u32 %m, %m, 16; st.bulk.shared::cta [%i], %m, 0;"), up_to(16));
    // With guards.
    let odd = |yes: u32, no: u32| std::array::from_fn(|t| if t % 2 == 1 { yes } else { no });
    assert_eq!(zeros("@%q st.bulk.shared::cta [%i], 16, 0;"), odd(16, 0));
    assert_eq!(zeros("@!%q st.bulk.shared::cta [%i], 16, 0;"), odd(0, 16));
    assert_eq!(zeros("@%q st.bulk.shared::cta [%i+0], 16, 0; @%q st.bulk.shared::cta [%i+16], 8, 0;"), odd(24, 0));
}

#[test]
fn what_is_beyond_shared_memory_is_found() {
    let run = |instruction: &str| {
        let mut out = [0u32; 64];
        let kernel = Kernel::from_ptx(&fill(instruction)).unwrap_or_else(|e| panic!("{e}")).block(8);
        kernel.arg(&mut out[..]).run().map(|_| ()).map_err(|e| e.code().to_owned())
    };
    assert_eq!(run("st.bulk.shared::cta [%i], 40, 0;"), Err("out-of-bounds".to_owned()));
    assert_eq!(run("st.bulk.shared::cta [%i+4], 8, 0;"), Err("misaligned".to_owned()));
    assert_eq!(run("st.bulk.shared::cta [%i], 32, 0;"), Ok(()));
}
