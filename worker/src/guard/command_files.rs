//! The files that a command names: what an approval of it covers beside its text.
//!
//! Programs and plain files are recorded by a digest of their content, files above 64 MiB by size and time. A command
//! is taken apart into words as far as its quotes go, and every word that could be a file is looked at, one too many
//! rather than one too few. What only shows when the command runs is not covered: files that a pattern (`*.sh`) or
//! a substitution names, that an inner shell (`sh -c '…'`) or a script reads, and what it writes to (`> file`).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;
use std::time::UNIX_EPOCH;

use sha2::{Digest as _, Sha256};
use weir_shared::ids::Timestamp;
use weir_shared::run::event::{CoveredFile, Found};

use crate::process::resolve_program;

/// Bytes above which a file is not read each time.
const READ_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes that are read for one command; further files go by size and time.
const READ_BYTES_TOGETHER: u64 = 256 * 1024 * 1024;
/// Files that are recorded for one command.
const MOST_FILES: usize = 64;
/// Words after which a program comes, as at the beginning of a command.
const BEFORE_PROGRAMS: [&str; 22] = [
    "!", "{", "if", "then", "else", "elif", "while", "until", "do", "time", "exec", "command", "env", "sudo", "doas",
    "nohup", "nice", "ionice", "setsid", "stdbuf", "xargs", "timeout",
];

/// Where a command runs.
#[derive(Debug)]
pub(crate) struct CommandFiles<'a> {
    /// What stands for values of references and for what the run sets.
    pub(crate) variables: BTreeMap<String, String>,
    /// Relative words start here.
    pub(crate) directory: &'a Path,
    /// Where programs are looked for.
    pub(crate) search: &'a OsStr,
}

impl CommandFiles<'_> {
    /// The files that this command names, in its order. Reads them.
    pub(crate) fn of(&self, command: &str) -> Vec<CoveredFile> {
        let mut budget = READ_BYTES_TOGETHER;
        let mut known = BTreeSet::new();
        let mut files = Vec::new();
        for name in self.names(command) {
            if files.len() == MOST_FILES {
                break;
            }
            if !known.insert(name.clone()) {
                continue;
            }
            let path = self.directory.join(&name);
            match look(&path, &mut budget) {
                Ok(Some(found)) => files.push(CoveredFile { path: name, found }),
                Err(_) if looks_like_a_file(&name) => files.push(CoveredFile { path: name, found: Found::Nothing }),
                // A directory, a device; a word that is no file.
                Ok(None) | Err(_) => {}
            }
        }
        files
    }

    /// Every word that could be the path of a file, programs as they are found.
    fn names(&self, command: &str) -> Vec<String> {
        let mut names = Vec::new();
        let mut at_program = true;
        let mut is_written = false;
        for token in tokens(command) {
            let word = match token {
                Token::Operator(operator) => {
                    is_written = operator == '>';
                    at_program |= !matches!(operator, '<' | '>');
                    continue;
                }
                Token::Word(word) => self.filled(&word),
            };
            if std::mem::take(&mut is_written) {
                continue;
            }
            // `NAME=value`, `--option=value`: the program is still to come, and the value may be a file.
            let (option, value) = if let Some((option, value)) = word.split_once('=') {
                (Some(option), value.to_owned())
            } else {
                (None, word.clone())
            };
            let is_assignment = option.is_some_and(|option| !option.starts_with('-'));
            if at_program && !is_assignment {
                at_program = BEFORE_PROGRAMS.contains(&value.as_str()) || value.starts_with('-');
                if !value.contains('/') {
                    let found = resolve_program(&value, self.search, self.directory);
                    names.extend(found.ok().and_then(|path| path.into_os_string().into_string().ok()));
                    continue;
                }
            }
            if !value.is_empty() && !value.starts_with('-') {
                names.push(value);
            }
        }
        names
    }

    /// The word with the variables that are known here filled in, and `~`.
    fn filled(&self, word: &str) -> String {
        let home = self.variables.get("HOME").filter(|_| word == "~" || word.starts_with("~/"));
        let word = home.map_or_else(|| word.to_owned(), |home| format!("{home}{}", &word[1..]));
        let mut filled = String::new();
        let mut rest = word.as_str();
        while let Some(at) = rest.find('$') {
            filled.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            let braced = after.strip_prefix('{').and_then(|inside| inside.split_once('}'));
            let (name, end) = braced.map_or_else(
                || {
                    let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
                    (&after[..end], end)
                },
                |(name, _)| (name, name.len() + 2),
            );
            filled.push_str(self.variables.get(name).map_or(&rest[at..=at + end], |value| value));
            rest = &after[end..];
        }
        filled.push_str(rest);
        filled
    }
}

/// A piece of a command.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// The last character of an operator, or a line's end.
    Operator(char),
}

/// The pieces of a command, quotes removed.
fn tokens(command: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = command.chars();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => word.get_or_insert_default().extend(characters.next()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ' | '\t') => tokens.extend(word.take().map(Token::Word)),
            (None, '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' | '`') => {
                tokens.extend(word.take().map(Token::Word));
                tokens.push(Token::Operator(c));
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    tokens.extend(word.map(Token::Word));
    tokens
}

/// Where files are no files but what the kernel has to say.
const MADE_UP: [&str; 2] = ["/proc", "/sys"];

/// What is at a path; nothing when it is no plain file.
fn look(path: &Path, budget: &mut u64) -> io::Result<Option<Found>> {
    // What the kernel makes up when it is read is a measurement, another one each time: a gate on it would open again
    // without end.
    if MADE_UP.iter().any(|directory| path.starts_with(directory)) {
        return Ok(None);
    }
    let data = fs::metadata(path)?;
    if !data.is_file() {
        return Ok(None);
    }
    let size = data.len();
    if size <= READ_BYTES.min(*budget)
        && let Some(sha256) = digest(path)?
    {
        *budget -= size;
        return Ok(Some(Found::Digest { sha256, size }));
    }
    let since = data.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(Some(Found::Stamp { size, modified: Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)) }))
}

/// The digest of a file; nothing when there is more of it than is read.
fn digest(path: &Path) -> io::Result<Option<String>> {
    let mut file = File::open(path)?.take(READ_BYTES + 1);
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 64 * 1024];
    let mut read = 0;
    loop {
        let count = file.read(&mut piece)?;
        if count == 0 {
            break;
        }
        read += count as u64;
        hasher.update(&piece[..count]);
    }
    let digest = hasher.finalize();
    let hexadecimal = || {
        digest.iter().fold(String::new(), |mut text, byte| {
            let _never_fails = write!(text, "{byte:02x}");
            text
        })
    };
    Ok((read <= READ_BYTES).then(hexadecimal))
}

/// Whether a word for which there is no file is likely to be meant as one: it would be used were it there by then.
fn looks_like_a_file(word: &str) -> bool {
    let has_place = word.contains('/') && !word.contains("://");
    let has_kind = word.rsplit_once('.').is_some_and(|(stem, kind)| {
        !stem.is_empty() && (1..=5).contains(&kind.len()) && kind.bytes().all(|byte| byte.is_ascii_alphabetic())
    });
    (has_place || has_kind) && !word.contains(|c: char| c.is_whitespace() || matches!(c, '*' | '?' | '$' | '['))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place {
        directory: tempfile::TempDir,
        variables: BTreeMap<String, String>,
    }

    fn place(files: &[&str]) -> Place {
        let directory = tempfile::tempdir().unwrap();
        for file in files {
            fs::create_dir_all(directory.path().join(file).parent().unwrap()).unwrap();
            fs::write(directory.path().join(file), *file).unwrap();
        }
        Place { directory, variables: BTreeMap::new() }
    }

    impl Place {
        fn files(&self, command: &str) -> Vec<CoveredFile> {
            let (directory, search) = (self.directory.path(), OsStr::new("/usr/bin:/bin"));
            CommandFiles { variables: self.variables.clone(), directory, search }.of(command)
        }

        /// Paths of what a command names, without the programs of the system.
        fn named(&self, command: &str) -> Vec<String> {
            let own = |file: &CoveredFile| !file.path.starts_with("/usr/") && !file.path.starts_with("/bin/");
            self.files(command).into_iter().filter(own).map(|file| file.path).collect()
        }
    }

    #[test]
    fn programs_and_plain_files_are_found_however_they_are_written() {
        let mut place = place(&["job.sh", "my job.sh", "in.csv", "conf/a.toml", "list"]);
        place.variables.insert("WEIR_1".to_owned(), "my job.sh".to_owned());
        for (command, named) in [
            ("sh ./job.sh", vec!["./job.sh"]),
            ("sh job.sh && cat in.csv", vec!["job.sh", "in.csv"]),
            ("./job.sh", vec!["./job.sh"]),
            ("sh 'my job.sh'; sh my\\ job.sh", vec!["my job.sh"]),
            ("sh \"$WEIR_1\"", vec!["my job.sh"]),
            ("sh ./\"${WEIR_1}\"", vec!["./my job.sh"]),
            ("A=1 tool --config=conf/a.toml <in.csv >job.sh", vec!["conf/a.toml", "in.csv"]),
            ("cat conf list /dev/null | wc -l", vec!["list"]),
            ("x=$(cat in.csv) sh -c 'echo hello'", vec!["in.csv"]),
            ("sh later.sh ./later word 1.5 https://example.org/x *.sh", vec!["later.sh", "./later"]),
        ] {
            assert_eq!(place.named(command), named, "{command}");
        }
        let programs: Vec<String> = place.files("env A=1 cat list").into_iter().map(|file| file.path).collect();
        assert_eq!(programs, ["/usr/bin/env", "/usr/bin/cat", "list"]);
    }

    #[test]
    fn content_is_what_counts_and_size_for_large_files() {
        let place = place(&["job.sh"]);
        let before = place.files("sh ./job.sh");
        let path = place.directory.path().join("job.sh");
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, "JOB.SH").unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        assert_ne!(place.files("sh ./job.sh"), before, "same size, same time");
        fs::write(&path, "job.sh").unwrap();
        assert_eq!(place.files("sh ./job.sh"), before, "another time alone changes nothing");
        File::create(&path).unwrap().set_len(READ_BYTES + 1).unwrap();
        let large = place.files("cat job.sh").pop().unwrap();
        assert!(matches!(large.found, Found::Stamp { size, .. } if size == READ_BYTES + 1), "{large:?}");
        fs::remove_file(&path).unwrap();
        assert_eq!(place.files("cat job.sh").pop().unwrap().found, Found::Nothing);
    }
}
