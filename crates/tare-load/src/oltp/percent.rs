//! Percent-encoding, as URLs write it.

/// What a part of a URL stands for. None: it is not UTF-8, or a `%` without two digits after it.
pub fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first == b'%' {
            let [high, low, after @ ..] = rest else { return None };
            rest = after;
            bytes.push(digit(*high)? << 4 | digit(*low)?);
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

fn digit(character: u8) -> Option<u8> {
    char::from(character).to_digit(16).map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_escaped_comes_back() {
        assert_eq!(decoded("a%40b%2Fc%C3%A9"), Some("a@b/cé".to_owned()));
    }

    #[test]
    fn half_an_escape_is_refused() {
        assert_eq!(decoded("50%"), None);
        assert_eq!(decoded("%4"), None);
        assert_eq!(decoded("%zz"), None);
        assert_eq!(decoded("%FF"), None);
    }
}
