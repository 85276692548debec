//! `$n` as another DBMS writes it, or as the value itself.

/// The text with `?` for each `$n` outside of quotes and comments, and for each `?` the place of its value among the
/// parameters given. `cast` says what stands for the `?` of that place.
pub(crate) fn questioned(text: &str, cast: impl Fn(usize) -> String) -> (String, Vec<usize>) {
    let mut out = String::with_capacity(text.len());
    let mut order = Vec::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if let Some((place, length)) = parameter(rest) {
            out.push_str(&cast(place));
            order.push(place);
            rest = &rest[length..];
            continue;
        }
        let length = untouched(rest).unwrap_or(character.len_utf8());
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    (out, order)
}

/// `$12…` → place 11, three bytes long.
fn parameter(text: &str) -> Option<(usize, usize)> {
    let after = text.strip_prefix('$')?;
    let digits = after.len() - after.trim_start_matches(|character: char| character.is_ascii_digit()).len();
    let number: usize = after[..digits].parse().ok()?;
    Some((number.checked_sub(1)?, digits + 1))
}

/// How long the text, name or comment is that begins here. A doubled quote is two of them, one after the other.
fn untouched(text: &str) -> Option<usize> {
    let (open, close) = [("'", "'"), ("\"", "\""), ("`", "`"), ("--", "\n"), ("/*", "*/")]
        .into_iter()
        .find(|(open, _)| text.starts_with(open))?;
    let inner = &text[open.len()..];
    Some(inner.find(close).map_or(text.len(), |end| open.len() + end + close.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> (String, Vec<usize>) {
        questioned(text, |_| "?".to_owned())
    }

    #[test]
    fn parameters_may_come_twice_and_out_of_order() {
        assert_eq!(plain("a = $2 AND b = $1 OR $2"), ("a = ? AND b = ? OR ?".to_owned(), vec![1, 0, 1]));
    }

    #[test]
    fn the_tenth_is_not_the_first_and_a_nought() {
        assert_eq!(plain("($10,$1,$11)"), ("(?,?,?)".to_owned(), vec![9, 0, 10]));
    }

    #[test]
    fn what_is_quoted_is_left_alone() {
        let text = "SELECT '$1 it''s $2', `$3`, \"$4\" /* $5 */ FROM t -- $6\nWHERE é = $1";
        let (written, order) = plain(text);
        assert_eq!(written, text.replace("= $1", "= ?"));
        assert_eq!(order, [0]);
    }

    #[test]
    fn a_dollar_alone_is_no_parameter() {
        assert_eq!(plain("a$ $x $0"), ("a$ $x $0".to_owned(), vec![]));
    }

    #[test]
    fn each_place_has_its_own_words() {
        let cast =
            |place: usize| if place == 0 { "CAST(? AS DECIMAL(19,2))".to_owned() } else { "?".to_owned() };
        assert_eq!(questioned("$1+$2", cast).0, "CAST(? AS DECIMAL(19,2))+?");
    }
}
