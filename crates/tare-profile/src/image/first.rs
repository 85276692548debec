//! The first instruction of a function, which decides what a uprobe there costs.

use iced_x86::{FlowControl, Instruction, Mnemonic};

/// A function's first instruction: what a uprobe on it costs depends on it. The kernel emulates some; it runs the
/// others in a copy, one step at a time, for three times the price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum First {
    /// Emulated.
    Push,
    /// Emulated.
    Nop,
    /// `endbr64`.
    Endbr,
    /// A direct call.
    Call,
    /// A jump: no uprobe can be put there.
    Jump,
    /// `ret`.
    Return,
    /// Any other: single-stepped.
    #[default]
    Other,
}

impl First {
    /// In a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Push => "push",
            Self::Nop => "nop",
            Self::Endbr => "endbr",
            Self::Call => "call",
            Self::Jump => "jump",
            Self::Return => "return",
            Self::Other => "other",
        }
    }

    pub(super) fn of(instruction: &Instruction) -> Self {
        match (instruction.mnemonic(), instruction.flow_control()) {
            (Mnemonic::Push, _) => Self::Push,
            (Mnemonic::Nop, _) => Self::Nop,
            (Mnemonic::Endbr64, _) => Self::Endbr,
            (_, FlowControl::Call) => Self::Call,
            (_, FlowControl::Return) => Self::Return,
            (
                _,
                FlowControl::UnconditionalBranch
                | FlowControl::ConditionalBranch
                | FlowControl::IndirectBranch,
            ) => Self::Jump,
            _ => Self::Other,
        }
    }
}
