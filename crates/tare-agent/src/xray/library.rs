//! XRay's run-time library, which clang links into an executable: the functions by which sleds are patched, and the
//! trampolines that patched sleds go to.
//! Its documentation: "XRay Instrumentation", llvm.org/docs/XRay.html.

use super::symbols;

const SUCCESS: i32 = 1;

/// Its functions. Ids count from 1.
#[derive(Debug, Clone, Copy)]
pub struct Library {
    patch: unsafe extern "C" fn(i32) -> i32,
    unpatch: unsafe extern "C" fn(i32) -> i32,
    address: unsafe extern "C" fn(i32) -> usize,
    last: unsafe extern "C" fn() -> usize,
    /// Where sleds go: at an entry, at one whose first argument is logged, at an exit, at an exit by a tail call.
    pub trampolines: [usize; 4],
}

impl Library {
    /// Of this process; or why there is none. `bias`: of the executable.
    pub fn find(bias: usize) -> Result<Self, String> {
        let names = [
            c"__xray_patch_function",
            c"__xray_unpatch_function",
            c"__xray_function_address",
            c"__xray_max_function_id",
            c"__xray_FunctionEntry",
            c"__xray_ArgLoggerEntry",
            c"__xray_FunctionExit",
            c"__xray_FunctionTailExit",
        ];
        let [patch, unpatch, address, last, trampolines @ ..] = symbols::addresses(names, bias)?;
        // SAFETY: these are the functions of these names, whose types XRay's interface states.
        unsafe {
            Ok(Self {
                patch: std::mem::transmute::<usize, unsafe extern "C" fn(i32) -> i32>(patch),
                unpatch: std::mem::transmute::<usize, unsafe extern "C" fn(i32) -> i32>(unpatch),
                address: std::mem::transmute::<usize, unsafe extern "C" fn(i32) -> usize>(address),
                last: std::mem::transmute::<usize, unsafe extern "C" fn() -> usize>(last),
                trampolines,
            })
        }
    }

    /// Whether it was done. An id that is none would leave XRay locked for ever.
    pub fn patch(&self, id: i32, on: bool) -> bool {
        debug_assert!(id >= 1 && id as usize <= self.last());
        // SAFETY: XRay changes sleds so that threads may run through them.
        SUCCESS == unsafe { if on { (self.patch)(id) } else { (self.unpatch)(id) } }
    }

    /// Where a function is in this process; 0 where that is not known.
    pub fn address(&self, id: i32) -> usize {
        // SAFETY: any id may be asked for.
        unsafe { (self.address)(id) }
    }

    /// The highest id.
    pub fn last(&self) -> usize {
        // SAFETY: takes nothing, and changes nothing.
        unsafe { (self.last)() }
    }
}
