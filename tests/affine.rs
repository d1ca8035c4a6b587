//! What the analysis claims of registers holds in every step of every example, under both control models and with schedules
//! by seed; and it claims something.

use rustc_hash::FxHashMap;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warpstep::base::{LANES, SourceMap};
use warpstep::launch::{Device, Spec, load, run};
use warpstep::machine::{Config, ControlModel};
use warpstep::program::affine::{Affine, Line, Pattern, Residue, Threads};
use warpstep::program::env::{FuncId, ProgEnv};
use warpstep::program::instr::{Op, value};
use warpstep::program::ops::{Class, IntOp};
use warpstep::program::uses::reads;
use warpstep::verdict::{Event, Needs, Shape, Sink, Step, Stop, Who};

/// Times that all registers are looked at before an instruction.
const OFTEN: u32 = 20;

/// The patterns before each instruction of a function.
type Claims = FxHashMap<u32, Vec<Pattern>>;

/// Compares what the lanes of each step hold with what is claimed.
struct Watch {
    env: Arc<ProgEnv>,
    shape: Option<Shape>,
    known: FxHashMap<(FuncId, [u32; 3], u32), (Affine, Claims)>,
    /// Warps in which a widened number wrapped around, which nothing is claimed of from there on.
    excused: HashSet<Who>,
    visits: FxHashMap<u32, u32>,
    checked: u64,
    claimed: u64,
    excuses: u64,
    wrong: Vec<String>,
}

impl Watch {
    fn new(env: &Arc<ProgEnv>) -> Self {
        let (known, excused) = (FxHashMap::default(), HashSet::new());
        let env = Arc::clone(env);
        let visits = FxHashMap::default();
        Self { env, shape: None, known, excused, visits, checked: 0, claimed: 0, excuses: 0, wrong: Vec::new() }
    }

    fn step(&mut self, who: Who, step: &Step<'_>) {
        let Some(shape) = self.shape else { return };
        let function = self.env.origin[step.pc.0 as usize].function;
        let (env, key) = (&self.env, (function, shape.block, shape.warp_size));
        let (affine, claims) = self.known.entry(key).or_insert_with(|| {
            let affine = Affine::of(env, function, Threads::Block(shape.block), shape.warp_size);
            let mut claims = Claims::default();
            affine.each(env, |pc, before, _| drop(claims.insert(pc.0, before.to_vec())));
            (affine, claims)
        });
        if affine.gave_up() || self.excused.contains(&who) {
            return;
        }
        let Some(of) = env.function(function) else { return };
        let Some(before) = claims.get(&step.pc.0) else {
            self.wrong.push(format!("{:?} is never reached, the analysis says", step.pc));
            return;
        };
        // All registers where an instruction is met the first times, those that it reads always.
        let visits = self.visits.entry(step.pc.0).or_default();
        *visits += 1;
        let mut all: Vec<usize> = Vec::new();
        if *visits <= OFTEN {
            all.extend(0..before.len());
        } else {
            reads(&env.code[step.pc.0 as usize], env, |class, slot| all.extend(of.slots.number(class, slot)));
        }
        for n in all {
            let pattern = &before[n];
            self.checked += 1;
            self.claimed += u64::from(*pattern != Pattern::Vector);
            let (class, slot) = of.slots.name(n);
            let lane = |lane| value(step.regs, class, slot, lane).unwrap_or(0);
            if !affine.admits(class, *pattern, step.active, lane) {
                let values: Vec<u64> = (0..LANES).filter(|l| step.active >> l & 1 == 1).map(lane).collect();
                let name = of.registers.name_of(class, slot).unwrap_or("?");
                self.wrong.push(format!(
                    "{who:?} {:?} {name} {class:?}{}: {pattern:?} but {values:x?} in {:#x}",
                    step.pc, slot.0, step.active
                ));
                return;
            }
        }
        if affine.assumptions().any(|pc| pc == step.pc) && !unwrapped(env, affine, before, step) {
            self.excuses += 1;
            self.excused.insert(who);
        }
    }
}

/// Whether the 32-bit numbers that lie on lines and that an instruction reads do so as wider ones, too.
fn unwrapped(env: &ProgEnv, affine: &Affine, before: &[Pattern], step: &Step<'_>) -> bool {
    let Some(of) = env.function(env.origin[step.pc.0 as usize].function) else { return false };
    let (mut fits, instr) = (true, &env.code[step.pc.0 as usize]);
    let sign = matches!(instr.op, Op::Int(IntOp::SextWQ | IntOp::MulWideS32 | IntOp::MadWideS32));
    reads(instr, env, |class, slot| {
        let pattern = of.slots.number(class, slot).map(|n| before[n]);
        if let (Class::W, Some(Pattern::Affine(mut line))) = (class, pattern) {
            let wide = |word: u32| if sign { i64::from(word.cast_signed()).cast_unsigned() } else { word.into() };
            line = Line { stride: i64::from((line.stride as u32).cast_signed()).cast_unsigned(), base: Residue::NONE, ..line };
            let word = |lane| value(step.regs, class, slot, lane).unwrap_or(0) as u32;
            fits &= affine.admits(Class::Q, Pattern::Affine(line), step.active, |lane| wide(word(lane)));
        }
    });
    fits
}

impl Sink for Watch {
    const ON: bool = true;

    fn event(&mut self, who: Who, event: Event<'_>) -> Result<(), Stop> {
        match event {
            Event::Launch { shape, .. } => {
                self.shape = Some(shape);
                self.excused.clear();
            }
            Event::Step(step) if self.wrong.len() < 3 => self.step(who, &step),
            _ => {}
        }
        Ok(())
    }

    fn needs(&self) -> Needs {
        Needs::all()
    }
}

/// The launch files of all examples.
fn launches() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("ptx-examples");
    let folders = std::fs::read_dir(root).into_iter().flatten().flatten().map(|e| e.path());
    let files = folders.filter_map(|f| std::fs::read_dir(f).ok()).flatten().flatten().map(|e| e.path());
    let mut all: Vec<_> = files.filter(|f| f.extension().is_some_and(|e| e == "toml")).collect();
    all.sort();
    all
}

/// Runs an example; what was claimed of what was checked, how often a number wrapped around, and what was wrong.
fn watched(path: &Path, control: ControlModel) -> Result<(u64, u64, u64), String> {
    let mut sources = SourceMap::default();
    let text = |problems| format!("{problems:?}");
    let spec = Spec::read(path, &mut sources).map_err(text)?;
    let env = load(&spec.ptx, Some(control), &mut sources).map_err(text)?;
    let config = Config { control: Some(control), ..Config::default() };
    let mut device = Device::new(env, sources, config).map_err(|stop| format!("{stop:?}"))?;
    let mut watch = Watch::new(&device.context().program());
    // Some end in a hang on purpose under one of the models.
    let _ = run(&spec, &mut device, &mut watch, None, &mut |_| ());
    if watch.wrong.is_empty() { Ok((watch.claimed, watch.checked, watch.excuses)) } else { Err(watch.wrong.join("\n")) }
}

#[test]
fn claims_hold_in_the_examples() {
    let (mut wrong, mut sums) = (Vec::new(), [(0, 0, 0); 2]);
    for path in launches() {
        for (control, sum) in [ControlModel::Crs, ControlModel::Its].into_iter().zip(&mut sums) {
            match watched(&path, control) {
                Ok((claimed, checked, excuses)) => {
                    *sum = (sum.0 + claimed, sum.1 + checked, sum.2 + excuses);
                }
                Err(why) => wrong.push(format!("{} {control:?}: {why}", path.display())),
            }
        }
    }
    println!("{sums:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
