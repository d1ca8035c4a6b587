//! A PTX module that was read and checked once, to be launched from many times.

use super::error::Error;
use crate::base::{FileId, SourceMap};
use crate::launch::{Device, ProblemKind, build, modules};
use crate::machine::{Config, ControlModel};
use crate::program::env::{Param, ProgEnv};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// What a text of PTX is called in messages that came from no file.
const UNNAMED: &str = "kernel.ptx";

/// A PTX module: its text is read and checked once, and its kernels are launched as often as one likes. A clone is the same
/// module.
///
/// ```
/// use warpstep::Module;
///
/// let module = Module::from_file("docs/tour/scale.ptx")?;
/// assert_eq!(module.kernels().collect::<Vec<_>>(), ["scale"]);
/// let types: Vec<&str> = module.parameters("scale").unwrap().iter().map(|p| p.ty.as_str()).collect();
/// assert_eq!(types, ["u64", "u32"]);
/// for n in [1u32, 2, 3] {
///     let mut x = vec![1.0f32; 8];
///     module.kernel("scale").block(n).arg(&mut x).arg(7u32).run()?;
/// }
/// # Ok::<(), warpstep::Error>(())
/// ```
#[derive(Clone)]
pub struct Module(Arc<Inner>);

struct Inner {
    sources: Arc<SourceMap>,
    /// Its texts; there is one at least, and several where they are linked, or where an executable was made of several sources.
    files: Vec<FileId>,
    /// For the control model of the target's hardware.
    env: Arc<ProgEnv>,
    /// For the others, which have other instructions in the code, or do without them; made when it is asked for.
    other: OnceLock<Arc<ProgEnv>>,
}

impl Module {
    /// A module of a text.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn from_ptx(text: &str) -> Result<Self, Error> {
        Self::named(UNNAMED, text)
    }

    /// The same of a file, which messages name: PTX, or what nvcc makes with PTX in it (a fat binary, an object, an executable), of
    /// which the highest architecture that is known is taken.
    ///
    /// # Errors
    /// The file cannot be read; everything that is wrong with its text.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let mut sources = SourceMap::default();
        let files = modules(path, &mut sources).map_err(|kind| Error::input(&[kind.at(None)], &sources))?;
        Self::of(files, sources)
    }

    /// A module of a text that messages call by a name.
    ///
    /// # Errors
    /// Everything that is wrong with the text.
    pub fn named(name: &str, text: &str) -> Result<Self, Error> {
        Self::linked(&[(name, text)])
    }

    /// A module of several texts that are linked, each with the name that messages call it by: what one declares `.extern`, another
    /// one defines. Its name is that of the first.
    ///
    /// # Errors
    /// Everything that is wrong with the texts and between them; there is none.
    pub fn linked(texts: &[(&str, &str)]) -> Result<Self, Error> {
        let mut sources = SourceMap::default();
        let files: Vec<_> = texts.iter().map(|(name, text)| sources.add(*name, *text)).collect();
        if files.is_empty() {
            let why = "a module has one at least";
            let problem = ProblemKind::UnfitFlag { flag: "texts", text: String::new(), why };
            return Err(Error::input(&[problem.at(None)], &sources));
        }
        Self::of(files, sources)
    }

    fn of(files: Vec<FileId>, sources: SourceMap) -> Result<Self, Error> {
        let env = build(&files, None, &sources).map_err(|problems| Error::input(&problems, &sources))?;
        let (sources, env) = (Arc::new(sources), Arc::new(env));
        Ok(Self(Arc::new(Inner { sources, files, env, other: OnceLock::new() })))
    }

    /// Its texts, each with its name in messages.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let sources = self.0.files.iter().filter_map(|file| self.sources().get(*file));
        sources.map(|source| (source.name.as_str(), source.text.as_str()))
    }

    /// Its name in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        let name = self.texts().next().map_or(UNNAMED, |(name, _)| name);
        // Several modules of a file have numbers behind its name.
        if self.0.files.len() > 1 { name.strip_suffix("#1").unwrap_or(name) } else { name }
    }

    /// Its text; of several that were linked, the first.
    #[must_use]
    pub fn text(&self) -> &str {
        self.texts().next().map_or("", |(_, text)| text)
    }

    /// Its `.global` variables, in the order of the text, each with what it holds before any kernel runs.
    ///
    /// # Errors
    /// They need more memory than a device has.
    pub fn variables(&self) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let sources = self.sources();
        let made = Device::new(Arc::clone(self.env()), Arc::clone(sources), Config::default());
        let device = made.map_err(|stop| Error::failure(stop.into(), self.env(), sources))?;
        let globals =
            self.env().variables.iter().filter(|(_, variable)| !variable.constant && variable.reference.is_none());
        let held = |name: &String| device.contents(name).map_or(&[][..], |(_, bytes)| bytes).to_vec();
        Ok(globals.map(|(name, _)| (name.clone(), held(name))).collect())
    }

    /// The names of its kernels, in the order of the text.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.0.env.functions.values().filter(|f| f.entry && f.defined).map(|f| f.name.as_str())
    }

    /// The parameters of a kernel; `None` where the module has no such kernel.
    #[must_use]
    pub fn parameters(&self, kernel: &str) -> Option<&[Param]> {
        self.0.env.functions.get(kernel).filter(|f| f.entry && f.defined).map(|f| &*f.params)
    }

    /// The size of a pointer, in bytes.
    #[must_use]
    pub fn pointer_bytes(&self) -> u32 {
        self.0.env.target.address_bits / 8
    }

    pub(super) fn sources(&self) -> &Arc<SourceMap> {
        &self.0.sources
    }

    pub(super) fn env(&self) -> &Arc<ProgEnv> {
        &self.0.env
    }

    /// Its name, as the path of a launch.
    pub(super) fn path(&self) -> PathBuf {
        self.name().into()
    }

    /// The program for a control model.
    pub(super) fn program(&self, control: Option<ControlModel>) -> Result<Arc<ProgEnv>, Error> {
        let Inner { sources, files, env, other } = &*self.0;
        let injects = |control| control == ControlModel::Crs;
        let own = injects(ControlModel::of_target(env.target.sm));
        match control {
            Some(control) if injects(control) != own => {
                if let Some(other) = other.get() {
                    return Ok(Arc::clone(other));
                }
                let built = build(files, Some(control), sources);
                let built = built.map_err(|problems| Error::input(&problems, sources))?;
                Ok(Arc::clone(other.get_or_init(|| Arc::new(built))))
            }
            _ => Ok(Arc::clone(env)),
        }
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernels: Vec<_> = self.kernels().collect();
        f.debug_struct("Module").field("name", &self.name()).field("kernels", &kernels).finish()
    }
}
