//! Why the agent leaves a function, or a whole program, alone.

/// A reason, by its number in the shared file.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Refusal {
    /// Of a function: there is no room for a jump.
    Short = 2,
    /// Its first bytes are a target from elsewhere.
    JumpedInto = 3,
    /// It goes back to its first instruction: every turn would look like a call.
    Loops = 4,
    /// The first instructions do not work at another address.
    Fixed = 5,
    /// Not instructions.
    NotCode = 6,
    /// A debugger's or the kernel's breakpoint is there.
    Breakpoint = 7,
    /// Its address is not in an executable part of its file.
    NotExecutable = 8,
    /// Another function of the table begins in its first bytes.
    Overlap = 9,
    /// It looks at, or replaces, its own return address or stack.
    Special = 10,
    /// Its file is not mapped when the program starts.
    NotMapped = 11,
    /// Nothing patched functions of that object: no sled there.
    NoSled = 12,
    /// Of the program: the kernel does not let code be changed.
    Protected = 20,
    /// No memory is free near the code.
    Far = 21,
    /// It has threads before it starts.
    Threads = 22,
    /// The processor checks return addresses (CET shadow stack).
    ShadowStack = 23,
    /// C++ exceptions whose unwinder cannot be found.
    Unwinder = 24,
    /// The program has no sleds.
    NotXray = 25,
    /// The file that is mapped is not the one the table was made from.
    Replaced = 26,
}

impl Refusal {
    const ALL: [Self; 18] = [
        Self::Short,
        Self::JumpedInto,
        Self::Loops,
        Self::Fixed,
        Self::NotCode,
        Self::Breakpoint,
        Self::NotExecutable,
        Self::Overlap,
        Self::Special,
        Self::NotMapped,
        Self::NoSled,
        Self::Protected,
        Self::Far,
        Self::Threads,
        Self::ShadowStack,
        Self::Unwinder,
        Self::NotXray,
        Self::Replaced,
    ];

    /// The reason with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| *reason as u32 == number)
    }

    /// It in words, to follow "refused: ".
    pub fn words(self) -> &'static str {
        match self {
            Self::Short => "it is shorter than the 5 bytes of a jump",
            Self::JumpedInto => "something jumps into its first bytes",
            Self::Loops => {
                "it jumps back to its own first instruction, so that each turn would look like a call"
            }
            Self::Fixed => "its first instructions do not work at another address",
            Self::NotCode => "its first bytes are not instructions",
            Self::Breakpoint => "a breakpoint is on it",
            Self::NotExecutable => "its address is not in an executable part of its file",
            Self::Overlap => "another function begins in its first bytes",
            Self::Special => "it handles return addresses or stacks itself",
            Self::NotMapped => "its file is not mapped when the program starts",
            Self::NoSled => "the compiler left no XRay sled at it",
            Self::Protected => "the kernel does not let this program's code be changed",
            Self::Far => "no memory is free within 2 GiB of the code",
            Self::Threads => "the program had threads before the agent started",
            Self::ShadowStack => "the processor checks return addresses (CET shadow stack is on)",
            Self::Unwinder => {
                "it throws C++ exceptions and its unwinder cannot be found (statically linked, stripped)"
            }
            Self::NotXray => "the program was not built with -fxray-instrument",
            Self::Replaced => {
                "its file is not the one that the functions were taken from: it was replaced since"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_found_by_its_number_and_says_something() {
        for reason in Refusal::ALL {
            assert_eq!(Refusal::from_number(reason as u32), Some(reason));
            assert!(reason.words().len() > 10);
        }
        assert_eq!(Refusal::from_number(0), None);
        assert_eq!(Refusal::from_number(1), None);
    }
}
