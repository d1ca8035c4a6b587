//! The library where memory holds addresses of other memory: tables of pointers, and memory that no parameter is given for.

use warpstep::check::Benign;
use warpstep::{Argument, Check, Error, Kernel};

/// The host's addresses, which mean nothing on the device.
const HOST: u64 = 0x7f00_0000_1230;

/// Adds one to `n` words at each address of a table.
const FOLLOW: &str = ".version 7.8
.target sm_80
.address_size 64
.visible .entry follow(.param .u64 table, .param .u32 n) {
    .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p;
    ld.param.u64 %d0, [table]; ld.param.u32 %r1, [n];
    mov.u32 %r0, %ctaid.x; mul.wide.u32 %d1, %r0, 8; add.s64 %d0, %d0, %d1; ld.global.u64 %d2, [%d0];
    mov.u32 %r2, %tid.x; setp.ge.u32 %p, %r2, %r1; @%p ret;
    mul.wide.u32 %d1, %r2, 4; add.s64 %d2, %d2, %d1;
    ld.global.u32 %r3, [%d2]; add.u32 %r3, %r3, 1; st.global.u32 [%d2], %r3;
    ret;
}";

fn kernel<'a>(n: u32, table: &'a mut [u64], x: &'a mut [u32], y: &'a mut [u32]) -> Result<Kernel<'a>, Error> {
    let kernel = Kernel::from_ptx(FOLLOW)?.grid(2).block(32).arg(table).arg(n);
    Ok(kernel.beside("x", x).beside("y", y).points((0, 0), (3, 0)).points((0, 8), (2, 8)))
}

#[test]
fn a_kernel_follows_addresses_to_memory_of_no_parameter() -> Result<(), Error> {
    let (mut table, mut x, mut y) = ([HOST, HOST + 64], [0u32; 10], [10u32; 8]);
    kernel(8, &mut table, &mut x, &mut y)?.check(Check::Races).check(Check::Bounds).run()?;
    assert_eq!((x, y), ([0, 0, 1, 1, 1, 1, 1, 1, 1, 1], [11; 8]));
    assert_eq!(table, [HOST, HOST + 64], "the host's addresses stay");
    // What is beyond is told by name, and searches run on the same memory.
    let error = kernel(9, &mut table, &mut x, &mut y)?.run().unwrap_err();
    assert!(error.code() == "out-of-bounds" && error.to_string().contains("`y` of 32 bytes"), "{error}");
    let hunted = kernel(8, &mut table, &mut x, &mut y)?.hunt(0..10)?;
    assert!(hunted.findings.is_empty() && y == [11; 8]);
    Ok(())
}

/// The same, with something of its own stored to the table.
fn storing<'a>(table: Argument<'a>, x: &'a mut [u32]) -> Result<Kernel<'a>, Error> {
    let store = FOLLOW.replace("ld.global.u64 %d2, [%d0];", "ld.global.u64 %d2, [%d0]; st.global.u64 [%d0], %d1;");
    let kernel = Kernel::from_ptx(&store)?.grid(2).block(1).arg(table).arg(1u32).beside("x", x);
    Ok(kernel.points((0, 0), (2, 0)).points((0, 8), (2, 4)))
}

#[test]
fn a_table_may_be_read_only_and_what_is_written_to_it_stays() -> Result<(), Error> {
    let (mut table, mut x) = ([HOST, HOST], [0u32; 8]);
    storing(Argument::from(&mut table[..]), &mut x)?.run()?;
    assert_eq!((table, x), ([0, 8], [1, 1, 0, 0, 0, 0, 0, 0]));
    let kept = [HOST, HOST].map(u64::to_le_bytes).concat();
    let ty = warpstep::launch::Scalar::named("u64").unwrap();
    let error = storing(Argument::kept(ty, &kept), &mut x)?.run().unwrap_err();
    assert!(error.to_string().contains("it may only be read"), "{error}");
    let kernel = Kernel::from_ptx(FOLLOW)?.grid(1).block(8).arg(Argument::kept(ty, &kept)).arg(8u32);
    kernel.beside("x", &mut x).points((0, 0), (2, 0)).run()?;
    Ok(())
}

#[test]
fn addresses_that_cannot_be_are_refused() -> Result<(), Error> {
    let (mut table, mut x) = ([HOST, HOST], [0u32; 8]);
    for (from, to) in [
        ((0, 9), (2, 0)),
        ((0, usize::MAX), (2, 0)),
        ((1, 0), (2, 0)),
        ((7, 0), (2, 0)),
        ((0, 0), (1, 0)),
        ((0, 0), (9, 0)),
    ] {
        let kernel = Kernel::from_ptx(FOLLOW)?.grid(2).block(8).arg(&mut table[..]).arg(8u32).beside("x", &mut x[..]);
        let error = kernel.points(from, to).run().unwrap_err();
        assert!(error.to_string().contains("an address "), "{from:?} {to:?}: {error}");
    }
    Ok(())
}

#[test]
fn stores_of_the_same_value_are_races_as_one_likes() -> Result<(), Error> {
    let text = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 x) {
        .reg .b64 %d; .reg .b32 %r; ld.param.u64 %d, [x]; mov.u32 %r, 7; st.global.u32 [%d], %r; ret; }";
    let run = |benign| {
        let mut x = [0u32];
        let kernel = Kernel::from_ptx(text)?.block(64).arg(&mut x[..]).check(Check::Races);
        kernel.benign(benign).run().map(|_| ())
    };
    assert!(run(Benign::SameValue).is_ok());
    assert_eq!(run(Benign::Instruction).unwrap_err().code(), "race");
    assert_eq!(run(Benign::None).unwrap_err().code(), "race");
    Ok(())
}
