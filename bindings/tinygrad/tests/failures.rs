//! Launches that do not come to their end: reports, exit codes, and memory as it was.

mod common;

use common::{apart, error, going_on, kernel, pointer, run, run_grid};
use std::ffi::{CString, c_void};
use std::ptr::{null, without_provenance};
use warpstep_ptx::{ptx_last_error, ptx_register, ptx_run, ptx_unregister};

/// Writes 5 to memory of the host's, and then stores at any address.
const TWO: &str = ".param .u64 out, .param .u64 to";
const THEN_STORE: &str =
    "ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [to]; st.global.u32 [%rd0], 5; st.global.u32 [%rd1], 6;";

#[test]
fn a_wild_address_is_a_report_and_memory_is_as_it_was() {
    going_on("a_wild_address_is_a_report_and_memory_is_as_it_was", || {
        let text = kernel(TWO, THEN_STORE);
        let mut out = [1u32; 4];
        // The first page, the middle of nowhere, the machine's own shared memory, the other half of addresses, code, no alignment.
        for wild in [8, 1 << 40, 0x1_0000_0010, 1 << 63, u64::MAX - 3, code_address(), 0x7fff_ffff_f001] {
            run(&text, 1, &[pointer(&mut out), wild]);
            let report = error().unwrap_or_default();
            assert!(report.contains("st.global.u32 [%rd1], 6;"), "{wild:#x}: {report}");
            assert_eq!(*std::hint::black_box(&out), [1; 4], "{wild:#x}");
        }
        run(&text, 1, &[pointer(&mut out), pointer(&mut out) + 4]);
        assert_eq!((error(), *std::hint::black_box(&out)), (None, [5, 6, 1, 1]));
        // Constants of the program may be read.
        static CONSTANT: [u32; 2] = [11, 12];
        let load =
            "ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [to]; ld.global.u32 %r0, [%rd1]; st.global.u32 [%rd0], %r0;";
        run(&kernel(TWO, load), 1, &[pointer(&mut out), CONSTANT.as_ptr().expose_provenance() as u64]);
        assert_eq!((error(), std::hint::black_box(&out)[0]), (None, 11));
    });
}

/// Where code lies, which may not be written.
fn code_address() -> u64 {
    (ptx_last_error as extern "C" fn() -> *const std::ffi::c_char as *const c_void).addr() as u64 & !3
}

#[test]
fn a_defect_ends_the_process_with_code_1() {
    let ended = apart("a_defect_ends_the_process_with_code_1", "abort", || {
        run(&kernel(TWO, THEN_STORE), 1, &[pointer(&mut [0u32; 4]), 1 << 40]);
        unreachable!("the process has ended");
    });
    let Some(output) = ended else { return };
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && report.contains("invalid global write of 4 bytes"), "{output:?}");
}

#[test]
fn a_kernel_that_never_ends_is_ended_when_its_time_is_over() {
    going_on("a_kernel_that_never_ends_is_ended_when_its_time_is_over", || {
        let text = kernel(
            ".param .u64 out",
            "ld.param.u64 %rd0, [out]; L: ld.volatile.global.u32 %r0, [%rd0]; add.u32 %r0, %r0, 1;
             st.volatile.global.u32 [%rd0], %r0; bra L;",
        );
        let mut out = [7u32];
        for (seconds, told) in [("0.2", "timeout"), ("soon", "`soon`"), ("-1", "`-1`"), ("nan", "`nan`")] {
            // SAFETY: this process has no other thread that looks at its environment.
            #[expect(unsafe_code, reason = "the environment of a process of this test's own")]
            unsafe {
                std::env::set_var("WARPSTEP_TIMEOUT", seconds);
            }
            run(&text, 1, &[pointer(&mut out)]);
            let report = error().unwrap_or_default();
            assert!(report.contains(told), "{seconds}: {report}");
            assert_eq!(*std::hint::black_box(&out), [7], "{seconds}");
        }
    });
}

#[test]
fn an_instruction_that_is_not_supported_ends_it_with_code_4() {
    let ended = apart("an_instruction_that_is_not_supported_ends_it_with_code_4", "", || {
        let text = ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k() { .reg .b32 %r<4>;
            tcgen05.wait::ld.sync.aligned; ret; }";
        run(&CString::new(text).unwrap(), 1, &[]);
        unreachable!("the process has ended");
    });
    let Some(output) = ended else { return };
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(4) && report.contains("tcgen05"), "{output:?}");
    assert!(report.contains("notice: WARPSTEP_ON_DEFECT is `abort` or `continue`"), "{report}");
}

#[test]
fn calls_that_make_no_sense_are_reports() {
    going_on("calls_that_make_no_sense_are_reports", || {
        let says = |what: &str| {
            let report = error().unwrap_or_default();
            assert!(report.contains(what), "{what}: {report}");
        };
        let text = kernel(".param .u64 a", "");
        ptx_run(null(), 0, null(), 1, 1, 1, 1, 1, 1, 0);
        says("no text of PTX");
        ptx_run(without_provenance(1 << 40), 0, null(), 1, 1, 1, 1, 1, 1, 0);
        says("no text of PTX");
        run(&CString::new(&b".version \xff\xfe"[..]).unwrap(), 1, &[]);
        says("not UTF-8");
        run(&CString::new("").unwrap(), 1, &[]);
        says("this is not PTX");
        run(&CString::new("what is this").unwrap(), 1, &[]);
        says("this is not PTX");
        run(&CString::new(".version 7.5\n.target sm_50\n.address_size 64\n").unwrap(), 1, &[]);
        says("no kernel");
        run(&CString::new(".version 7.5\n.target sm_50\n.address_size 32\n.entry k() { ret; }").unwrap(), 1, &[]);
        says("32 bits");
        run(&text, 1, &[]);
        says("`k` has 1 parameters, and 0 arguments are given");
        run(&text, 1, &[1, 2]);
        says("2 arguments are given");
        for count in [-1, i32::MAX, i32::MIN] {
            ptx_run(text.as_ptr(), count, null(), 1, 1, 1, 1, 1, 1, 0);
            says("arguments are given");
        }
        ptx_run(text.as_ptr(), 1, null(), 1, 1, 1, 1, 1, 1, 0);
        says("there are no 1 arguments at 0x0");
        for wrong in [[0, 1, 1], [-1, 1, 1], [1, 1, i32::MIN]] {
            run_grid(&text, wrong, [1, 1, 1], &[0]);
            says("there is no block of");
            run_grid(&text, [1, 1, 1], wrong, &[0]);
            says("there is no grid of");
        }
        run_grid(&text, [2048, 1, 1], [1, 1, 1], &[0]);
        says("2048");
        let arg = [null::<c_void>()];
        ptx_run(text.as_ptr(), 1, arg.as_ptr(), 1, 1, 1, 1, 1, 1, -1);
        says("-1 bytes of shared memory");
        ptx_run(text.as_ptr(), 1, arg.as_ptr(), 1, 1, 1, 1, 1, 1, i32::MAX);
        says("shared");
        run(&kernel(".param .align 4 .b8 s[12]", ""), 1, &[0]);
        says("`s` has 12 bytes");
        // And after all that:
        run(&text, 1, &[0]);
        assert_eq!(error(), None);
    });
}

#[test]
fn each_thread_has_its_own_error() {
    going_on("each_thread_has_its_own_error", || {
        run(&kernel(TWO, THEN_STORE), 1, &[8, 8]);
        assert!(error().is_some());
        let other = std::thread::spawn(|| {
            run(&kernel("", ""), 1, &[]);
            error()
        });
        assert_eq!(other.join().unwrap(), None);
        assert!(error().is_some());
    });
}

#[test]
fn what_is_registered_has_bounds() {
    going_on("what_is_registered_has_bounds", || {
        let text = kernel(TWO, THEN_STORE);
        let mut all = [1u32; 64];
        let at = pointer(&mut all);
        let (address, next) = (without_provenance::<c_void>(at as usize), without_provenance((at + 40) as usize));
        assert_eq!((ptx_register(address, 40), ptx_register(next, 0)), (0, 0));
        run(&text, 1, &[at, at + 36]);
        assert_eq!((error(), all[0], all[9]), (None, 5, 6));
        run(&text, 1, &[at + 4, at + 40]);
        let report = error().unwrap_or_default();
        assert!(report.contains(&format!("just after the end of buffer `{at:#x}` of 40 bytes")), "{report}");
        assert_eq!(std::hint::black_box(&all)[1], 1);
        // What was there before is not any more.
        assert_eq!((ptx_register(without_provenance((at + 32) as usize), 32), ptx_unregister(address)), (0, -1));
        run(&text, 1, &[at + 32, at]);
        let report = error().unwrap_or_default();
        assert!(report.contains(&format!("32 bytes before the start of buffer `{:#x}`", at + 32)), "{report}");
        assert_eq!(ptx_unregister(without_provenance((at + 32) as usize)), 0);
        run(&text, 1, &[at + 32, at + 36]);
        assert!(error().unwrap_or_default().contains("no memory is there"));
        assert_eq!((ptx_register(null(), 4), ptx_register(address, usize::MAX)), (-1, -1));
    });
}

#[test]
fn rows_that_cross_the_end_are_not_read_beyond_it() {
    going_on("rows_that_cross_the_end_are_not_read_beyond_it", || {
        let code = "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.s64 %rd0, %rd0, %rd1;
            ld.global.u32 %r1, [%rd0]; add.u32 %r1, %r1, 1; st.global.u32 [%rd0], %r1;";
        let text = kernel(".param .u64 out", code);
        let mut all = [1u32; 40];
        let at = pointer(&mut all);
        assert_eq!(ptx_register(without_provenance(at as usize), 20 * 4), 0);
        run(&text, 20, &[at]);
        assert_eq!(error(), None);
        run(&text, 21, &[at]);
        assert!(error().unwrap_or_default().contains("just after the end"));
        assert!(all[..20] == [2; 20] && all[20..] == [1; 20]);
    });
}
