//! Deliberate errors of the barrier of a cluster, and the smallest kernels that tell them apart (`--features mutants`).

use warpstep::base::mutant::{Mutant, select};
use warpstep::check::Check;
use warpstep::{Kernel, machine::ControlModel};

/// The first thread writes a word between arriving and waiting, or before that, and the second reads it when it has waited.
fn kernel(before: &str, between: &str) -> Kernel<'static> {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 m)\n{{\n\
         .reg .b32 %t, %r<4>;\n.reg .b64 %m;\n.reg .pred %first;\nld.param.u64 %m, [m];\nmov.u32 %t, %tid.x;\n\
         setp.eq.u32 %first, %t, 0;\n{before}\n{between}\nbarrier.cluster.wait;\nld.global.u32 %r1, [%m];\n\
         barrier.cluster.arrive;\nbarrier.cluster.wait;\n@!%first st.global.u32 [%m], %r1;\nret;\n}}\n"
    );
    let kernel = Kernel::from_ptx(&text).unwrap_or_else(|e| panic!("{e}\n{text}")).block(2).warp_size(1);
    kernel.control(ControlModel::Thread).max_steps(10_000)
}

/// Whether all seeds leave what the first thread wrote.
fn hands_over() -> bool {
    (0..8).all(|seed| {
        let mut memory = [1u32; 4];
        let run = kernel("@%first st.global.u32 [%m], %t;", "barrier.cluster.arrive;");
        run.seed(seed).arg(&mut memory[..]).run().is_ok() && memory[0] == 0
    })
}

/// Whether a search finds that all schedules do.
fn is_proved() -> bool {
    let mut memory = [1u32; 4];
    let kernel = kernel("@%first st.global.u32 [%m], %t;", "barrier.cluster.arrive;");
    kernel.arg(&mut memory[..]).expect(&[0, 1, 1, 1]).prove().is_ok_and(|proof| proof.holds == Some(true))
}

/// Whether a relaxed arrival leaves a race.
fn races() -> bool {
    let mut memory = [1u32; 4];
    let kernel = kernel("@%first st.global.u32 [%m], %t;", "barrier.cluster.arrive.relaxed;");
    kernel.check(Check::Races).arg(&mut memory[..]).run().is_err_and(|e| e.code() == "race")
}

pub fn are_told_apart() {
    let killers: [(Mutant, fn() -> bool); 3] = [
        (Mutant::ClusterNeverWaits, hands_over),
        (Mutant::ClusterOutOfState, is_proved),
        (Mutant::ClusterRelaxedReleases, races),
    ];
    for (mutant, right) in killers {
        select(None);
        assert!(right(), "{}", mutant.name());
        select(Some(mutant));
        let noticed = !right();
        select(None);
        assert!(noticed, "{} is not told apart", mutant.name());
    }
}
