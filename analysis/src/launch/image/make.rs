//! Making textures, samplers and surfaces in a context.

use super::{ImageSpec, Images, SamplerSpec, Texels};
use crate::alu::image::{Filter, Image, Meaning, Sampler, Texture};
use crate::launch::Buffer;
use crate::launch::failure::{Failure, Placed};
use crate::launch::problem::{At, Problem, ProblemKind};
use crate::machine::Context;
use crate::machine::images::{APART, Bound, What, initialised};
use crate::program::env::{ProgEnv, Reference};
use crate::verdict::ImageKind;
use indexmap::IndexMap;

/// The handles of what was made, by kind and name.
pub type Made = IndexMap<(ImageKind, String), u64>;

/// Makes all; `place` gives a buffer by its name, and has those made that textures have of their own.
///
/// # Errors
/// Everything that is wrong with them; the memory cap.
pub fn made(
    context: &mut Context,
    all: &Images,
    mut place: impl FnMut(&mut Context, &str, Option<&Buffer>) -> Result<Option<Placed>, Failure>,
) -> Result<Made, Failure> {
    let (mut made, mut problems) = (Made::new(), Vec::new());
    let env = context.program();
    // A texture may have the texels of another one, or of a surface.
    for (_, name, spec) in all.images() {
        if let Texels::Own(init) = &spec.texels {
            place(context, name, own(spec, init).as_ref())?;
        }
    }
    for (kind, name, spec) in all.images() {
        let reference = match reference(&env, kind, spec.variable.as_deref(), spec.at) {
            Ok(found) => found,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        let (buffer, offset) = match &spec.texels {
            Texels::Buffer { name, offset } => (name, *offset),
            Texels::Own(_) => (name, 0),
        };
        let Some(Placed { address, bytes, .. }) = place(context, buffer, None)? else {
            problems.push(ProblemKind::UnknownBuffer { name: buffer.clone(), known: Vec::new() }.at(spec.at));
            continue;
        };
        let image = image(spec, address.wrapping_add(offset));
        if offset.checked_add(image.bytes()).is_none_or(|end| end > bytes) {
            let (name, buffer, wanted) = (name.clone(), buffer.clone(), image.bytes());
            problems.push(ProblemKind::TexelsBeyond { name, buffer, offset, wanted, bytes }.at(spec.at));
            continue;
        }
        let what = if kind == ImageKind::Texture {
            let sampler = sampler(&spec.sampler, reference, Sampler::default());
            let texture = Texture { image, sampler, read: spec.read };
            let blends = sampler.filter == Filter::Linear || sampler.levels == Filter::Linear;
            if blends && texture.gives() != Meaning::Float {
                let format = spec.format.channel.name();
                problems.push(ProblemKind::BlendsIntegers { name: name.clone(), format }.at(spec.at));
                continue;
            }
            if spec.levels > 1 && !sampler.normalised {
                problems.push(ProblemKind::LevelsUnnormalised { name: name.clone() }.at(spec.at));
                continue;
            }
            What::Texture(texture)
        } else {
            What::Surface(image)
        };
        bind(context, &mut made, (kind, name, what), spec.variable.as_deref());
    }
    for (name, spec) in &all.samplers {
        match reference(&env, ImageKind::Sampler, spec.variable.as_deref(), spec.at) {
            Ok(reference) => {
                let what = What::Sampler(sampler(&spec.sampler, reference, APART));
                bind(context, &mut made, (ImageKind::Sampler, name, what), spec.variable.as_deref());
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(made) } else { Err(Failure::Input(problems)) }
}

/// The buffer of a texture's own.
fn own(spec: &ImageSpec, init: &crate::launch::Data) -> Option<Buffer> {
    let ty = spec.element()?;
    let len = Some(image(spec, 0).bytes() / u64::from(ty.bytes));
    Some(Buffer { ty, init: init.clone(), len, at: spec.at })
}

/// Its texels, once it is known where they lie.
fn image(spec: &ImageSpec, address: u64) -> Image {
    let ImageSpec { geometry, linear, size, layers, levels, format, pitch, .. } = *spec;
    let pitch = pitch.unwrap_or(u64::from(size[0]) * u64::from(format.bytes()));
    Image { geometry, size, layers: layers * geometry.faces(), format, address, pitch, levels, linear }
}

/// The variable that something is bound to, which must be of its kind.
fn reference<'a>(
    env: &'a ProgEnv,
    kind: ImageKind,
    variable: Option<&str>,
    at: At,
) -> Result<Option<&'a Reference>, Problem> {
    let Some(name) = variable else { return Ok(None) };
    let references = || env.variables.iter().filter_map(|(name, v)| Some((name, v.reference.as_ref()?)));
    match references().find(|(known, reference)| *known == name && reference.kind == kind) {
        Some((_, reference)) => Ok(Some(reference)),
        None => {
            let known = references().filter(|(_, r)| r.kind == kind).map(|(name, _)| name.clone()).collect();
            Err(ProblemKind::NoReference { name: name.to_owned(), ty: kind.type_name(), known }.at(at))
        }
    }
}

/// Makes a handle, and binds to a variable.
fn bind(context: &mut Context, made: &mut Made, (kind, name, what): (ImageKind, &str, What), variable: Option<&str>) {
    let address = variable.and_then(|variable| context.symbol(variable));
    let Some(images) = context.images_mut() else { return };
    let bound = Bound { name: name.to_owned(), what };
    if let Some((address, _)) = address {
        images.bind(address, bound.clone());
    }
    made.insert((kind, name.to_owned()), images.make(bound));
}

/// What is said of a sampler, or else by the initialiser of its variable, or else the usual.
fn sampler(said: &SamplerSpec, reference: Option<&Reference>, usual: Sampler) -> Sampler {
    let usual = reference.map_or(usual, |reference| initialised(reference, usual));
    Sampler {
        address: said.address.unwrap_or(usual.address),
        filter: said.filter.unwrap_or(usual.filter),
        levels: said.levels.unwrap_or(usual.levels),
        normalised: said.normalised.unwrap_or(usual.normalised),
        border: said.border.map_or(usual.border, |colour| colour.map(f32::to_bits)),
    }
}
