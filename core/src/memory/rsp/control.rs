//! Control flow, which the paper leaves out: nobody else notices it, so that a thread goes through it with the step before.

use super::assembly::{Instruction, Program};
use super::state::System;

impl System {
    /// Every thread goes on to the next instruction of table 1.
    pub fn carry_on(&mut self, program: &Program) {
        for thread in 0..program.threads().len() {
            self.carry_on_thread(program, thread);
        }
    }

    /// A thread goes on to its next instruction of table 1.
    pub fn carry_on_thread(&mut self, program: &Program, thread: usize) {
        let code = &program.threads()[thread].code;
        while let Some(instruction) = code.get(usize::from(self.next[thread])) {
            let behind = self.next[thread] + 1;
            self.next[thread] = match *instruction {
                Instruction::Compute(function, to, left, right) => {
                    self.set(to, function.of(self.value(left), self.value(right)));
                    behind
                }
                Instruction::SkipUnless(operand, to) if self.value(operand) == 0 => to.max(behind),
                Instruction::SkipUnless(..) => behind,
                Instruction::Skip(to) => to.max(behind),
                _ => return,
            };
        }
    }
}
