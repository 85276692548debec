//! Functions that are left only by returning: no exception, thread end, longjmp or change of stacks passes them, since
//! all that they call, and all that those call, is known and does none of this. A call by pointer, or of another
//! library's function that is not listed here, may do any.

use super::graph::CallGraph;

/// Functions of the C library that return to their caller, on its stack, or end the process, and are no cancellation
/// points (pthreads(7)).
const RETURNING: [&str; 67] = [
    "__assert_fail",
    "__errno_location",
    "__memcpy_chk",
    "__memmove_chk",
    "__memset_chk",
    "__snprintf_chk",
    "__stack_chk_fail",
    "__strcat_chk",
    "__strcpy_chk",
    "__strncpy_chk",
    "__vsnprintf_chk",
    "_exit",
    "abort",
    "aligned_alloc",
    "bcmp",
    "calloc",
    "clock_gettime",
    "exit",
    "free",
    "getenv",
    "getpid",
    "gettimeofday",
    "malloc",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "memrchr",
    "memset",
    "posix_memalign",
    "pthread_cond_broadcast",
    "pthread_cond_destroy",
    "pthread_cond_init",
    "pthread_cond_signal",
    "pthread_equal",
    "pthread_getspecific",
    "pthread_mutex_destroy",
    "pthread_mutex_init",
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_unlock",
    "pthread_rwlock_tryrdlock",
    "pthread_rwlock_trywrlock",
    "pthread_rwlock_unlock",
    "pthread_self",
    "pthread_setspecific",
    "pthread_spin_lock",
    "pthread_spin_unlock",
    "rawmemchr",
    "realloc",
    "sched_yield",
    "snprintf",
    "strcasecmp",
    "strchr",
    "strcmp",
    "strcpy",
    "strlen",
    "strncasecmp",
    "strncmp",
    "strncpy",
    "strnlen",
    "strrchr",
    "strstr",
    "strtol",
    "strtoul",
    "time",
    "vsnprintf",
];

/// Whether another library's function only returns.
pub(super) fn is_known(symbol: &str) -> bool {
    let symbol = symbol.split('@').next().unwrap_or(symbol);
    RETURNING.binary_search(&symbol).is_ok()
}

/// Which functions are left only by returning. `opaque`: those that do something else than call functions of this file,
/// and what that is, is not known.
pub(super) fn find(graph: &CallGraph, opaque: &[bool]) -> Vec<bool> {
    let functions = opaque.len() as u32;
    let mut called = CallGraph::new(opaque.len());
    for caller in 0..functions {
        for edge in graph.callees(caller) {
            called.add(edge.to, caller, false);
        }
    }
    let opaque: Vec<u32> = (0..functions).filter(|function| opaque[*function as usize]).collect();
    let mut only = vec![true; functions as usize];
    for function in called.reachable(&opaque) {
        only[function as usize] = false;
    }
    only
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_functions_can_be_searched() {
        assert!(RETURNING.is_sorted());
        assert!(is_known("memcpy@GLIBC_2.14"));
        assert!(!is_known("read") && !is_known("pthread_cond_wait"), "cancellation points");
        assert!(!is_known("__cxa_throw") && !is_known("swapcontext"));
    }

    #[test]
    fn what_is_not_known_of_a_function_is_not_known_of_its_callers() {
        // 0 calls 1, 1 calls 2; 3 calls 4, and itself.
        let mut graph = CallGraph::new(5);
        for (from, to) in [(0, 1), (1, 2), (3, 4), (3, 3)] {
            graph.add(from, to, false);
        }
        assert_eq!(find(&graph, &[false, false, true, false, false]), [false, false, false, true, true]);
    }
}
