//! Groups of a warp go on at once where they meet no others (D-search-apart), and nothing is lost by it: what is found with every
//! instruction a step is found so, too. Programs by hand, in which it matters who executes an instruction together, and random ones.

use crate::reference::Found;
use crate::small::{Small, small};
use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use std::fmt::Write;
use warpstep::explore::space::{Fairness, Options, Space, cycles_until, explore};
use warpstep::machine::walk::Grain;
use warpstep::machine::{Config, ControlModel};

/// A program: what decides in it, its body, threads, lanes of a warp, and how many outcomes and defects there are. `%t` is the
/// thread, `%m` the memory, `%own` the thread's word of it; `%r`, `%p` are free, `%a` is stored to the thread's word at the end.
struct Case {
    name: &'static str,
    body: &'static str,
    threads: u32,
    warp_size: u32,
    found: (usize, usize),
}

const fn case(name: &'static str, threads: u32, found: (usize, usize), body: &'static str) -> Case {
    Case { name, body, threads, warp_size: threads, found }
}

fn cases() -> Vec<Case> {
    vec![
        // The second lane may count first, also when it has seen the store behind which the first one does nothing but compute.
        case("an instruction with the others or before them", 2, (4, 0),
            "setp.eq.u32 %p0, %t, 0; @%p0 bra A;
             ld.global.u32 %a, [%m]; bra V; A: st.global.u32 [%m], 8; add.u32 %a, %a, 8;
             V: atom.global.add.u32 %r0, [%m+4], 1; add.u32 %a, %a, %r0;"),
        case("who is there", 2, (4, 0),
            "setp.eq.u32 %p0, %t, 0; @%p0 bra A;
             ld.global.u32 %a, [%m]; bra V; A: st.global.u32 [%m], 8; add.u32 %a, %a, 8;
             V: activemask.b32 %r0; add.u32 %a, %a, %r0;"),
        case("a ballot of two groups of two", 4, (4, 0),
            "and.b32 %r1, %t, 1; setp.eq.u32 %p0, %r1, 0; @%p0 bra A;
             ld.global.u32 %a, [%m]; bra V; A: st.global.u32 [%m], 16; add.u32 %a, %a, 16;
             V: vote.ballot.b32 %r0, %p0; add.u32 %a, %a, %r0;"),
        // The first lane waits for the second one, where it has been before.
        case("an instruction that others come back to", 2, (2, 0),
            "setp.eq.u32 %p0, %t, 0; mov.u32 %r1, 0;
             V: atom.global.add.u32 %r0, [%m+4], 1; mad.lo.u32 %a, %a, 4, %r0; @!%p0 bra E;
             add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 2; @%p1 bra V; E: st.global.u32 [%m+8], %t;"),
        case("the last target of an indirect branch", 2, (4, 0),
            "setp.eq.u32 %p0, %t, 0; @%p0 bra A; ld.global.u32 %a, [%m]; mov.u32 %r1, 1;
             T: .branchtargets B, V; brx.idx %r1, T;
             A: st.global.u32 [%m], 8; add.u32 %a, %a, 8;
             V: atom.global.add.u32 %r0, [%m+4], 1; add.u32 %a, %a, %r0; B:"),
        // An aligned barrier asks whether those who are elsewhere are about to end.
        case("who is about to end while others are at a barrier", 2, (1, 1),
            "setp.eq.u32 %p2, %t, 7; @%p2 bra X; setp.eq.u32 %p0, %t, 0; @%p0 bra A;
             W: ld.volatile.global.u32 %r0, [%m]; setp.eq.u32 %p1, %r0, 0; @%p1 bra W; bar.sync 0; exit;
             A: st.global.u32 [%m], 1; add.u32 %a, %a, 8; X: exit;"),
        // The second lane is let go on by another warp, when the first one has stored.
        Case { warp_size: 2, ..case("who waits for another warp", 4, (2, 0),
            "mov.u32 %r7, 2; setp.eq.u32 %p0, %t, 0; @%p0 bra A; setp.eq.u32 %p1, %t, 1; @%p1 bra B; setp.eq.u32 %p2, %t, 3; @%p2 exit;
             W: ld.volatile.global.u32 %r0, [%m]; setp.eq.u32 %p1, %r0, 0; @%p1 bra W; barrier.sync 1, %r7; exit;
             A: st.global.u32 [%m], 8; add.u32 %a, %a, 8; bra V;
             B: barrier.sync 1, %r7; V: atom.global.add.u32 %r0, [%m+4], 1; add.u32 %a, %a, %r0;") },
        // A run that stops keeps others from another defect.
        case("a trap behind a store that another one sees", 2, (0, 2),
            "setp.eq.u32 %p0, %t, 0; @%p0 bra A;
             ld.volatile.global.u32 %r0, [%m]; setp.eq.u32 %p1, %r0, 1; @%p1 trap; bra E;
             A: st.global.u32 [%m], 1; add.u32 %a, %a, 8; trap; E:"),
    ]
}

const BEFORE: &str = ".address_size 64\n.entry k(.param .u64 p) {\n.reg .b64 %m, %own, %rd; \
    .reg .b32 %t, %a, %r<8>; .reg .pred %p<4>;\nld.param.u64 %m, [p]; mov.u32 %t, %tid.x; mov.u32 %a, 0;\n\
    mul.wide.u32 %rd, %t, 4; add.u64 %own, %m, %rd;\n";

/// A kernel of a body, of threads with program counters of their own.
fn kernel(body: &str, threads: u32, warp_size: u32) -> Small {
    let text = format!(".version 8.0\n.target sm_60\n{BEFORE}{body}\nst.global.u32 [%own+16], %a;\nret;\n}}\n");
    small(&text, 1, threads, Config { control: Some(ControlModel::Its), warp_size, ..Config::default() })
}

/// States of a random program at most, so that there is time for many.
const LARGEST: u64 = 1_500;

/// What a search found, and whether runs never end that are fair in each way. `None`: it was too large.
fn told(space: &Space<Vec<u8>>) -> Option<(Found<Vec<u8>>, [bool; 2])> {
    let endless = |fairness| !cycles_until(&space.graph, fairness, &mut |_, _| (), &|| None).0.is_empty();
    Some((Found::of(space)?, [Fairness::Strong, Fairness::StrongThreads].map(endless)))
}

/// What two searches find alike, and in how many states each.
type Compared = (Found<Vec<u8>>, [usize; 2]);

/// Compares the search with that which leaves nothing out; gives what they find, and in how many states. `None`: in more
/// than `most`.
fn compare(program: &Small, most: u64) -> Result<Option<Compared>, String> {
    let space = |grain| {
        let mut poll = |_: &_| None;
        let mut options = Options { audit: true, max_states: Some(most), ..Options::states(false, &mut poll) };
        program.search(grain, |walk, outcome| explore(walk, &mut options, outcome))
    };
    let spaces = [Grain::Instruction, Grain::Visible].map(space);
    let [whole, apart] = spaces.each_ref().map(told);
    let Some(whole) = whole else { return Ok(None) };
    match apart {
        Some(apart) if apart == whole => Ok(Some((whole.0, spaces.map(|space| space.graph.states())))),
        apart => Err(format!("{whole:?} and {apart:?}")),
    }
}

impl Case {
    fn compare(&self) -> Result<(usize, usize), String> {
        let found = compare(&kernel(self.body, self.threads, self.warp_size), 20_000);
        let (found, _) = found.map_err(|e| format!("{}: {e}", self.name))?.ok_or("it is too large")?;
        Ok((found.outcomes.len(), found.defects.len()))
    }
}

#[test]
fn who_meets_whom_is_not_lost() {
    let found = |case: &Case| (case.name, case.compare());
    let wanted = |case: &Case| (case.name, Ok(case.found));
    let all = cases();
    assert_eq!(all.iter().map(found).collect::<Vec<_>>(), all.iter().map(wanted).collect::<Vec<_>>());
}

/// Random bodies.
struct Random {
    rng: ChaCha8Rng,
    text: String,
    labels: u32,
    threads: u32,
}

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.rng.next_u32() % n
    }

    fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    fn add(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..1 + self.below(2) {
            self.statement(depth);
            // What nobody notices.
            if self.below(2) == 0 {
                self.add("add.u32 %a, %a, 1;");
            }
        }
    }

    fn statement(&mut self, depth: u32) {
        let (word, value) = (4 * self.below(2), 1 + self.below(2));
        match self.below(if depth < 2 { 14 } else { 9 }) {
            0 | 1 => self.add(&format!("ld.global.u32 %r0, [%m+{word}]; mad.lo.u32 %a, %a, 5, %r0;")),
            2 => self.add(&format!("st.global.u32 [%m+{word}], {value};")),
            3 => self.add(&format!("st.global.u32 [%m+{word}], %t;")),
            4 => self.add(&format!("atom.global.add.u32 %r0, [%m+{word}], {value}; mad.lo.u32 %a, %a, 5, %r0;")),
            5 => self.add("activemask.b32 %r0; mad.lo.u32 %a, %a, 5, %r0;"),
            6 => self.add("setp.ne.u32 %p0, %a, 0; vote.ballot.b32 %r0, %p0; mad.lo.u32 %a, %a, 5, %r0;"),
            7 => self.wait(value),
            8 => {
                let lane = self.below(self.threads);
                self.add(&format!("setp.eq.u32 %p0, %t, {lane};"));
                self.add(if value == 1 { "@%p0 exit;" } else { "@%p0 add.u32 %a, %a, 7;" });
            }
            9..=12 => self.branch(depth, value),
            _ => self.repeat(depth),
        }
    }

    /// Lanes wait for a store, for others of their warp or of their block.
    fn wait(&mut self, value: u32) {
        let label = self.label();
        match self.below(6) {
            0 | 1 => self.add(&format!(
                "L{label}: ld.volatile.global.u32 %r0, [%m]; setp.ne.u32 %p0, %r0, {value}; @%p0 bra L{label};"
            )),
            2 => self.add(&format!(
                "L{label}: atom.global.cas.b32 %r0, [%m], 0, 1; setp.ne.u32 %p0, %r0, 0; @%p0 bra L{label}; st.global.u32 [%m], 0;"
            )),
            3 => self.add("bar.sync 0;"),
            4 => self.add("barrier.sync 1;"),
            _ => self.add("bar.warp.sync 3;"),
        }
    }

    fn branch(&mut self, depth: u32, value: u32) {
        let (other, end) = (self.label(), self.label());
        let lane = self.below(self.threads);
        self.add(&match value {
            1 => format!("setp.eq.u32 %p0, %t, {lane}; @%p0 bra L{other};"),
            _ => format!("and.b32 %r0, %a, 1; setp.eq.u32 %p0, %r0, 0; @%p0 bra L{other};"),
        });
        self.statements(depth + 1);
        if self.below(3) > 0 {
            self.add(&format!("bra L{end};\nL{other}:"));
            self.statements(depth + 1);
            self.add(&format!("L{end}:"));
        } else {
            self.add(&format!("L{other}:"));
        }
    }

    /// A loop that the lanes go through once or twice.
    fn repeat(&mut self, depth: u32) {
        let (label, count) = (self.label(), 4 + depth);
        self.add(&format!("mov.u32 %r{count}, 0;\nL{label}:"));
        self.statements(depth + 1);
        self.add(&format!("add.u32 %r{count}, %r{count}, 1; setp.lt.u32 %p1, %r{count}, 2; @%p1 bra L{label};"));
    }

    fn program(seed: u64) -> (String, u32, u32) {
        let mut new = Self { rng: ChaCha8Rng::seed_from_u64(seed), text: String::new(), labels: 0, threads: 2 };
        let (threads, warp_size) = [(2, 2), (3, 3), (3, 2), (2, 2), (4, 2), (4, 4)][(seed % 6) as usize];
        new.threads = threads;
        new.branch(0, 1);
        new.statements(1);
        (new.text, threads, warp_size)
    }
}

#[test]
fn random_programs_lose_nothing() {
    let (mut endless, mut several, mut broken, mut compared, mut states) = (0, 0, 0, 0, [0; 2]);
    for seed in 0..programs() {
        let (body, threads, warp_size) = Random::program(seed);
        let found = compare(&kernel(&body, threads, warp_size), LARGEST);
        let found =
            found.unwrap_or_else(|e| panic!("seed {seed}, {threads} threads in warps of {warp_size}: {e}\n{body}"));
        let Some((found, took)) = found else { continue };
        compared += 1;
        endless += u32::from(found.endless == Some(true));
        several += u32::from(found.outcomes.len() > 1);
        broken += u32::from(!found.defects.is_empty());
        states.iter_mut().zip(took).for_each(|(sum, took)| *sum += took);
    }
    println!(
        "{compared} programs, {endless} endless, {several} with several outcomes, {broken} with defects; states {states:?}"
    );
    // The programs are worth it: there are some of each kind.
    let all = u32::try_from(programs()).unwrap();
    let counts = [(compared, 500), (endless, 60), (several, 150), (broken, 40)];
    assert!(counts.iter().all(|(n, least)| n * 900 > least * all), "{counts:?}");
    assert!(4 * states[1] < states[0], "{states:?}");
}

/// Random programs; a third of them, unless all are asked for.
fn programs() -> u64 {
    if std::env::var_os("ALIKE_FULL").is_some() { 900 } else { 300 }
}

/// A lock that is taken by compare-and-swap.
const LOCK: &str = "L: atom.global.cas.b32 %r0, [%m], 0, 1; setp.ne.u32 %p0, %r0, 0; @%p0 bra L;
    ld.global.u32 %r1, [%m+4]; add.u32 %r1, %r1, 1; st.global.u32 [%m+4], %r1; atom.global.exch.b32 %r0, [%m], 0; ret; }";

/// States of the lock, by its threads and how many of them are a warp.
const STATES: [((u32, u32), usize); 5] =
    [((4, 2), 51), ((8, 4), 175), ((16, 8), 639), ((16, 4), 8125), ((64, 32), 9471)];

#[test]
fn a_lock_of_two_whole_warps_is_settled() {
    let states = STATES.map(|((threads, warp_size), _)| {
        let config = Config { control: Some(ControlModel::Its), warp_size, ..Config::default() };
        // For a target that has nothing injected.
        let text = format!(".version 8.0\n.target sm_70\n{BEFORE}{LOCK}");
        let space = small(&text, 1, threads, config).space(Grain::Visible, None, false);
        let (found, endless) = told(&space).expect("it comes to its end");
        assert!(found.defects.is_empty() && found.outcomes.len() == 1 && found.endless == Some(false), "{found:?}");
        assert_eq!(endless, [false; 2]);
        ((threads, warp_size), space.graph.states())
    });
    assert_eq!(states, STATES);
}

/// A search that lets lanes go on wherever they stop loses something of one of the programs.
#[cfg(feature = "mutants")]
pub fn mutants_are_noticed() {
    use warpstep::base::mutant::{Mutant, select};
    select(Some(Mutant::LanesNeverMeet));
    let lost: Vec<&str> = cases().iter().filter(|case| case.compare().is_err()).map(|case| case.name).collect();
    select(None);
    assert!(lost.len() > 3, "{lost:?}");
}
