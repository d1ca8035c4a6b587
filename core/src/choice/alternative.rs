//! Alternatives by name: what is chosen, whatever place it has in a menu (D-schedule-names).

use super::Site;
use crate::base::words;
use std::fmt;

/// What a choice is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Alternative {
    /// A warp of a block of the grid.
    Warp {
        /// The block's linear index.
        block: u64,
        /// The warp's number in it.
        warp: u32,
    },
    /// What has a number of its own: a lane, a block, an operation, a context, a grid, a multiprocessor.
    Numbered(Site, u64),
    /// What has a name of its own.
    Named(Site, Name),
}

words! {
    /// Alternatives that are no numbers.
    pub enum Name {
        /// [`Site::Lanes`]: all the other lanes of the group.
        All = "all",
        /// [`Site::Lanes`]: no other lane.
        Alone = "alone",
        /// [`Site::Issue`]: no block is issued now.
        Later = "later",
        /// [`Site::Micro`]: the macro step ends.
        End = "end",
        /// [`Site::Micro`]: a silent rule fires.
        Silent = "silent",
        /// [`Site::Micro`]: a silent rule fires that an operation waits for.
        Wanted = "wanted",
    }
}

impl Alternative {
    /// What is being decided.
    #[must_use]
    pub const fn site(&self) -> Site {
        match self {
            Self::Warp { .. } => Site::Warp,
            Self::Numbered(site, _) | Self::Named(site, _) => *site,
        }
    }

    /// Reads what [`Display`](fmt::Display) writes.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let (site, name) = text.split_once(' ')?;
        let site = Site::named(site)?;
        if site == Site::Warp {
            let (block, warp) = name.split_once('.')?;
            return Some(Self::Warp { block: block.parse().ok()?, warp: warp.parse().ok()? });
        }
        match Name::named(name) {
            Some(name) => Some(Self::Named(site, name)),
            None => name.parse().ok().map(|number| Self::Numbered(site, number)),
        }
    }
}

impl fmt::Display for Alternative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.site().name())?;
        match self {
            Self::Warp { block, warp } => write!(f, " {block}.{warp}"),
            Self::Numbered(_, number) => write!(f, " {number}"),
            Self::Named(_, name) => write!(f, " {}", name.name()),
        }
    }
}

/// What the bits of a menu stand for.
#[derive(Clone, Copy, Debug)]
pub enum Names<'a> {
    /// Their own numbers.
    Numbers,
    /// Whatever has this number.
    Each(&'a [u64]),
    /// Warps: so many bits, as a power of two, for each of these blocks.
    Warps(&'a [u64], u32),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut all = vec![Alternative::Warp { block: 3, warp: 1 }];
        for site in Site::ALL.iter().copied().filter(|s| *s != Site::Warp) {
            all.push(Alternative::Numbered(site, 7));
            all.extend(Name::ALL.iter().map(|name| Alternative::Named(site, *name)));
        }
        for alternative in all {
            assert_eq!(Alternative::read(&alternative.to_string()), Some(alternative), "{alternative}");
        }
        assert_eq!(Alternative::read("warp 3.1"), Some(Alternative::Warp { block: 3, warp: 1 }));
        for wrong in ["", "warp", "warp 3", "warp 3.", "warp 3.x", "warps 1.1", "micro -1", "micro nothing", "lanes  1"]
        {
            assert_eq!(Alternative::read(wrong), None, "{wrong}");
        }
    }
}
