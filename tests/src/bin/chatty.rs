//! Writes much. `chatty BYTES [stdout|stderr]`: lines of 64 bytes, the last one cut to the exact number.

use std::io::{BufWriter, Write};

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let bytes: u64 = arguments.next().unwrap_or_else(|| "1024".to_owned()).parse()?;
    match arguments.next().as_deref() {
        Some("stderr") => write(bytes, std::io::stderr().lock()),
        None | Some("stdout") => write(bytes, std::io::stdout().lock()),
        Some(other) => anyhow::bail!("`{other}` is neither stdout nor stderr"),
    }
}

fn write(mut left: u64, to: impl Write) -> anyhow::Result<()> {
    let mut to = BufWriter::with_capacity(64 * 1024, to);
    let mut number = 0_u64;
    while left > 0 {
        let line = format!("{number:062} \n");
        let take = usize::try_from(left).unwrap_or(usize::MAX).min(line.len());
        to.write_all(&line.as_bytes()[..take])?;
        left -= take as u64;
        number += 1;
    }
    Ok(to.flush()?)
}
