//! Texture and surface instructions (PTX ISA 9.7.10, 9.7.11): the parts that only compute registers. What they load and store are
//! memory actions of their own.

use crate::alu::image::{
    Blend, Fetch, Filter, Footprint, Geometry, Hit, Image, MOST, Meaning, Sampler, Texture, as_half, between, blend,
    encoded, filtered, footprint, gathered, hit,
};
use crate::base::{Frame, LaneMask, lanes_of, put_mask};
use crate::machine::control::Control;
use crate::machine::images::{Bound, Images, What};
use crate::machine::warp::slow_path::{Rare, Trouble, bug};
use crate::memory::Memory;
use crate::program::image::{Gives, ImageOp, ImagePart, SIZES, Sampling, SurfaceAccess, Surfacing};
use crate::program::instr::{NO_SLOT, Slot};
use crate::verdict::{BugKind, ImageKind, ImageProblem, Inside, Sink};

impl<C: Control, M: Memory, S: Sink> Rare<'_, '_, '_, C, M, S> {
    /// A part of a texture or surface instruction. Lanes with the same defect are reported together.
    pub fn image(&mut self) -> Result<(), Trouble> {
        let env = self.sh.env;
        let Some(part) = env.image(self.i) else { return Ok(()) };
        let images = &*self.sh.loaded.images;
        let lanes = match part.guard {
            Some(guard) => {
                let holds = self.regs.p[guard.pred.index()];
                self.m & if guard.negated { !holds } else { holds }
            }
            None => self.m,
        };
        let on = Part { part, images };
        if let ImagePart::Locate(Sampling { graded: true, .. }) = part.kind
            && on.has_levels(self.regs, lanes)
        {
            let what = "tex.grad of a texture with several levels of detail: which of them gradients mean is documented nowhere";
            return Err(Trouble::Unsupported(what.to_owned()));
        }
        let found = match part.kind {
            ImagePart::Locate(of) => on.locate(of, self.regs, self.m, lanes),
            ImagePart::Filter(of) => on.filter(of, self.regs, lanes),
            ImagePart::Reach(of) => on.reach(of, self.regs, self.m, lanes),
            ImagePart::Encode(_) => on.encode(self.regs, lanes),
            ImagePart::Query(kind, _) => on.query(kind, self.regs, lanes),
            ImagePart::Is(kind) => {
                let is = |lane: &usize| images.is(on.handle(self.regs, *lane), kind);
                let all = lanes_of(lanes).filter(is).fold(0, |mask: LaneMask, lane| mask | 1 << lane);
                put(self.regs, part.predicate, all, lanes);
                Ok(())
            }
        };
        found.map_err(|Wrong { mut problem, lanes }| {
            if let ImageProblem::NoHandle { value, inside, .. } = &mut problem {
                *inside = Inside::of(&self.mem.arena().names(), *value).map(|inside| inside.name);
            }
            bug(BugKind::Image(problem), lanes)
        })
    }
}

/// What is wrong, in which lanes.
struct Wrong {
    problem: ImageProblem,
    lanes: LaneMask,
}

type Found<T> = Result<T, ImageProblem>;

/// A part, and what handles stand for.
struct Part<'a> {
    part: &'a ImageOp,
    images: &'a Images,
}

/// What a lane fetches.
struct Fetched<'a> {
    texture: &'a Texture,
    sampler: Sampler,
    /// A level of detail and its texels.
    near: (Image, Footprint),
    /// The next level, where that has a part.
    far: Option<(Image, Footprint)>,
    /// How large that is, in 256ths.
    second: u32,
}

/// A lane's value of a 32-bit slot.
fn word(regs: &Frame, slot: Slot, lane: usize) -> u32 {
    regs.w.get(slot.index()).map_or(0, |w| w.0[lane])
}

/// Writes a predicate in some lanes.
fn put(regs: &mut Frame, slot: Slot, value: LaneMask, lanes: LaneMask) {
    if slot != NO_SLOT {
        put_mask(&mut regs.p[slot.index()], value, lanes);
    }
}

/// What is the matter with the first lane for which something is, and the lanes with the same.
fn each<T>(lanes: LaneMask, mut of: impl FnMut(usize) -> Found<T>) -> Result<Vec<(usize, T)>, Wrong> {
    let mut all = Vec::with_capacity(lanes.count_ones() as usize);
    let mut wrong: Option<Wrong> = None;
    for lane in lanes_of(lanes) {
        match of(lane) {
            Ok(value) => all.push((lane, value)),
            Err(problem) => match &mut wrong {
                None => wrong = Some(Wrong { problem, lanes: 1 << lane }),
                Some(first) if first.problem == problem => first.lanes |= 1 << lane,
                Some(_) => {}
            },
        }
    }
    wrong.map_or(Ok(all), Err)
}

impl<'a> Part<'a> {
    fn handle(&self, regs: &Frame, lane: usize) -> u64 {
        regs.q.get(self.part.handle.index()).map_or(0, |q| q.0[lane])
    }

    /// Whether some lane's texture has several levels of detail.
    fn has_levels(&self, regs: &Frame, lanes: LaneMask) -> bool {
        lanes_of(lanes)
            .any(|lane| self.images.get(self.handle(regs, lane)).is_some_and(|bound| bound.what.levels() > 1))
    }

    /// What a value stands for, which must be of a kind.
    fn bound(&self, value: u64, wanted: ImageKind) -> Found<&'a Bound> {
        let bound = self.images.get(value).ok_or(ImageProblem::NoHandle { value, wanted, inside: None })?;
        let (name, found) = (|| bound.name.clone(), bound.what.kind());
        match bound.what {
            _ if found != wanted => Err(ImageProblem::OtherKind { name: name(), found, wanted }),
            What::Nothing(_) => Err(ImageProblem::Unbound { name: name(), wanted }),
            _ => Ok(bound),
        }
    }

    /// A lane's texture and its sampler, which must be fit for a fetch.
    ///
    /// Rule: D-texture-defects
    fn texture(&self, of: Sampling, regs: &Frame, lane: usize) -> Found<(&'a Texture, Sampler)> {
        let bound = self.bound(self.handle(regs, lane), ImageKind::Texture)?;
        let name = || bound.name.clone();
        let What::Texture(texture) = &bound.what else {
            return Err(ImageProblem::Unbound { name: name(), wanted: ImageKind::Texture });
        };
        let (found, wanted) = (texture.image.geometry, of.geometry);
        if found != wanted {
            let (found, wanted, kind) = (found.name(), wanted.name(), ImageKind::Texture);
            return Err(ImageProblem::Geometry { name: name(), kind, found, wanted });
        }
        let (sampler, sampled_by) = if self.part.sampler == NO_SLOT {
            (texture.sampler, &bound.name)
        } else {
            let value = regs.q.get(self.part.sampler.index()).map_or(0, |q| q.0[lane]);
            let bound = self.bound(value, ImageKind::Sampler)?;
            match bound.what {
                // It may say that coordinates count texels whatever the texture says, not the other way round (PTX ISA 5.3.2).
                What::Sampler(sampler) => {
                    let normalised = sampler.normalised && texture.sampler.normalised;
                    (Sampler { normalised, ..sampler }, &bound.name)
                }
                _ => return Err(ImageProblem::Unbound { name: bound.name.clone(), wanted: ImageKind::Sampler }),
            }
        };
        let format = texture.image.format.channel.name();
        let integers = matches!(of.gives, Gives::Integers(_));
        if integers == (texture.gives() == Meaning::Float) {
            let wanted = match of.gives {
                Gives::Integers(Meaning::Signed) => "s32",
                Gives::Integers(_) => "u32",
                Gives::Floats => "f32",
                Gives::Halves => "f16",
                Gives::Pairs => "f16x2",
            };
            return Err(ImageProblem::Gives { name: name(), format, normalised: texture.normalises(), wanted });
        }
        if texture.image.linear && of.floats {
            return Err(ImageProblem::Linear { name: name() });
        }
        let between = sampler.levels == Filter::Linear && self.part.level != NO_SLOT;
        if (sampler.filter == Filter::Linear || between) && integers && of.floats && of.gathers.is_none() {
            let sampler = sampled_by.clone();
            return Err(ImageProblem::Blends { name: name(), sampler, format });
        }
        Ok((texture, sampler))
    }

    /// A lane's coordinates, and the number of its layer.
    fn at(&self, geometry: Geometry, regs: &Frame, lane: usize) -> ([u32; 3], u32) {
        let mut all = self.part.coordinates.iter().map(|slot| word(regs, *slot, lane));
        let layer = if geometry.is_layered() { all.next().unwrap_or(0) } else { 0 };
        let mut at = [0; 3];
        at.iter_mut().zip(all).for_each(|(to, bits)| *to = bits);
        (at, layer)
    }

    /// What a lane fetches: the texture, its sampler, and the texels.
    fn fetch(&self, of: Sampling, regs: &Frame, lane: usize) -> Found<Fetched<'a>> {
        let (texture, sampler) = self.texture(of, regs, lane)?;
        let (coordinates, layer) = self.at(of.geometry, regs, lane);
        let mut offset = [0; 3];
        for (to, slot) in offset.iter_mut().zip(&self.part.offsets) {
            *to = word(regs, *slot, lane).cast_signed();
            if !(-8..=7).contains(to) {
                return Err(ImageProblem::Offset { offset: *to });
            }
        }
        let gathers = of.gathers.is_some();
        let fetch = Fetch { coordinates, floats: of.floats, layer, offset, gathers };
        let Blend { level, second } = match self.part.level {
            NO_SLOT => Blend { level: 0, second: 0 },
            slot if of.floats => blend(texture.image.levels, sampler.levels, f32::from_bits(word(regs, slot, lane))),
            slot => Blend { level: word(regs, slot, lane).cast_signed().max(0).cast_unsigned(), second: 0 },
        };
        let near = texture.image.level(level);
        let of_level = |image: Image| (image, footprint(&image, &sampler, &fetch));
        let far = (second > 0).then(|| of_level(texture.image.level(level + 1)));
        Ok(Fetched { texture, sampler, near: of_level(near), far, second })
    }

    /// Finds the texels of a fetch in `lanes` of the `flow`.
    fn locate(&self, of: Sampling, regs: &mut Frame, flow: LaneMask, lanes: LaneMask) -> Result<(), Wrong> {
        let all = each(lanes, |lane| self.fetch(of, regs, lane))?;
        self.clear(regs, flow);
        for (lane, fetched) in all {
            let size = fetched.texture.image.format.bytes();
            let which = SIZES.iter().position(|bytes| u32::from(*bytes) == size);
            let (near, far) = self.part.taps.split_at(fetched.near.1.taps().len().min(self.part.taps.len()));
            let levels = [(Some(&fetched.near), near), (fetched.far.as_ref(), far)];
            for (level, slots) in levels.into_iter().filter_map(|(level, slots)| Some((level?, slots))) {
                let (image, footprint) = level;
                for (tap, slots) in footprint.taps().iter().zip(slots) {
                    let (Some(texel), Some(which), true) = (tap.texel, which, tap.reads) else { continue };
                    regs.q[slots.address.index()].0[lane] = image.texel(texel);
                    put(regs, slots.sizes[which], !0, 1 << lane);
                }
            }
        }
        Ok(())
    }

    /// Zeros and false in all temporaries of the lanes of the flow, so that nothing is left of what was there.
    fn clear(&self, regs: &mut Frame, flow: LaneMask) {
        for slots in &self.part.taps {
            for slot in slots.words.iter().filter(|slot| **slot != NO_SLOT) {
                lanes_of(flow).for_each(|lane| regs.w[slot.index()].0[lane] = 0);
            }
            lanes_of(flow).for_each(|lane| regs.q[slots.address.index()].0[lane] = 0);
            slots.sizes.iter().for_each(|slot| put(regs, *slot, 0, flow));
        }
    }

    /// Makes the result of a fetch.
    fn filter(&self, of: Sampling, regs: &mut Frame, lanes: LaneMask) -> Result<(), Wrong> {
        let all = each(lanes, |lane| {
            let Fetched { texture, sampler, near: (_, near), far, second } = self.fetch(of, regs, lane)?;
            let mut words = [[0; 4]; 2 * MOST];
            for (to, slots) in words.iter_mut().zip(&self.part.taps) {
                *to = slots.words.map(|slot| word(regs, slot, lane));
            }
            let (first, rest) = words.split_at(near.taps().len());
            Ok(match (of.gathers, far) {
                (Some(channel), _) => gathered(texture, &sampler, &near, first, channel.into()),
                (None, Some((_, far))) => between(texture, &sampler, [(&near, first), (&far, rest)], second),
                (None, None) => filtered(texture, &sampler, &near, first),
            })
        })?;
        for (lane, values) in all {
            let values = match of.gives {
                Gives::Halves => values.map(as_half),
                Gives::Pairs => {
                    let [a, b, c, d] = values.map(as_half);
                    [a | b << 16, c | d << 16, 0, 0]
                }
                Gives::Floats | Gives::Integers(_) => values,
            };
            for (slot, value) in self.part.data.iter().zip(values).filter(|(slot, _)| **slot != NO_SLOT) {
                regs.w[slot.index()].0[lane] = value;
            }
        }
        // All texels are resident: no memory is sparse here.
        put(regs, self.part.predicate, !0, lanes);
        Ok(())
    }

    /// A lane's surface, which must have a shape.
    fn surface(&self, wanted: Geometry, regs: &Frame, lane: usize) -> Found<(&'a str, &'a Image)> {
        let bound = self.bound(self.handle(regs, lane), ImageKind::Surface)?;
        let What::Surface(image) = &bound.what else {
            return Err(ImageProblem::Unbound { name: bound.name.clone(), wanted: ImageKind::Surface });
        };
        // The faces of a cube are layers to surfaces (CUDA guide, "Surface Functions").
        let found = if image.geometry.is_cube() { Geometry::A2 } else { image.geometry };
        if found != wanted {
            let (name, kind) = (bound.name.clone(), ImageKind::Surface);
            let (found, wanted) = (image.geometry.name(), wanted.name());
            return Err(ImageProblem::Geometry { name, kind, found, wanted });
        }
        Ok((&bound.name, image))
    }

    /// Finds where accesses of a surface go, in `lanes` of the `flow`.
    fn reach(&self, of: Surfacing, regs: &mut Frame, flow: LaneMask, lanes: LaneMask) -> Result<(), Wrong> {
        let all = each(lanes, |lane| {
            let (name, image) = self.surface(of.geometry, regs, lane)?;
            let format = image.format;
            // Which predicate the access has.
            let (bytes, which) = match of.access {
                SurfaceAccess::Load(bytes) | SurfaceAccess::Store(bytes) | SurfaceAccess::Reduce(bytes) => (bytes, 0),
                SurfaceAccess::StoreTexel => {
                    let size = format.bytes();
                    let which = SIZES.iter().position(|bytes| u32::from(*bytes) == size).unwrap_or(0);
                    (SIZES[which], which)
                }
                SurfaceAccess::ReduceTexel(bytes) => {
                    let meaning = format.channel.meaning();
                    if format.bytes() != u32::from(bytes) || format.channels != 1 || meaning == Meaning::Float {
                        let (name, channels, bits) = (name.to_owned(), format.channels, u32::from(bytes) * 8);
                        return Err(ImageProblem::Reduces { name, format: format.channel.name(), channels, bits });
                    }
                    (bytes, usize::from(meaning == Meaning::Signed))
                }
            };
            let (at, layer) = self.at(of.geometry, regs, lane);
            let [x, y, z] = at.map(|bits| i64::from(bits.cast_signed()));
            let (texels, write) = (of.access.counts_texels(), of.access.writes());
            let (bytes, name) = (u32::from(bytes), || name.to_owned());
            match hit(image, of.clamp, [x, y, z, layer.into()], bytes, texels) {
                Hit::At(address) => Ok(Some((address, which))),
                Hit::Nowhere => Ok(None),
                Hit::Misaligned(x) => Err(ImageProblem::Misaligned { name: name(), x, bytes, write }),
                Hit::Outside(axis, coordinate, end) => Err(ImageProblem::Outside {
                    name: name(),
                    axis: ["x", "y", "z", "layer"][axis % 4],
                    in_bytes: axis == 0 && !texels,
                    coordinate,
                    end,
                    bytes,
                    write,
                }),
            }
        })?;
        self.clear(regs, flow);
        let Some(tap) = self.part.taps.first() else { return Ok(()) };
        for (lane, place) in all {
            if let Some((address, which)) = place {
                regs.q[tap.address.index()].0[lane] = address;
                put(regs, tap.sizes[which], !0, 1 << lane);
            }
        }
        Ok(())
    }

    /// Makes the bytes of the texels that are stored.
    fn encode(&self, regs: &mut Frame, lanes: LaneMask) -> Result<(), Wrong> {
        let ImagePart::Encode(geometry) = self.part.kind else { return Ok(()) };
        let all = each(lanes, |lane| {
            let (_, image) = self.surface(geometry, regs, lane)?;
            let mut values = [0; 4];
            values.iter_mut().zip(&self.part.data).for_each(|(to, slot)| *to = word(regs, *slot, lane));
            Ok(encoded(image.format, values))
        })?;
        let Some(tap) = self.part.taps.first() else { return Ok(()) };
        for (lane, words) in all {
            for (slot, value) in tap.words.iter().zip(words) {
                regs.w[slot.index()].0[lane] = value;
            }
        }
        Ok(())
    }

    /// Answers a query.
    fn query(&self, kind: ImageKind, regs: &mut Frame, lanes: LaneMask) -> Result<(), Wrong> {
        let ImagePart::Query(_, query) = self.part.kind else { return Ok(()) };
        let (to, level) = (self.part.data.first().copied(), self.part.data.get(1).copied());
        let all = each(lanes, |lane| {
            let value = self.handle(regs, lane);
            // In independent mode a sampler is asked itself.
            let samples = query.of_sampler() && self.images.is(value, ImageKind::Sampler);
            let bound = self.bound(value, if samples { ImageKind::Sampler } else { kind })?;
            let level = level.map_or(0, |slot| word(regs, slot, lane));
            let levels = bound.what.levels();
            if level >= levels {
                return Err(ImageProblem::Level { name: bound.name.clone(), level, levels });
            }
            Ok(bound.what.level(level).answer(query))
        })?;
        for (lane, answer) in all {
            if let Some(slot) = to.filter(|slot| *slot != NO_SLOT) {
                regs.w[slot.index()].0[lane] = answer;
            }
        }
        Ok(())
    }
}
