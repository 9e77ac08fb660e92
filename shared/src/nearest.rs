//! The known word that a mistyped one probably meant.

/// The nearest of `known` to `word`, when it is near enough to be a slip of the keyboard: at most two edits for short
/// words, a third of the letters for longer ones, letter case and `_`/`-` not counted. The first wins a tie.
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let plain = |text: &str| -> Vec<char> {
        text.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
    };
    let word = plain(word);
    let allowed = (word.len() / 3).max(2);
    known
        .into_iter()
        .map(|candidate| (distance(&word, &plain(candidate)), candidate))
        .filter(|(edits, candidate)| *edits <= allowed && *edits < candidate.chars().count().max(1))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, right) in b.iter().enumerate() {
            let mut edits = (above[j] + usize::from(left != right)).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *left == b[j - 1] && a[i - 1] == *right {
                edits = edits.min(before[j - 1] + 1);
            }
            row.push(edits);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_finds_its_word_and_a_stranger_does_not() {
        let known = ["id", "tool", "title", "approval", "timeoutSeconds", "retry"];
        assert_eq!(nearest("aproval", known), Some("approval"));
        assert_eq!(nearest("requires_approval", known), None);
        assert_eq!(nearest("timeout_seconds", known), Some("timeoutSeconds"));
        assert_eq!(nearest("toool", known), Some("tool"));
        assert_eq!(nearest("webhook", known), None);
        assert_eq!(nearest("titel", known), Some("title"));
    }
}
