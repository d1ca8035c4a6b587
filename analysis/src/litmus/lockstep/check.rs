//! What has to fit together in a test for wavefronts beside names: one instruction for all lanes in a row, blocks that are closed by the
//! lanes that opened them, and accesses within their location.

use super::tree::{LOCATION, Op, Program};
use crate::base::Span;
use crate::litmus::error::LitmusErrorKind as K;

/// Complains about a program.
pub(in crate::litmus) fn check(program: &Program, errors: &mut Vec<(K, Span)>) {
    for (k, (column, span)) in program.columns.iter().enumerate() {
        if let Some((_, first)) = program.columns[..k].iter().find(|(other, _)| other == column) {
            errors.push((K::ColumnTwice(*first), *span));
        }
        for cell in program.cells(k) {
            if let Some(spot) = cell.kind.spot()
                && spot.offset + spot.size.bytes() > LOCATION
            {
                errors.push((K::Offset { offset: spot.offset, bytes: spot.size.bytes() }, cell.span));
            }
        }
    }
    program.waves().iter().for_each(|wave| blocks(program, wave, errors));
}

/// A block that is open: where it begins, and the lanes that it has.
struct Open {
    span: Span,
    lanes: Vec<usize>,
}

/// The rows of a wavefront.
fn blocks(program: &Program, wave: &[usize], errors: &mut Vec<(K, Span)>) {
    let mut open: Vec<Open> = Vec::new();
    for (_, cells) in program.rows_of(wave) {
        let first = cells[0].1;
        if let Some((_, other)) = cells.iter().find(|(_, cell)| !cell.kind.same(&first.kind)) {
            errors.push((K::OtherInstruction(first.span), other.span));
            continue;
        }
        let lanes: Vec<usize> = cells.iter().map(|(lane, _)| *lane).collect();
        let within = open.last();
        let masked = cells.iter().find(|(lane, _)| within.is_some_and(|block| !block.lanes.contains(lane)));
        match (&first.kind, masked) {
            (Op::End, _) => match open.pop() {
                None => errors.push((K::NoBlock, first.span)),
                Some(block) if block.lanes != lanes => errors.push((K::EndLanes(block.span), first.span)),
                Some(_) => {}
            },
            (_, Some((_, cell))) => errors.push((K::Masked(within.map_or(first.span, |b| b.span)), cell.span)),
            (Op::If(_) | Op::While(_), None) => open.push(Open { span: first.span, lanes }),
            _ => {}
        }
    }
    errors.extend(open.into_iter().map(|block| (K::OpenBlock, block.span)));
}
