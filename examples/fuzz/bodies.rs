//! What is done with each kind of damaged input: it may be refused or run to any end within its limits; nothing may panic,
//! and what is read must be printed and read as the same. Used by the loop of `main.rs` and by the targets of cargo-fuzz.

use std::path::Path;
use std::time::Duration;
use warpstep::axiom::{Bases, Evaluation, Limits as Asked, Relation, Set, Way, cat};
use warpstep::base::{FileId, SourceMap};
use warpstep::check::Observers;
use warpstep::choice::{Replay, Seeded};
use warpstep::explore::checkpoint::Kept;
use warpstep::explore::space::{Fairness, Options};
use warpstep::explore::{Limits, Progress, Prove, ScheduleFile, Target};
use warpstep::launch::{
    Device, Failure, Problem, ProblemKind, Script, ScriptDevice, Spec, build, load, programs, run as run_launches,
};
use warpstep::litmus::lockstep::machine::{Machine, Order};
use warpstep::machine::walk::Grain;
use warpstep::machine::{Config, Context, Launch};
use warpstep::memory::fermi::program as memp;
use warpstep::verdict::{LimitKind, Silent, Stop};
use warpstep::{litmus, ptx, report};

/// How long a run may take.
pub const TIMEOUT: Duration = Duration::from_millis(500);

/// Limits of every run.
fn config() -> Config {
    Config { max_steps: Some(5_000), max_memory: Some(64 << 20), timeout: Some(TIMEOUT), ..Config::default() }
}

/// The text of complaints is made, too: it looks at places of the input.
fn told(problems: &[Problem], sources: &SourceMap) {
    for problem in problems.iter().take(10) {
        let diagnostic = report::problem(problem, sources);
        let text = diagnostic.render(sources, false);
        assert!(!text.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{text:?}");
        let _ = serde_json::json!(diagnostic.message(sources));
    }
}

fn ended(result: Result<warpstep::launch::Outcome, Failure>, sources: &SourceMap) {
    if let Err(Failure::Input(problems)) = result {
        told(&problems, sources);
    }
}

/// What parses must print and parse to the same.
pub fn parse(text: &str) -> bool {
    let (module, errors) = ptx::parse(text);
    if errors.is_empty() {
        let printed = ptx::print(&module);
        let (again, errors) = ptx::parse(&printed);
        assert!(errors.is_empty(), "the printed module does not parse: {errors:?}");
        assert_eq!(ptx::print(&again), printed);
    }
    errors.is_empty()
}

/// A fat binary, object or executable is read or refused; what is taken of it is text that a parser takes or refuses.
pub fn fatbin(bytes: &[u8]) -> bool {
    let read = ptx::fatbin::Fatbin::read(bytes);
    let entries = read.iter().flat_map(|read| read.choose(None, 121)).flatten();
    for entry in entries {
        let _ = ptx::parse(&entry.text);
    }
    if let Err(error) = &read {
        assert!(!error.wording("a").message.is_empty());
    }
    read.is_ok_and(|read| read.choose(None, 121).is_ok())
}

/// A program that checks runs to an end of some kind within its limits.
pub fn run(text: &str) -> bool {
    let mut sources = SourceMap::default();
    let file: FileId = sources.add("fuzz.ptx", text);
    let env = match build(&[file], None, &sources) {
        Ok(env) => env,
        Err(problems) => {
            told(&problems, &sources);
            return false;
        }
    };
    let entries: Vec<(String, u32)> =
        env.functions.values().filter(|f| f.entry && f.defined).map(|f| (f.name.clone(), f.param_bytes)).collect();
    let Ok(mut context) = Context::new(env, config()) else { return false };
    let Ok(buffer) = context.alloc("buffer", 1 << 16) else { return false };
    for (entry, bytes) in entries {
        // Every 8 bytes of parameters point into the buffer; a smaller parameter sees the low half.
        let params: Vec<u8> = buffer.to_le_bytes().into_iter().cycle().take(bytes as usize).collect();
        let launch = Launch { entry, grid: [2, 1, 1], block: [64, 1, 1], shared_bytes: 1024, params };
        let fits = context.env().functions.get(&launch.entry).is_some_and(|f| f.shared_bytes < 48 << 10);
        if fits {
            let _ = context.launch(&launch, &mut |_| ());
        }
    }
    true
}

/// A launch file, whose file names are relative to a folder.
pub fn launch(text: &str, folder: &Path) -> bool {
    let mut sources = SourceMap::default();
    let file = sources.add("launch.toml", text);
    let read = Spec::parse(&sources, file, folder).and_then(|spec| Ok((load(&spec.ptx, None, &mut sources)?, spec)));
    let (env, spec) = match read {
        Ok(read) => read,
        Err(problems) => {
            told(&problems, &sources);
            return false;
        }
    };
    let Ok(mut device) = Device::new(env, sources, config()) else { return false };
    let result = run_launches(&spec, &mut device, &mut Silent, None, &mut |_| ());
    ended(result, device.sources());
    true
}

/// A host script, whose file names are relative to a folder.
pub fn script(text: &str, folder: &Path) -> bool {
    let mut sources = SourceMap::default();
    let file = sources.add("script.toml", text);
    let read =
        Script::parse(&sources, file, folder).and_then(|script| Ok((programs(&script, None, &mut sources)?, script)));
    let ((all, control), script) = match read {
        Ok(read) => read,
        Err(problems) => {
            told(&problems, &sources);
            return false;
        }
    };
    let mut device = ScriptDevice::new(all, control, sources, config());
    let result = device.run(&script, None, None, &mut |_| ());
    ended(result, device.sources());
    true
}

/// Memory programs.
pub fn memory_programs(text: &str) -> bool {
    let mut sources = SourceMap::default();
    let file = sources.add("fuzz.memp", text);
    let (_, errors) = memp::load(&[file], &sources);
    for error in errors.iter().take(10) {
        let problem = ProblemKind::Memp(Box::new(error.clone())).at(Some((error.file, error.span)));
        drop(report::problem(&problem, &sources).render(&sources, false));
    }
    errors.is_empty()
}

/// A litmus test.
pub fn litmus(text: &str) -> bool {
    let mut sources = SourceMap::default();
    let file = sources.add("fuzz.litmus", text);
    let (test, errors) = litmus::parse(file, text);
    if !errors.is_empty() {
        errors.iter().take(10).for_each(|e| drop(report::litmus::diagnostic(e, &sources).render(&sources, false)));
        return false;
    }
    let printed = litmus::print(&test);
    let (again, errors) = litmus::parse(file, &printed);
    assert!(errors.is_empty(), "the printed test does not parse: {printed}");
    assert_eq!(litmus::print(&again), printed);
    let lowered = litmus::lower(&test, file, litmus::Options::default(), &mut sources);
    if !matches!(test.arch, litmus::tree::Arch::Ptx | litmus::tree::Arch::Lockstep) {
        assert!(lowered.is_err(), "a test for another language becomes PTX: {printed}");
        return true;
    }
    let Ok(lowered) = lowered else { return false };
    let Ok(mut board) = litmus::Board::new(&lowered, config(), Grain::Visible) else { return false };
    let mut steps = 0;
    let mut poll = |_: &_| {
        steps += 1;
        (steps > 100).then_some(LimitKind::Interrupted)
    };
    let mut options = Options { max_states: Some(300), ..Options::states(false, &mut poll) };
    let _ = board.explore(&test, &mut options);
    true
}

/// A program with remote-scope promotion: read, printed, and what our model says of it.
pub fn rsp(text: &str) -> bool {
    let mut sources = SourceMap::default();
    let file = sources.add("fuzz.litmus", text);
    let (test, errors) = litmus::parse(file, text);
    if !errors.is_empty() || test.rsp.is_none() {
        errors.iter().take(10).for_each(|e| drop(report::litmus::diagnostic(e, &sources).render(&sources, false)));
        return false;
    }
    let printed = litmus::print(&test);
    let (again, errors) = litmus::parse(file, &printed);
    assert!(errors.is_empty(), "the printed test does not parse: {printed}");
    assert_eq!(litmus::print(&again), printed);
    let events: usize = test.threads.iter().map(|thread| thread.code.len()).sum();
    let Some(model) = cat::builtin("rsp").filter(|_| events < 25) else { return false };
    let limits = Asked { bound: 1, choices: 300 };
    let [one, two] =
        [Way::Graphs, Way::Sat].map(|way| litmus::decide(&test, model, litmus::Property::Drf, way, limits));
    for decided in [&one, &two] {
        if let Some(witness) = &decided.witness {
            let judged = litmus::accept(&test, model, litmus::Property::Drf, witness);
            assert!(judged.is_ok(), "{judged:?} of {printed}");
        }
    }
    if !one.searched.limited && !two.searched.limited {
        assert_eq!(one.witness.is_some(), two.witness.is_some(), "graphs and sat differ: {printed}");
    }
    true
}

/// A test for wavefronts: read, printed, and what axioms and machine say of it.
pub fn lockstep(text: &str) -> bool {
    let mut sources = SourceMap::default();
    let file = sources.add("fuzz.litmus", text);
    let (test, errors) = litmus::parse(file, text);
    let Some(program) = test.lockstep.as_ref().filter(|_| errors.is_empty()) else {
        errors.iter().take(10).for_each(|e| drop(report::litmus::diagnostic(e, &sources).render(&sources, false)));
        return false;
    };
    let printed = litmus::print(&test);
    let (again, errors) = litmus::parse(file, &printed);
    assert!(errors.is_empty(), "the printed test does not parse: {printed}");
    assert_eq!(litmus::print(&again), printed);
    let accesses = program.rows.iter().flatten().flatten().filter(|cell| cell.kind.spot().is_some()).count();
    let Some(model) = cat::builtin("lsc").filter(|_| accesses < 8) else { return false };
    let limits = Asked { bound: 1, choices: 300 };
    let decided = litmus::decide(&test, model, litmus::Property::Safety, Way::Graphs, limits);
    if let Some(witness) = &decided.witness {
        let judged = litmus::accept(&test, model, litmus::Property::Safety, witness);
        assert!(judged.is_ok(), "{judged:?} of {printed}");
    }
    let reached = Machine::new(&test, program, Order::Lsc).reach(300);
    // What the axioms allow is what the machine does, where nothing was left out.
    let complete = !reached.limited && !decided.searched.limited && !decided.searched.bounded;
    if let Some(asked) = test.condition.as_ref().filter(|_| complete && test.filter.is_none()) {
        let truth = litmus::Truth::of(asked);
        let machine = Machine::new(&test, program, Order::Lsc);
        let wanted =
            |outcome: &litmus::Outcome| asked.cond.holds(machine.observed(), outcome) != (truth == litmus::Truth::All);
        assert_eq!(decided.witness.is_some(), reached.outcomes.iter().any(wanted), "{printed}");
    }
    true
}

/// A memory model, which may include itself and the models that come along; an execution by it.
pub fn cat(text: &str) -> bool {
    let include = &mut |name: &str| match cat::source(name) {
        Some(text) => Ok((FileId(1), text.to_owned())),
        None if name.len() < 3 => Ok((FileId(2), text.to_owned())),
        None => Err("no such file".to_owned()),
    };
    let model = match cat::compile("fuzz", FileId(0), text, include) {
        Ok(model) => model,
        Err(errors) => {
            assert!(!errors.is_empty() && errors.len() <= 110 * cat::MAX_FILES);
            for error in errors.iter().take(10) {
                let here = if error.file == FileId(0) { error.span.of(text) } else { "" };
                assert!(!error.kind.wording(here).message.is_empty());
            }
            return false;
        }
    };
    for (k, node) in model.nodes.iter().enumerate() {
        assert!(node.operands().all(|operand| operand.index() < k));
    }
    // What takes long on purpose is no finding.
    if model.nodes.len() > 2000 {
        return false;
    }
    let spread = |name: &String, k: usize| (name.bytes().map(usize::from).sum::<usize>() * (k + 3)) % 7 < 3;
    let set = |name: &String| Set::of(5, (0..5).filter(|k| spread(name, *k)));
    let relation = |name: &String| Relation::matching(5, |a, b| spread(name, 5 * a + b));
    let evaluation = Evaluation::of(&model, &Bases::named(&model, 5, set, relation));
    let _ = (evaluation.failed(), evaluation.flags());
    true
}

/// A target whose schedules and checkpoints are damaged.
pub struct Small(Target);

impl Small {
    /// Two threads that add without an atomic operation.
    pub fn new() -> Self {
        let mut sources = SourceMap::default();
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schedules"));
        let folder = if folder.exists() { folder } else { Path::new("../tests/schedules") };
        let spec = Spec::read(&folder.join("atomicity.toml"), &mut sources).expect("it is there");
        let env = load(&spec.ptx, None, &mut sources).expect("it is right");
        Self(
            Target::new(spec, env, sources, Config { eager: true, liveness: true, ..config() })
                .unwrap_or_else(|_| unreachable!()),
        )
    }

    /// The lines of a schedule, without what seals them.
    pub fn schedule(&self) -> String {
        let recorded = self.0.record(Seeded::new(7), Limits { steps: 1000, fair_steps: 1000 }, Observers::none());
        let file = ScheduleFile {
            target: vec!["atomicity.toml".into()],
            schedule: recorded.schedule,
            ..ScheduleFile::default()
        };
        let text = file.text();
        text.split_once("\ncheck ").map_or(text.clone(), |(lines, _)| lines.to_owned())
    }

    /// Lines of a schedule, which are sealed as if they had been written so.
    pub fn replay(&self, lines: &str) -> bool {
        let Ok(file) = ScheduleFile::parse(&ScheduleFile::sealed(lines), FileId::default()) else { return false };
        let again = ScheduleFile::parse(&file.text(), FileId::default());
        assert_eq!(again.map(|f| f.schedule), Ok(file.schedule.clone()), "{lines}");
        let limits = Limits { steps: 1000, fair_steps: 1000 };
        let _ = self.0.record(Replay::new(file.schedule.clone()), limits, Observers::none());
        let _ = self.0.record(Replay::new(file.schedule).lenient(), limits, Observers::none());
        true
    }

    fn prove(&self, before: Option<Vec<u8>>, most: u64, save: &mut dyn FnMut(&[u8])) -> bool {
        let how = Prove { progress: Progress::Fair, fairness: Fairness::Weak, grain: Grain::Alike { blocks: true } };
        let mut polls = 0;
        let mut poll = |_: &_| {
            polls += 1;
            (polls > 100).then_some(LimitKind::Interrupted)
        };
        let mut options = Options { max_states: Some(most), ..Options::states(false, &mut poll) };
        let mut kept = Kept { before, due: &mut || false, save };
        let proof = self.0.prove_on(how, &mut options, &Observers::none, &mut kept);
        // What the program does not do is refused, not told as a defect of ours.
        !matches!(proof, Err(_) | Ok(Err(Stop::Unsupported(..))))
    }

    /// The data of a checkpoint.
    pub fn checkpoint(&self) -> Vec<u8> {
        let mut data = Vec::new();
        self.prove(None, 20, &mut |bytes| data = bytes.to_vec());
        data
    }

    /// A search that goes on from the data of a checkpoint.
    pub fn resume(&self, data: &[u8]) -> bool {
        self.prove(Some(data.to_vec()), 200, &mut |_| ())
    }
}
