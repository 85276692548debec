//! Functions that never return to their caller: what they end in is an error path, and they have no exit to record.

use super::graph::CallGraph;

/// Of other libraries.
const OTHERS: [&str; 29] = [
    "abort",
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "pthread_exit",
    "thrd_exit",
    "__assert",
    "__assert_fail",
    "__assert_perror_fail",
    "__stack_chk_fail",
    "__chk_fail",
    "__fortify_fail",
    "longjmp",
    "_longjmp",
    "siglongjmp",
    "__longjmp_chk",
    "err",
    "errx",
    "verr",
    "verrx",
    "__cxa_throw",
    "__cxa_rethrow",
    "__cxa_bad_cast",
    "__cxa_throw_bad_array_new_length",
    "__cxa_pure_virtual",
    "_Unwind_Resume",
    "_ZSt9terminatev",
    "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
];

/// Whether another library's function of this name is known not to return; libstdc++'s `std::__throw_…` are.
pub(super) fn is_known(symbol: &str) -> bool {
    OTHERS.contains(&symbol) || symbol.starts_with("_ZSt") && symbol.contains("__throw_")
}

/// How a function may end other than by never doing so.
#[derive(Debug, Default, Clone)]
pub(super) struct Ends {
    /// By a `ret` or a jump by pointer of its own; also where nothing is known of it.
    pub(super) returns: bool,
    /// By a tail call of these.
    pub(super) tails: Vec<u32>,
}

/// Which functions don't return: those with no `ret`, all of whose tail calls are of such functions.
pub(super) fn find(ends: &[Ends]) -> Vec<bool> {
    let mut tailed = CallGraph::new(ends.len());
    for (function, ends) in ends.iter().enumerate() {
        for tail in &ends.tails {
            tailed.add(*tail, function as u32, false);
        }
    }
    let returning: Vec<u32> =
        (0..ends.len() as u32).filter(|function| ends[*function as usize].returns).collect();
    let mut never = vec![true; ends.len()];
    for function in tailed.reachable(&returning) {
        never[function as usize] = false;
    }
    never
}
