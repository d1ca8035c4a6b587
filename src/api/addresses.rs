//! Memory that holds addresses of other memory: tables of pointers, as of grouped products of matrices.

use super::argument::{Given, Memory, Pointer};
use super::error::Error;
use super::kernel::Kernel;
use crate::launch::Device;
use std::borrow::Cow;

/// Bytes of an address in memory.
const BYTES: usize = 8;

impl Kernel<'_> {
    /// Refuses pointers that are not in memory, or do not lead to any.
    pub(super) fn pointers_fit(&self) -> Result<(), Error> {
        let refuse = |why| Err(self.unfit("points", "", why));
        for Pointer { from: (argument, at), to: (target, _) } in &self.pointers {
            match self.args.get(*argument).map(|(_, argument)| &argument.0) {
                Some(Given::Memory(_, Memory::Lent(_))) => {
                    return refuse("memory that a kernel works on in place holds addresses of the host");
                }
                Some(Given::Memory(_, memory))
                    if at.checked_add(BYTES).is_some_and(|end| end <= memory.bytes().len()) => {}
                _ => return refuse("an address is eight bytes of an argument's memory"),
            }
            if !matches!(self.args.get(*target), Some((_, argument)) if matches!(argument.0, Given::Memory(..))) {
                return refuse("an address leads to an argument's memory");
            }
        }
        Ok(())
    }

    /// What the device holds for a pointer: where that is, and the address.
    fn on(&self, device: &Device, pointer: &Pointer) -> Option<(u64, [u8; BYTES])> {
        let address = |argument: usize| device.address(&self.args.get(argument)?.0);
        let at = address(pointer.from.0)?.checked_add(pointer.from.1 as u64)?;
        Some((at, address(pointer.to.0)?.wrapping_add(pointer.to.1).to_le_bytes()))
    }

    /// Puts the device's addresses into its memory.
    pub(super) fn point(&self, device: &mut Device) {
        for pointer in &self.pointers {
            if let Some((at, address)) = self.on(device, pointer)
                && let Some(bytes) = device.context_mut().bytes_mut(at, BYTES as u64)
            {
                bytes.copy_from_slice(&address);
            }
        }
    }

    /// What a run left of an argument's memory, with the host's own bytes where it left the device's addresses.
    pub(super) fn left<'a>(&self, device: &'a Device, argument: usize) -> Option<Cow<'a, [u8]>> {
        let (name, given) = self.args.get(argument)?;
        let mut left = Cow::Borrowed(device.contents(name)?.1);
        let Given::Memory(_, memory) = &given.0 else { return Some(left) };
        for pointer in self.pointers.iter().filter(|pointer| pointer.from.0 == argument) {
            let place = pointer.from.1..pointer.from.1 + BYTES;
            let (_, address) = self.on(device, pointer)?;
            if left.get(place.clone())? == address {
                left.to_mut()[place.clone()].copy_from_slice(memory.bytes().get(place)?);
            }
        }
        Some(left)
    }
}
