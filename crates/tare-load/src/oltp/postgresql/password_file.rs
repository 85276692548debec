//! `~/.pgpass`: the password for an address that came without one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Reads a variable of the environment.
pub(super) type Environment<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// The fields of a line that its password is for.
pub(super) struct Login<'a> {
    /// Whether a host in the file is the one that is connected to.
    pub(super) is_host: &'a dyn Fn(&str) -> bool,
    pub(super) port: u16,
    pub(super) database: &'a str,
    pub(super) user: &'a str,
}

/// A file that others may read is passed over, as libpq does.
pub(super) fn find(login: &Login<'_>, environment: &Environment<'_>) -> Option<String> {
    let file = environment("PGPASSFILE")
        .map(PathBuf::from)
        .or_else(|| environment("HOME").map(|home| Path::new(&home).join(".pgpass")))?;
    let private = fs::metadata(&file).ok()?.permissions().mode() & 0o077 == 0;
    private.then(|| fs::read_to_string(&file).ok()).flatten()?.lines().find_map(|line| of_line(line, login))
}

fn of_line(line: &str, login: &Login<'_>) -> Option<String> {
    let [host, port, database, user, password] = fields(line).try_into().ok()?;
    let fits = |pattern: &str, value: &str| pattern == "*" || pattern == value;
    let fits_all = (host == "*" || (login.is_host)(&host))
        && fits(&port, &login.port.to_string())
        && fits(&database, login.database)
        && fits(&user, login.user);
    (fits_all && !line.starts_with('#')).then_some(password)
}

/// Between colons; a backslash takes the next character as it is.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (character, fields.len()) {
            (':', _) => fields.push(String::new()),
            ('\\', _) => fields.last_mut().into_iter().for_each(|field| field.extend(characters.next())),
            _ => fields.last_mut().into_iter().for_each(|field| field.push(character)),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGIN: Login<'_> = Login { is_host: &|host| host == "h", port: 1, database: "d", user: "u" };

    #[test]
    fn the_line_of_the_login_has_its_password() {
        assert_eq!(of_line("h:1:d:u:pass\\:word", &LOGIN), Some("pass:word".to_owned()));
        assert_eq!(of_line("*:*:*:u:p", &LOGIN), Some("p".to_owned()));
    }

    #[test]
    fn any_other_line_has_not() {
        for line in ["g:1:d:u:p", "h:2:d:u:p", "h:1:e:u:p", "h:1:d:v:p", "# h:1:d:u:p", "", "h:1:d:u"] {
            assert_eq!(of_line(line, &LOGIN), None, "{line}");
        }
    }

    #[test]
    fn a_file_that_others_may_read_is_passed_over() {
        let file = std::env::temp_dir().join(format!("tare-passwords-{}", std::process::id()));
        fs::write(&file, "*:*:*:*:p\n").unwrap();
        let environment = |name: &str| (name == "PGPASSFILE").then(|| file.display().to_string());
        let found = [0o600, 0o644].map(|mode| {
            fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
            find(&LOGIN, &environment)
        });
        fs::remove_file(&file).unwrap();
        assert_eq!(found, [Some("p".to_owned()), None]);
    }
}
