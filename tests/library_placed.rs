//! The library where the caller keeps the device's memory: at addresses of its own choice, variables too, and programs of several texts.

use warpstep::{Argument, Check, Error, Kernel, Module};

/// Follows a pointer that lies in memory, adds one to each element there and to a variable.
const FOLLOW: &str = ".version 7.8
.target sm_80
.address_size 64
.visible .global .align 4 .u32 count = 5;
.visible .entry follow(.param .u64 at) {
    .reg .b32 %r<4>; .reg .b64 %d<4>;
    ld.param.u64 %d0, [at]; ld.global.u64 %d1, [%d0];
    mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 4; add.s64 %d1, %d1, %d2;
    ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1;
    atom.global.add.u32 %r2, [count], 1;
    ret;
}";

const FIRST: u64 = Kernel::FIRST_ADDRESS;

fn follow<'a>(
    module: &Module,
    at: u64,
    pointer: &'a mut [u64],
    data: &'a mut [u32],
    count: &'a mut [u8],
) -> Kernel<'a> {
    let kernel = module.kernel("follow").block(32).arg(Argument::bytes(at.to_le_bytes()));
    // In any order: they are sorted.
    kernel.memory_at("data", FIRST + (1 << 40), data).memory_at("pointer", FIRST, pointer).variable("count", count)
}

#[test]
fn pointers_lie_in_memory_and_variables_are_kept() -> Result<(), Error> {
    let module = Module::from_ptx(FOLLOW)?;
    assert_eq!(module.variables()?, [("count".to_owned(), vec![5, 0, 0, 0])]);
    let (mut pointer, mut data, mut count) = ([FIRST + (1 << 40) + 8], [7u32; 34], [5u8, 0, 0, 0]);
    for round in 1..4 {
        let kernel = follow(&module, FIRST, &mut pointer, &mut data, &mut count);
        kernel.check(Check::Races).check(Check::Bounds).run()?;
        assert!(data[..2] == [7; 2] && data[2..] == [7 + round; 32] && u32::from(count[0]) == 5 + 32 * round);
    }
    // Searches leave it as it is.
    let hunted = follow(&module, FIRST, &mut pointer, &mut data, &mut count).hunt(0..3)?;
    assert!(hunted.findings.is_empty() && data[2] == 10 && count[0] == 101);
    let error = follow(&module, FIRST, &mut pointer, &mut data[..33], &mut count).run().unwrap_err();
    assert!(error.to_string().contains("just after the end of buffer `data` of 132 bytes"), "{error}");
    assert_eq!((data[2], count[0]), (10, 101));
    Ok(())
}

#[test]
fn what_the_host_never_wrote_is_known() -> Result<(), Error> {
    let module = Module::from_ptx(FOLLOW)?;
    let (mut pointer, mut written) = ([FIRST + 512], false);
    for code in [Some("uninit"), None] {
        let mut bytes = [0u8; 128];
        let ty = warpstep::launch::Scalar::named("u32").unwrap();
        let kernel = module.kernel("follow").block(32).arg(Argument::bytes(FIRST.to_le_bytes()));
        let kernel = kernel.memory_at("pointer", FIRST, &mut pointer[..]).check(Check::Uninit);
        let ran = kernel.memory_at("data", FIRST + 512, Argument::buffer(ty, &mut bytes, &mut written)).run();
        assert_eq!(ran.err().map(|error| error.code().to_owned()).is_some(), code.is_some());
        written = true;
    }
    Ok(())
}

#[test]
fn addresses_have_to_be_free() -> Result<(), Error> {
    let module = Module::from_ptx(FOLLOW)?;
    for at in [FIRST - 256, FIRST + 8, FIRST + (1 << 40), Kernel::LAST_ADDRESS - 256] {
        let (mut other, mut pointer, mut data, mut count) = ([0u32; 300], [0u64], [0u32; 32], [0u8; 4]);
        let kernel = follow(&module, FIRST, &mut pointer, &mut data, &mut count).memory_at("other", at, &mut other[..]);
        assert!(kernel.run().is_err(), "{at:#x}");
    }
    Ok(())
}

/// A kernel that calls a function of another text, by way of which blocks meet.
const CALLS: &str = ".version 7.8
.target sm_80
.address_size 64
.extern .func (.param .b32 answer) meet;
.visible .entry calls(.param .u64 out) {
    .reg .b32 %r<4>; .reg .b64 %d<4>;
    ld.param.u64 %d0, [out];
    { .param .b32 answer; call.uni (answer), meet; ld.param.b32 %r0, [answer]; }
    st.global.u32 [%d0], %r0;
    ret;
}";

const MEET: &str = ".version 7.8
.target sm_80
.address_size 64
.visible .func (.param .b32 answer) meet {
    .reg .b32 %r<4>; .reg .pred %p;
    mov.u32 %r0, %envreg1; mov.u32 %r1, %envreg2; or.b32 %r0, %r0, %r1;
    setp.ne.u32 %p, %r0, 0; selp.u32 %r2, 1, 0, %p;
    st.param.b32 [answer], %r2;
    ret;
}";

#[test]
fn texts_are_linked_and_functions_have_the_workspace_of_the_grid() -> Result<(), Error> {
    let module = Module::linked(&[("calls.ptx", CALLS), ("meet.ptx", MEET)])?;
    assert_eq!(module.texts().map(|(name, _)| name).collect::<Vec<_>>(), ["calls.ptx", "meet.ptx"]);
    let mut out = [7u32];
    module.kernel("calls").arg(&mut out[..]).run()?;
    assert_eq!(out, [1]);
    // What is declared to give an answer need not give one: who links looks at names alone.
    let silent = MEET.replace(" (.param .b32 answer)", "").replace("    st.param.b32 [answer], %r2;\n", "");
    Module::linked(&[("calls.ptx", CALLS), ("meet.ptx", &silent)])?.kernel("calls").arg(&mut out[..]).run()?;
    let missing = Module::linked(&[("calls.ptx", CALLS)]).and_then(|m| m.kernel("calls").arg(&mut out[..]).run());
    assert!(missing.is_err() && Module::linked(&[]).is_err());
    Ok(())
}
