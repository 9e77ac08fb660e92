//! What has become of the files that an approval covers.

use crate::run::event::{CoveredFile, Found};

/// Changes that are named; more are counted.
const NAMED: usize = 5;

/// What a person is told of the changes between what was shown and what is there now; `None` when there are none.
pub(crate) fn changes(shown: &[CoveredFile], now: &[CoveredFile]) -> Option<String> {
    let of = |files: &[CoveredFile], path: &str| files.iter().find(|file| file.path == path).cloned();
    let mut changes: Vec<String> = Vec::new();
    for before in shown {
        let now = of(now, &before.path).map_or(Found::Nothing, |file| file.found);
        match (&before.found, now) {
            (before, now) if *before == now => {}
            (_, Found::Nothing) => changes.push(format!("{} is gone", before.path)),
            (Found::Nothing, _) => changes.push(format!("{} is there now", before.path)),
            _ => changes.push(format!("{} has other content", before.path)),
        }
    }
    let is_new = |file: &&CoveredFile| of(shown, &file.path).is_none() && file.found != Found::Nothing;
    changes.extend(now.iter().filter(is_new).map(|file| format!("{} is what it would use now", file.path)));
    if changes.is_empty() {
        return None;
    }
    let more = changes.len().saturating_sub(NAMED);
    changes.truncate(NAMED);
    if more > 0 {
        changes.push(format!("and {more} more"));
    }
    Some(changes.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Timestamp;

    fn file(path: &str, found: Found) -> CoveredFile {
        CoveredFile { path: path.to_owned(), found }
    }

    fn digest(sha256: &str) -> Found {
        Found::Digest { sha256: sha256.to_owned(), size: 1 }
    }

    #[test]
    fn each_change_is_named_once() {
        let shown = [
            file("same", digest("a")),
            file("./job.sh", digest("a")),
            file("gone", digest("a")),
            file("new", Found::Nothing),
            file("large", Found::Stamp { size: 1, modified: Timestamp(1) }),
        ];
        let now = [
            file("same", digest("a")),
            file("./job.sh", digest("b")),
            file("new", digest("c")),
            file("large", Found::Stamp { size: 1, modified: Timestamp(2) }),
            file("/usr/local/bin/tool", digest("d")),
        ];
        assert_eq!(changes(&shown, &shown), None);
        assert_eq!(
            changes(&shown, &now).as_deref(),
            Some(
                "./job.sh has other content, gone is gone, new is there now, large has other content, \
                 /usr/local/bin/tool is what it would use now"
            )
        );
    }
}
