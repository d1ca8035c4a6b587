//! Columns of tests for wavefronts: lanes and threads of CPUs.

use std::fmt::{Display, Formatter};

/// The most lanes of a wavefront.
pub const LANES: u32 = 32;

/// What a column is the code of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Column {
    /// `W0.1`: a lane of a wavefront.
    Lane {
        /// The wavefront's number.
        wave: u32,
        /// The lane's number in it, less than [`LANES`].
        lane: u32,
    },
    /// `C0`: a thread of a CPU, in lockstep with nobody.
    Cpu(u32),
}

/// The numbers of threads from here on are those of columns: no thread of another language has such a one.
pub const FIRST: u32 = 1 << 31;
/// Among those, the numbers of a CPU's threads.
const CPU: u32 = 1 << 30;

impl Column {
    /// So many wavefronts and threads of CPUs can be told apart.
    pub const MOST: u32 = CPU / LANES;

    /// It as the number of a thread.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::Lane { wave, lane } => FIRST + (wave % Self::MOST) * LANES + lane % LANES,
            Self::Cpu(number) => FIRST + CPU + number % CPU,
        }
    }

    /// The column of which a thread's number speaks.
    #[must_use]
    pub const fn of(number: u32) -> Option<Self> {
        if number < FIRST {
            return None;
        }
        let rest = number % CPU;
        let cpu = number & CPU != 0;
        Some(if cpu { Self::Cpu(rest) } else { Self::Lane { wave: rest / LANES, lane: rest % LANES } })
    }

    /// The column of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let number = |text: &str, most: u32| {
            let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            text.parse::<u32>().ok().filter(|n| digits && *n < most)
        };
        if let Some(rest) = name.strip_prefix('C') {
            return number(rest, Self::MOST).map(Self::Cpu);
        }
        let (wave, lane) = name.strip_prefix('W')?.split_once('.')?;
        Some(Self::Lane { wave: number(wave, Self::MOST)?, lane: number(lane, LANES)? })
    }

    /// Who is in lockstep with it: equal of the lanes of one wavefront.
    #[must_use]
    pub const fn wave(self) -> (bool, u32) {
        match self {
            Self::Lane { wave, .. } => (false, wave),
            Self::Cpu(number) => (true, number),
        }
    }
}

impl Display for Column {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Lane { wave, lane } => write!(f, "W{wave}.{lane}"),
            Self::Cpu(number) => write!(f, "C{number}"),
        }
    }
}
