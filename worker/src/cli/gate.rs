//! Asking at a gate, when there is somebody to ask.

use std::io::{self, BufRead, IsTerminal};

use super::output;

/// What a person said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    Yes,
    No,
    /// The input ended: nobody is there any more.
    Nothing,
}

/// Whether there is somebody: questions go to standard error, answers come from standard input.
pub(super) fn somebody_is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks until the answer is one.
pub(super) fn ask(question: &str) -> Said {
    loop {
        output::tell(question);
        output::tell("approve? [y/n]");
        let mut line = String::new();
        match io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => return Said::Nothing,
            Ok(_) => {
                if let Some(said) = read(&line) {
                    return said;
                }
            }
        }
    }
}

fn read(line: &str) -> Option<Said> {
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Some(Said::Yes),
        "n" | "no" => Some(Said::No),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_answer_is_one() {
        assert_eq!(read("Y\n"), Some(Said::Yes));
        assert_eq!(read(" no "), Some(Said::No));
        assert_eq!((read(""), read("yep")), (None, None));
    }
}
