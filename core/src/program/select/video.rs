//! The mode words of video instructions, without what their operands say.

use super::comparison;
use crate::alu::int::{Second, Video};
use crate::program::types::is_signed;
use crate::ptx::Modifier as M;

/// The mode word of the types and modifiers; parts, masks and negations are the operands'.
pub(super) fn mode(types: &[M], mods: &[M]) -> Option<u32> {
    let relation = mods.iter().find_map(|word| comparison(*word));
    let (d_signed, sources) = match (types, relation) {
        // A comparison gives an unsigned number.
        (sources, Some(_)) => (false, sources),
        ([d, sources @ ..], None) => (is_signed(*d), sources),
        ([], None) => return None,
    };
    let [a, b] = sources else { return None };
    let has = |word| mods.contains(&word);
    let seconds = [(M::ADD, Second::Add), (M::MIN, Second::Min), (M::MAX, Second::Max)];
    let video = Video {
        a_signed: is_signed(*a),
        b_signed: is_signed(*b),
        d_signed,
        sat: has(M::SAT),
        second: seconds.iter().find(|(word, _)| has(*word)).map_or(Second::None, |row| row.1),
        relation: relation.map_or(0, |(_, bits)| bits),
        wrap: has(M::WRAP),
        plus_one: has(M::PO),
        scale: if has(M::SHR7) {
            7
        } else if has(M::SHR15) {
            15
        } else {
            0
        },
        ..Video::default()
    };
    Some(video.mode())
}
