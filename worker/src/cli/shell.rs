//! `weir completions` and `weir man`: what a shell and a reader need to know of this command line.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::exit::{Exit, Stop};
use super::{Done, Weir, output};

/// Print the completions of a shell
///
/// For bash: weir completions bash > ~/.local/share/bash-completion/completions/weir
#[derive(Debug, Args)]
pub(super) struct Completions {
    shell: Shell,
}

impl Completions {
    pub(super) fn execute(self) -> Done {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Weir::command(), "weir", &mut text);
        output::data(&String::from_utf8_lossy(&text))?;
        Ok(Exit::Done)
    }
}

/// Prints the manual page.
pub(super) fn man() -> Done {
    let mut text = Vec::new();
    clap_mangen::Man::new(Weir::command()).render(&mut text).map_err(|error| Stop::failed(&error))?;
    output::data(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}
