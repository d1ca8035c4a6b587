//! A kernel in `warpstep litmus`: one launch, under each model for PTX.

use super::bounds::usual_memory;
use super::litmus::Litmus;
use super::litmus_models::Loaded;
use super::litmus_test::{Ask, Tried, picture};
use super::output;
use crate::axiom::Limits;
use crate::base::SourceMap;
use crate::explore::{Progress, Target};
use crate::launch::{Failure, ProblemKind, Script, Spec, is_ptx, load};
use crate::litmus::Property;
use crate::litmus::kernel::{Asks, Goal, Judged, Kernel, NoGoal, accept_kernel, decide_kernel_until};
use crate::litmus::tree::Arch;
use crate::machine::Config;
use crate::program::env::ProgEnv;
use crate::report::litmus::{
    Answer, Dimensions, ModelVerdict, Subject, asked_of_kernel, diagnostic, launched, said_of_kernel, unexpressed,
    up_to,
};
use crate::report::{Diagnostic, StopReport, exit_code, limit, problem};
use crate::verdict::Stop;
use serde_json::json;
use std::path::Path;

/// How often loops are gone around unless something else is said.
const BOUND: u32 = 1;

/// Whether a path is that of a kernel: PTX, a launch file, or the folder of one.
pub(super) fn is_kernel(path: &Path) -> bool {
    let named = |known: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(known));
    is_ptx(path) || named("toml") || path.is_dir() && path.join("launch.toml").is_file()
}

/// A launch that is asked about.
struct Asked<'a> {
    target: &'a Target,
    kernel: &'a Kernel,
    /// Its name as CUDA writes it.
    name: String,
}

impl Litmus {
    /// Refuses flags that are not about what is asked.
    pub(super) fn fit(&self, paths: &[impl AsRef<Path>]) -> Result<(), u8> {
        let unfit =
            |flag, text: String, why| Err(output::refuse(ProblemKind::UnfitFlag { flag, text, why }, self.format));
        if let Some(other) = self.exists.as_ref().and_then(|_| paths.iter().find(|path| !is_kernel(path.as_ref()))) {
            let why = "a litmus test has a condition of its own: --exists is about kernels";
            return unfit("--exists", other.as_ref().display().to_string(), why);
        }
        if let Some((flag, text)) = self.launch.given().next()
            && !paths.iter().any(|path| is_ptx(path.as_ref()))
        {
            let why = "the flags describe launches of a .ptx file; launch files and litmus tests say this themselves";
            return unfit(flag, text.unwrap_or_default(), why);
        }
        if paths.iter().all(|path| !is_kernel(path.as_ref())) {
            return Ok(());
        }
        if self.progress != Progress::Fair {
            let why =
                "of kernels liveness is decided where every thread is promised to go on; `prove` has progress models";
            return unfit("--progress", self.progress.name().to_owned(), why);
        }
        if self.all {
            return unfit("--all", String::new(), "outcomes are those of litmus tests; ask for one with --exists");
        }
        if self.why {
            return unfit("--why", String::new(), "which axioms forbid something is told of litmus tests only");
        }
        Ok(())
    }

    /// A launch, ready to be asked about.
    fn target(&self, path: &Path, sources: &mut SourceMap, config: Config) -> Result<Target, Failure> {
        if Script::read(path, sources)?.is_some() {
            return Err(ProblemKind::ScriptTarget { path: path.to_owned() }.into());
        }
        let ptx = is_ptx(path);
        let spec = if ptx { self.launch.spec(path)? } else { Spec::read(path, sources)? };
        let env = load(&spec.ptx, config.control, sources)?;
        Target::new(spec, env, sources.clone(), config)
    }
}

impl Ask<'_> {
    /// Asks about a kernel. `full`: it is to be shown in full.
    pub(super) fn kernel(&self, path: &Path, full: bool) -> Tried {
        let mut tried = Tried::new(path);
        let mut sources = SourceMap::default();
        let config =
            Config { eager: true, bounds: self.bounds.clone(), max_memory: Some(usual_memory()), ..Config::default() };
        let target = match self.flags.target(path, &mut sources, config) {
            Ok(target) => target,
            Err(Failure::Input(problems)) => {
                tried.wrong(&problems.iter().map(|p| problem(p, &sources)).collect::<Vec<_>>(), &sources);
                return tried;
            }
            Err(Failure::Stop(stop)) => {
                tried.stopped(&stop, (&ProgEnv::default(), &sources));
                return tried;
            }
        };
        tried.data.language = Some(Arch::Ptx.text());
        if let [_, second, ..] = target.launches() {
            let (path, n) = (path.display(), target.launches().len());
            let what = format!(
                "`{path}`, which has {n} launches (`{}` is the second): axioms are asked about one",
                second.entry
            );
            tried.stopped(&Stop::Unsupported(what, None), target.listing());
            return tried;
        }
        let kernel = match Kernel::of(&target) {
            Ok(kernel) => kernel,
            Err(stop) => {
                tried.stopped(&stop, target.listing());
                return tried;
            }
        };
        let shape = kernel.shape();
        let launch = Dimensions { grid: shape.grid, block: shape.block };
        let entry = kernel.env().name_of(shape.entry);
        tried.data.launch = Some(launch);
        tried.data.test.clone_from(&entry);
        let asked = Asked { target: &target, kernel: &kernel, name: launched(&entry, launch) };
        match self.questions(&asked, &sources) {
            Ok(questions) => {
                for loaded in self.models.iter().filter(|loaded| loaded.arch.is_none_or(|arch| arch == Arch::Ptx)) {
                    questions.iter().for_each(|asks| self.asked(&mut tried, &asked, (loaded, asks), full));
                }
                if tried.data.verdicts.is_empty() && tried.internal.is_none() {
                    let text = self.models.iter().map(|loaded| &*loaded.name).collect::<Vec<_>>().join(", ");
                    let why = "the model is for Vulkan and the kernel is PTX: ptx-v6.0 and ptx-v7.5 are for PTX";
                    let kind = ProblemKind::UnfitFlag { flag: "--model", text, why };
                    tried.wrong(&[problem(&kind.at(None), &sources)], &sources);
                }
            }
            Err((errors, sources)) => tried.wrong(&errors, &sources),
        }
        tried
    }

    /// What is asked of a kernel.
    fn questions(&self, asked: &Asked<'_>, sources: &SourceMap) -> Result<Vec<Asks>, (Vec<Diagnostic>, SourceMap)> {
        if let Some(condition) = &self.flags.exists {
            let mut sources = sources.clone();
            let file = sources.add("--exists", condition.clone());
            let goal = Goal::read(file, condition, asked.kernel, asked.target.start());
            return match goal {
                Ok(goal) => Ok(vec![Asks::Exists(goal)]),
                Err(NoGoal::Syntax(errors)) => Err((errors.iter().map(|e| diagnostic(e, &sources)).collect(), sources)),
                Err(NoGoal::Wrong(problems)) => Err((problems.iter().map(|p| problem(p, &sources)).collect(), sources)),
            };
        }
        Ok(match self.flags.property {
            None => vec![Asks::Expected, Asks::Races, Asks::Ends],
            Some(Property::Safety) => vec![Asks::Expected],
            Some(Property::Drf) => vec![Asks::Races],
            Some(Property::Liveness) => vec![Asks::Ends],
        })
    }

    fn asked(&self, tried: &mut Tried, asked: &Asked<'_>, (loaded, asks): (&Loaded, &Asks), full: bool) {
        let (flags, model, Asked { target, kernel, name }) = (self.flags, &*loaded.model, asked);
        let bound = flags.bound.unwrap_or(BOUND);
        let limits = Limits { bound, choices: flags.max_choices };
        let up = || self.bounds.search_up().is_some();
        let judged = decide_kernel_until(kernel, target, model, asks, (flags.way, limits), &up);
        if let Err(error) = accept_kernel(model, asks, &judged) {
            tried.internal = Some(format!("{error}: {name}"));
            return;
        }
        let subject = Subject::kernel(kernel, target);
        let (answer, reason) = self.answer(&subject, &judged, limits);
        let searched = &judged.decided.searched;
        let found = judged.decided.witness.is_some() || judged.decided.lasso.is_some();
        let bounded = searched.bounded && !found;
        let words = said_of_kernel(asks, &judged);
        let places = if let Asks::Exists(goal) = asks { goal.places() } else { kernel.differing(&judged.mismatches) };
        let defect = judged.defect.as_ref().map(|stop| {
            let (env, sources) = target.listing();
            StopReport::new(stop, env, sources).json()
        });
        let verdict = ModelVerdict {
            model: loaded.name.clone(),
            property: match asks {
                Asks::Expected => Property::Safety.name(),
                Asks::Races => Property::Drf.name(),
                Asks::Ends => Property::Liveness.name(),
                Asks::Exists(_) => "exists",
            },
            progress: matches!(asks, Asks::Ends).then(|| Progress::Fair.name()),
            bound,
            asked: asked_of_kernel(asks, flags.exists.as_deref().unwrap_or(""), !target.spec().expect.is_empty()),
            answer,
            said: reason.unwrap_or_else(|| if bounded { up_to(words, bound) } else { words.to_owned() }),
            bounded,
            choices: searched.choices,
            mismatches: judged.mismatches,
            defect,
            witness: judged.decided.witness.as_ref().map(|witness| match asks {
                Asks::Races => subject.execution(model, witness),
                _ => subject.about(model, witness, &places),
            }),
            endless: judged.decided.lasso.as_ref().map(|lasso| subject.endless(model, lasso)),
            why: None,
            outcomes: None,
        };
        if tried.dot.is_none() && flags.dot.is_some() {
            tried.dot = picture(name, &verdict);
        }
        tried.add(verdict, name, full);
    }

    /// The answer, and why there is none otherwise.
    fn answer(&self, subject: &Subject<'_>, judged: &Judged, limits: Limits) -> (Answer, Option<String>) {
        let searched = &judged.decided.searched;
        let found = judged.decided.witness.is_some() || judged.decided.lasso.is_some();
        match (found, &searched.unsupported, searched.limited) {
            (false, Some(what), _) => {
                let what = judged.gap.as_ref().map_or_else(|| what.clone(), |gap| unexpressed(subject, gap));
                (Answer::Unsupported, Some(format!("unsupported: {what}")))
            }
            (false, None, true) => {
                let choices = || format!("limit reached: {} choices", limits.choices);
                (Answer::Limit, Some(self.bounds.search_up().map_or_else(choices, limit)))
            }
            _ => (if judged.decided.pass { Answer::Pass } else { Answer::Fail }, None),
        }
    }
}

impl Tried {
    /// There was nothing to ask about.
    fn stopped(&mut self, stop: &Stop, (env, sources): (&ProgEnv, &SourceMap)) {
        let report = StopReport::new(stop, env, sources);
        self.code = exit_code(stop);
        self.data.problems.push(json!(report.diagnostic().message(sources)));
        self.complaints.push(report.render(output::colour()));
    }
}
