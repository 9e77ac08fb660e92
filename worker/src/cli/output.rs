//! The two streams of a command: data and talk.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::exit::{Exit, Stop};

/// Writes data to standard output. A reader that has gone away has what it wanted: the process ends well at once.
pub(super) fn data(text: &str) -> Result<(), Stop> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => Err(Stop { exit: Exit::Failed, message: format!("standard output: {error}") }),
    }
}

/// Writes a line to standard error. There is nowhere to say that this failed.
pub(super) fn tell(line: &str) {
    let _nobody_listens = writeln!(io::stderr().lock(), "{line}");
}

/// A value as one line of JSON.
pub(super) fn json_line(value: &impl serde::Serialize) -> Result<String, Stop> {
    serde_json::to_string(value).map(|json| json + "\n").map_err(|error| Stop::failed(&error))
}

/// A duration for people.
pub(super) fn took(milliseconds: u64) -> String {
    match milliseconds {
        0..1_000 => format!("{milliseconds} ms"),
        1_000..60_000 => format!("{}.{} s", milliseconds / 1_000, milliseconds % 1_000 / 100),
        _ => format!("{} min {} s", milliseconds / 60_000, milliseconds % 60_000 / 1_000),
    }
}

/// Rows under a head, in columns as wide as they need.
pub(super) fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([head[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for row in std::iter::once(head.map(str::to_owned)).chain(rows.iter().cloned()) {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            // Writing to a String cannot fail.
            let _ok = write!(line, "{cell:<width$}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_need() {
        let rows = [["a".to_owned(), "Größe".to_owned()], ["longer".to_owned(), String::new()]];
        assert_eq!(table(["id", "name"], &rows), "id      name\na       Größe\nlonger\n");
    }
}
