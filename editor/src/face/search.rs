//! Which tools a person means by a few letters.

use weir_shared::tool::ToolDeclaration;

use super::card::tool_label;

/// How well `query` fits `text`; 0 when it does not. Case does not count.
///
/// The text containing the query is best, the more so at its start or at a word's; else the query's letters in order,
/// with a bonus for runs and for beginnings of words.
pub fn score(query: &str, text: &str) -> f64 {
    let query: Vec<char> = query.trim().chars().flat_map(char::to_lowercase).collect();
    let text: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
    if query.is_empty() || query.len() > text.len() {
        return 0.0;
    }
    let surplus = length(text.len() - query.len());
    if let Some(at) = text.windows(query.len()).position(|part| part == query) {
        let bonus = match at {
            0 => 200.0,
            at if begins_word(&text, at) => 100.0,
            _ => 0.0,
        };
        return 1000.0 + bonus - 2.0 * length(at) - 3.0 * surplus;
    }
    in_order(&query, &text).map_or(0.0, |points| (points - 2.0 * surplus).max(0.0))
}

fn in_order(query: &[char], text: &[char]) -> Option<f64> {
    let mut points = 0.0;
    let mut run = 0_usize;
    let mut last: Option<usize> = None;
    let mut from = 0;
    for wanted in query {
        let at = from + text[from..].iter().position(|c| c == wanted)?;
        points += 10.0;
        match last {
            Some(last) if at == last + 1 => {
                points += 5.0 + 2.0 * length(run);
                run += 1;
            }
            Some(last) => {
                points -= 3.0 * length(at - last - 1);
                run = 0;
            }
            None => {}
        }
        if at == 0 {
            points += 20.0;
        } else if begins_word(text, at) {
            points += 15.0;
        }
        last = Some(at);
        from = at + 1;
    }
    Some(points)
}

fn begins_word(text: &[char], at: usize) -> bool {
    at > 0 && matches!(text[at - 1], ' ' | '-' | '_')
}

#[expect(clippy::cast_precision_loss, reason = "lengths of names")]
fn length(count: usize) -> f64 {
    count as f64
}

/// How well a query fits a tool: its name or label, or half as much its group.
pub fn tool_score(query: &str, tool: &ToolDeclaration) -> f64 {
    let label = tool_label(&tool.name, Some(tool));
    score(query, &tool.name).max(score(query, label)).max(0.5 * score(query, &tool.group))
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "whole numbers worked out by one formula are compared")]
mod tests {
    use super::*;

    #[test]
    fn contained_is_better_than_scattered_and_the_start_is_best() {
        assert_eq!(score("http", "http_request"), 1200.0 - 24.0);
        assert_eq!(score("request", "HTTP request"), 1000.0 + 100.0 - 10.0 - 15.0);
        assert!(score("tp", "http") > score("hp", "http"));
        assert!(score("hr", "http_request") > 0.0);
    }

    #[test]
    fn every_letter_must_be_there_in_order() {
        assert_eq!(score("pth", "http"), 0.0);
        assert_eq!(score("", "http"), 0.0);
        assert_eq!(score("https://", "http"), 0.0);
    }

    #[test]
    fn beginnings_of_words_count() {
        assert!(score("jf", "json_format") > score("jo", "jaunty_log"));
    }
}
