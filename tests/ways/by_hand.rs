//! What chance seldom makes: values and events that would be there because of themselves alone (D-thin-air), and late-comers.

use super::compare::{LIMITS, Outcomes, outcomes, parsed};
use super::model;
use warpstep::axiom::Way;

/// A test: the model, its text behind the first line, and the outcomes; none: only that the ways agree.
struct Case {
    model: &'static str,
    text: &'static str,
    right: Option<&'static [&'static [i64]]>,
}

const CASES: &[Case] = &[
    // Data that depends on itself may be any number of the test's.
    Case {
        model: "vulkan",
        text: "VULKAN data { x=0; y=0; } P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 1,qf 0 ;
            ld.atom.dv.sc0 r0, x | ld.atom.dv.sc0 r0, y ;
            st.atom.dv.sc0 y, r0 | st.atom.dv.sc0 x, r0 ;
            locations [P0:r0; P1:r0] exists 0 == 7",
        right: Some(&[&[0, 0], &[1, 1], &[7, 7]]),
    },
    // PTX forbids that.
    Case {
        model: "ptx-v6.0",
        text: "PTX data { x=0; y=0; } P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
            ld.relaxed.gpu r0, x | ld.relaxed.gpu r0, y ;
            st.relaxed.gpu y, r0 | st.relaxed.gpu x, r0 ;
            locations [P0:r0; P1:r0] exists 0 == 7",
        right: Some(&[&[0, 0]]),
    },
    // Load buffering: nothing depends on itself.
    Case {
        model: "vulkan",
        text: "VULKAN buffering { x=0; y=0; } P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 1,qf 0 ;
            ld.atom.dv.sc0 r0, x | ld.atom.dv.sc0 r0, y ;
            st.atom.dv.sc0 y, r0 | st.atom.dv.sc0 x, 1 ;
            locations [P0:r0; P1:r0] exists 0 == 0",
        right: Some(&[&[0, 0], &[1, 0], &[1, 1]]),
    },
    // A store that is done because of itself.
    Case {
        model: "vulkan",
        text: "VULKAN branch { x=0; y=0; } P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 1,qf 0 ;
            ld.atom.dv.sc0 r0, x | ld.atom.dv.sc0 r0, y ;
            st.atom.dv.sc0 y, r0 | bne r0, 1, LC00 ;
             | st.atom.dv.sc0 x, 1 ;
             | LC00: ;
            locations [P0:r0; P1:r0] exists 0 == 0",
        right: Some(&[&[0, 0]]),
    },
    // A store that is done because of a number out of thin air.
    Case {
        model: "vulkan",
        text: "VULKAN because { x=0; y=0; z=0; } P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 1,qf 0 ;
            ld.atom.dv.sc0 r0, x | ld.atom.dv.sc0 r0, y ;
            st.atom.dv.sc0 y, r0 | st.atom.dv.sc0 x, r0 ;
             | beq r0, 0, LC00 ;
             | st.atom.dv.sc0 z, 1 ;
             | LC00: ;
            locations [P0:r0; P1:r0; z] exists 0 == 0",
        right: Some(&[&[0, 0, 0]]),
    },
    // Nobody comes to the barrier who has not seen what is stored behind it.
    Case {
        model: "vulkan",
        text: "VULKAN barrier { x=0; } P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 0,qf 0 ;
            cbar.wg 0, 0, 2 | ld.atom.dv.sc0 r0, x ;
            st.atom.dv.sc0 x, 1 | beq r0, 0, LC00 ;
             | cbar.wg 0, 0, 2 ;
             | LC00: ;
            locations [P1:r0] exists 0 == 0",
        right: Some(&[]),
    },
    // Compare-and-swaps of which each makes the other one succeed.
    Case {
        model: "vulkan",
        text: "VULKAN swaps { x=0; y=0; } P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 1,qf 0 ;
            rmw.atom.dv.sc0.cas r0, x, 1, 2 | rmw.atom.dv.sc0.cas r0, x, 2, 1 ;
            st.atom.dv.sc0 y, r0 | ld.atom.dv.sc0 r1, y ;
            locations [P0:r0; P1:r0; P1:r1; x] exists 0 == 0",
        right: None,
    },
    // A swap that succeeds because of a number that comes out of thin air.
    Case {
        model: "vulkan",
        text: "VULKAN own { x=0; u aliases x; } P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 1,qf 0 ;
            rmw.atom.qf.sc1.cas r0, x, 1, 2 | ;
            st.sc1 u, r0 | ;
            locations [P0:r0; x] exists 0 == 0",
        right: Some(&[&[0, 0], &[2, 2]]),
    },
    // Three come to a barrier of two.
    Case {
        model: "ptx-v6.0",
        text: "PTX late { x=0; y=0; } P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 ;
            st.weak x, 1 | bar.cta.sync 0, 0, 2 | st.weak y, 1 ;
            bar.cta.sync 0, 0, 2 | ld.weak r0, x | bar.cta.sync 0, 0, 2 ;
             | ld.weak r1, y | ld.weak r0, x ;
            locations [P1:r0; P1:r1; P2:r0] exists 0 == 0",
        right: None,
    },
    // A thread waits for a number out of thin air, and does nothing because of it: the first swap fails; so does the second one,
    // which alone is no trouble (`own`).
    Case {
        model: "vulkan",
        text: "VULKAN fails { x=0; y=1; } P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 1,qf 0 | P2@sg 0,wg 2,qf 0 ;
            rmw.atom.dv.sc0.cas r0, x, 1, 0 | ld.atom.dv.sc0 r0, x | rmw.atom.dv.sc0.cas r0, y, 1, 2 ;
             | st.atom.dv.sc0 y, r0 | st.atom.dv.sc0 x, r0 ;
            locations [P0:r0; P1:r0; P2:r0] exists 0 == 0",
        right: Some(&[&[0, 0, 0], &[0, 0, 1], &[0, 1, 1], &[0, 2, 2], &[1, 0, 1], &[1, 1, 1], &[2, 2, 2]]),
    },
    // Both ways of a branch lead to the same end.
    Case {
        model: "vulkan",
        text: "VULKAN joined { x=0; y=0; } P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 1,qf 0 | P2@sg 0,wg 2,qf 0 ;
            ld.atom.dv.sc0 r0, x | ld.atom.dv.sc0 r0, y | ld.atom.dv.sc0 r0, y ;
            st.atom.dv.sc0 y, r0 | st.atom.dv.sc0 x, r0 | bne r0, 1, LC00 ;
             | | LC00: ;
            locations [P0:r0; P1:r0; P2:r0] exists 0 == 0",
        right: Some(&[&[0, 0, 0], &[1, 1, 0], &[1, 1, 1]]),
    },
];

pub fn agree() {
    for case in CASES {
        let litmus = parsed(case.text);
        let right = case.right.map(|right| right.iter().map(|o| o.to_vec()).collect::<Outcomes>());
        let all = Way::ALL.iter().map(|way| outcomes(&litmus, model(case.model), *way, false, LIMITS));
        let all: Vec<Option<Outcomes>> = all.collect();
        assert!(all[0].is_some() && (right.is_none() || all[0] == right), "{:?}\n{}", all[0], case.text);
        assert!(all.iter().all(|one| *one == all[0]), "{all:?}\n{}", case.text);
    }
}
