//! A texture or surface as a caller gives it.

use crate::alu::image::Channel;
use crate::launch::{ImageSpec, MOST_LAYERS, Scalar};
use crate::verdict::ImageKind;

/// An image as it is given.
pub(super) struct Described {
    pub(super) kind: ImageKind,
    /// The type of its elements.
    pub(super) ty: Scalar,
    pub(super) spec: ImageSpec,
}

impl Described {
    /// Why it cannot be.
    pub(super) fn wrong(&self) -> Option<&'static str> {
        let ImageSpec { geometry, size, layers, levels, format, .. } = self.spec;
        let axes = geometry.axes();
        let most = size.iter().map(|n| n.checked_ilog2().map_or(0, |n| n + 1)).max().unwrap_or(0);
        if Channel::named(self.ty.name()).is_none() {
            Some("texels have channels of 8, 16 or 32 bits")
        } else if !matches!(format.channels, 1 | 2 | 4) {
            Some("texels have 1, 2 or 4 channels")
        } else if size.contains(&0) || size[axes..].iter().any(|n| *n != 1) {
            Some("a texture has a size above 0 along each axis of its shape, and 1 along the others")
        } else if geometry.is_cube() && size[0] != size[1] {
            Some("the faces of a cube are square")
        } else if layers == 0 || layers > MOST_LAYERS || layers > 1 && !geometry.is_layered() {
            Some("shapes of layers have 1 to 65536 of them, others none")
        } else if levels == 0 || levels > most || levels > 1 && self.spec.linear {
            Some("a texture has one level of detail, or up to as many as halve its largest size to 1")
        } else {
            None
        }
    }
}
