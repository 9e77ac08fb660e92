//! One style sheet out of those that stand beside the components.

use std::path::Path;

use anyhow::{Context, Result};

use crate::wasm::files_below;

/// Sheets that others build on, first to last; the rest follows in the order of their paths.
const FIRST: [&str; 2] = ["styles/tokens.css", "styles/base.css"];

/// Joins every `.css` file below `sources`, each under a comment with its path.
pub(crate) fn concatenate(sources: &Path) -> Result<String> {
    let mut sheets = Vec::new();
    for path in files_below(sources)? {
        if path.extension().is_some_and(|extension| extension == "css") {
            let name = path.strip_prefix(sources)?.to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            sheets.push((name, text));
        }
    }
    sheets.sort_by_key(|(name, _)| (rank(name), name.clone()));
    let sheets: Vec<String> =
        sheets.iter().map(|(name, text)| format!("/* {name} */\n{}\n", text.trim_end())).collect();
    Ok(sheets.concat())
}

fn rank(name: &str) -> usize {
    FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_base_come_before_every_component() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["canvas/card.css", "styles/base.css", "styles/tokens.css", "app.css"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, ".a {}\n").unwrap();
        }
        let text = concatenate(folder.path()).unwrap();
        let order: Vec<&str> = text.lines().filter(|line| line.starts_with("/*")).collect();
        assert_eq!(
            order,
            ["/* styles/tokens.css */", "/* styles/base.css */", "/* app.css */", "/* canvas/card.css */"]
        );
    }
}
