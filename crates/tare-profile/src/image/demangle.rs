//! Symbols as their sources have them.

use cpp_demangle::{DemangleOptions, Symbol};

/// A C++ or Rust symbol in its source's words, with or without parameters; `None` for others, and for what is not
/// understood.
pub(super) fn demangled(symbol: &str, parameters: bool) -> Option<String> {
    let symbol = base(symbol);
    let hashed = symbol.starts_with("_ZN") && symbol.contains("17h"); // Rust's older scheme looks like C++'s
    if (symbol.starts_with("_R") || hashed)
        && let Ok(name) = rustc_demangle::try_demangle(symbol)
    {
        return Some(format!("{name:#}"));
    }
    if !symbol.starts_with("_Z") {
        return None;
    }
    let options = DemangleOptions::new();
    let options = if parameters { options } else { options.no_params().no_return_type() };
    Symbol::new(symbol).ok()?.demangle_with_options(&options).ok()
}

/// Without what compilers append: `foo` of `foo.isra.0`, `foo.constprop.1.cold`, `foo.llvm.123`.
pub(super) fn base(symbol: &str) -> &str {
    symbol.split('.').next().filter(|base| !base.is_empty()).unwrap_or(symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_told_in_the_words_of_their_language() {
        let cases = [
            ("_ZN4JOIN8optimizeEv", Some("JOIN::optimize()"), Some("JOIN::optimize")),
            ("_Z16dispatch_command19enum_server_commandP3THDPcjb.isra.0", None, Some("dispatch_command")),
            ("_ZN3std2io4Read11read_to_end17hb85a0f6802e14499E", Some("std::io::Read::read_to_end"), None),
            ("heap_update", None, None),
            ("_Z", None, None),
        ];
        for (symbol, full, short) in cases {
            if let Some(full) = full {
                assert_eq!(demangled(symbol, true).as_deref(), Some(full));
            }
            if let Some(short) = short {
                assert_eq!(demangled(symbol, false).as_deref(), Some(short));
            }
            assert!(full.or(short).is_some() || demangled(symbol, true).is_none(), "{symbol}");
        }
    }

    #[test]
    fn what_a_compiler_appends_is_no_part_of_a_name() {
        assert_eq!(base("XLogWrite.constprop.0.cold"), "XLogWrite");
        assert_eq!(base("XLogWrite"), "XLogWrite");
        assert_eq!(base(".hidden"), ".hidden");
    }
}
