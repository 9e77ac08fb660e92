//! Programs and shell words that take text for code, or hand it to something that does.

/// Words beside which no reference is accepted in this version, each with what to write instead of it.
const INTERPRETERS: &[&str] = &[
    // Shells, and what makes a shell read text again.
    "sh",
    "bash",
    "dash",
    "ash",
    "zsh",
    "ksh",
    "mksh",
    "fish",
    "busybox",
    "eval",
    "source",
    ".",
    "trap",
    "alias",
    "su",
    "ssh",
    "rsh",
    "watch",
    "parallel",
    "script",
    "tmux",
    "screen",
    "at",
    "batch",
    "crontab",
    "expect",
    "flock",
    // Languages that are handed code as an argument.
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "sed",
    "gsed",
    "python",
    "pypy",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "Rscript",
    "osascript",
    "pwsh",
    "powershell",
    "m4",
    "bc",
    "dc",
    "gdb",
    "ed",
    "ex",
    "vi",
    "vim",
    "make",
    "sqlite3",
    "psql",
    "mysql",
    "mariadb",
    // Launchers that build commands from their arguments.
    "xargs",
    "find",
    "env",
    "sudo",
    "doas",
    // Shell words that evaluate arithmetic, which in bash runs what an index says.
    "let",
    "declare",
    "typeset",
    "local",
    "[[",
    "((",
];

/// Words that take variables' names as their arguments.
const TAKE_NAMES: &[&str] = &["export", "readonly", "read", "unset", "getopts", "mapfile", "readarray"];

/// Words that take a variable's name after `-v`.
const TAKE_NAME_AFTER_V: &[&str] = &["printf", "test", "["];

/// A program that runs what a variable holds: `$SHELL -c …`.
const SHELL_VARIABLES: &[&str] = &["$SHELL", "$BASH", "$0"];

/// The first word of the command that takes text for code. `text` has every reference left out.
pub(super) fn interpreter(text: &str) -> Option<String> {
    words(text).into_iter().find(|word| is_interpreter(word) || SHELL_VARIABLES.contains(&word.as_str()))
}

/// Whether the next word of a simple command may be a variable's name, told from the words before it.
pub(super) fn takes_name(before: &[String]) -> bool {
    before.iter().any(|word| TAKE_NAMES.contains(&word.as_str()))
        || before.iter().any(|word| word == "-v")
            && before.iter().any(|word| TAKE_NAME_AFTER_V.contains(&word.as_str()))
}

/// `/usr/bin/python3.12` counts as `python`.
fn is_interpreter(word: &str) -> bool {
    let name = match word {
        "." => word,
        _ => word.rsplit('/').next().unwrap_or(word),
    };
    let unversioned = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&name) || (!unversioned.is_empty() && INTERPRETERS.contains(&unversioned))
}

/// The words of a command with their quotes removed; operators and `=` end a word.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut has_word = false;
    let mut quote = None;
    let mut before = ' ';
    for c in text.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.push(c),
            None if matches!(c, '\'' | '"') => {
                quote = Some(c);
                has_word = true;
            }
            None if c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')' | '<' | '>' | '=' | '`' | '!') => {
                if c == '(' && before == '(' {
                    words.push("((".to_owned());
                }
                if has_word {
                    words.push(std::mem::take(&mut word));
                }
                has_word = false;
            }
            None => {
                word.push(c);
                has_word = true;
            }
        }
        before = c;
    }
    if has_word {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::interpreter;

    #[test]
    fn an_interpreter_is_found_as_any_word_however_it_is_written() {
        for command in [
            "sh -c x",
            "a; /bin/bash -c x",
            "a | python3.12 -c x",
            "FOO=1 env x",
            "'s'h -c x",
            "x=$(a);eval x",
            "true&&awk 1",
            ". ./x",
            "find .",
            "$SHELL -c x",
            "a ((x))",
            "x=sh; $x",
        ] {
            assert!(interpreter(command).is_some(), "{command}");
        }
        for command in ["echo 'please find it'", "./findings", "printf '%s' x", "grep -v x", "echo shell", "cat sh.txt"]
        {
            assert_eq!(interpreter(command), None, "{command}");
        }
    }
}
