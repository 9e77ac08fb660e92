//! `weir check`: findings of flow files, each with file, line and column.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report, Severity as Weight,
};
use serde::Serialize;
use serde_json::json;
use weir_shared::check::{Surroundings, bad_flow_id, check_text};
use weir_shared::finding::{Code, Finding, FindingCounts, Severity};
use weir_shared::ids::FlowId;
use weir_shared::limits::FLOW_FILE_BYTES;
use weir_shared::tool::Catalog;

use super::exit::{Exit, Stop};
use super::{Done, configuration, decisions, flow_files, output};
use crate::config::Config;
use crate::secret::Secrets;

/// Check flow files
///
/// Prints every finding with its file, line and column. Ends with 3 when one of them is an error: right for a git
/// pre-commit hook. Needs no running worker. Tools of plugins count where this machine trusts them.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// Flow files, or directories of them [default: the flow directory]
    paths: Vec<PathBuf>,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// What was found in one file.
#[derive(Debug, Serialize)]
struct FileFindings {
    file: String,
    findings: Vec<Finding>,
    #[serde(skip)]
    text: String,
}

impl Check {
    pub(super) fn execute(self) -> Done {
        let config = configuration(Vec::new())?;
        let paths = if self.paths.is_empty() { vec![config.flows.clone()] } else { self.paths };
        let files = flow_files::named(&paths)?;
        let checked = checked(&files, &config)?;
        if self.json {
            output::data(&output::json_line(&checked)?)?;
        } else {
            output::data(&checked.iter().map(shown).collect::<String>())?;
        }
        let found: Vec<Finding> = checked.into_iter().flat_map(|file| file.findings).collect();
        let counts = FindingCounts::of(&found);
        output::tell(&format!("{} files, {} errors, {} warnings", files.len(), counts.errors, counts.warnings));
        Ok(if counts.errors > 0 { Exit::Findings } else { Exit::Done })
    }
}

/// Checks each file against the tools that flows of its directory have.
fn checked(files: &[PathBuf], config: &Config) -> Result<Vec<FileFindings>, Stop> {
    let records = decisions::records(config)?;
    // Secrets that cannot be read are the worker's affair: flows are checked without them.
    let secrets = config.secrets.read().ok();
    let secrets = secrets.as_ref().map(Secrets::names);
    let mut catalogs: BTreeMap<&Path, Catalog> = BTreeMap::new();
    let mut checked = Vec::with_capacity(files.len());
    for file in files {
        let directory = file.parent().unwrap_or(Path::new(""));
        let catalog = catalogs.entry(directory).or_insert_with(|| decisions::catalog(directory, config, &records));
        checked.push(check(file, &Surroundings { catalog, limits: &config.limits, secrets })?);
    }
    Ok(checked)
}

fn check(path: &Path, around: &Surroundings<'_>) -> Result<FileFindings, Stop> {
    let bytes = flow_files::read(path)?;
    let mut findings = match flow_files::stem(path) {
        Some(stem) if stem.parse::<FlowId>().is_err() => vec![bad_flow_id(&stem)],
        Some(_) | None => Vec::new(),
    };
    if bytes.len() > FLOW_FILE_BYTES {
        let detail = format!("at most {FLOW_FILE_BYTES} bytes are read");
        findings.push(Finding::new(Code::UnreadableFile, json!({ "reason": "too_large", "detail": detail })));
    } else {
        findings.extend(check_text(&bytes, around).findings);
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(FileFindings { file: path.display().to_string(), findings, text })
}

fn shown(file: &FileFindings) -> String {
    let handler = GraphicalReportHandler::new_themed(theme()).with_links(false);
    file.findings.iter().map(|finding| report(&handler, file, finding)).collect()
}

/// Colours on a terminal that wants them, plain letters elsewhere.
fn theme() -> GraphicalTheme {
    use std::io::IsTerminal;
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if plain || !std::io::stdout().is_terminal() {
        GraphicalTheme::unicode_nocolor()
    } else {
        GraphicalTheme::unicode()
    }
}

fn report(handler: &GraphicalReportHandler, file: &FileFindings, finding: &Finding) -> String {
    let weight = match finding.severity {
        Severity::Error => Weight::Error,
        Severity::Warning => Weight::Warning,
        Severity::Info => Weight::Advice,
    };
    let mut diagnostic = MietteDiagnostic::new(&finding.message).with_code(finding.code.as_str()).with_severity(weight);
    if let Some(hint) = &finding.hint {
        diagnostic = diagnostic.with_help(hint);
    }
    let place = finding.line.zip(finding.column).and_then(|(line, column)| span(&file.text, line, column));
    let report = if let Some((start, length)) = place {
        let label = LabeledSpan::new_with_span(None, (start, length));
        Report::new(diagnostic.with_label(label)).with_source_code(NamedSource::new(&file.file, file.text.clone()))
    } else {
        diagnostic.message = format!("{}: {}", file.file, diagnostic.message);
        Report::new(diagnostic)
    };
    let mut text = String::new();
    // Writing to a String fails only if a diagnostic refuses to show itself; then its message must do.
    if handler.render_report(&mut text, report.as_ref()).is_err() {
        text = format!("{}: {}\n", file.file, finding.message);
    }
    text.push('\n');
    text
}

/// Where a line and column begin, in bytes, and how long the word there is.
fn span(text: &str, line: u32, column: u32) -> Option<(usize, usize)> {
    let line_start: usize = text.split_inclusive('\n').take(line.checked_sub(1)? as usize).map(str::len).sum();
    let rest = text.get(line_start..)?.lines().next().unwrap_or_default();
    let before: usize = rest.chars().take(column.checked_sub(1)? as usize).map(char::len_utf8).sum();
    let word = rest[before..].chars().take_while(|c| !matches!(c, ',' | ':' | '{' | '}' | '[' | ']'));
    let length: usize = word.map(char::len_utf8).sum();
    Some((line_start + before, length.max(1).min(text.len() - line_start - before)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_by_line_and_character() {
        let text = "{\n  \"näme\": \"x\",\n}";
        assert_eq!(span(text, 2, 3), Some((4, 7)));
        assert_eq!(span(text, 2, 11), Some((13, 3)));
        assert_eq!(span(text, 3, 1), Some((18, 1)));
        assert_eq!(span("", 1, 1), Some((0, 0)));
    }

    #[test]
    fn a_finding_is_shown_with_its_place() {
        let mut finding = Finding::new(Code::UnknownKey, json!({ "key": "nmae", "path": "nmae", "nearest": "name" }));
        (finding.line, finding.column) = (Some(2), Some(3));
        let file = FileFindings {
            file: "a.flow.json".to_owned(),
            findings: vec![finding],
            text: "{\n  \"nmae\": 1\n}".to_owned(),
        };
        let text = shown(&file);
        assert!(text.contains("a.flow.json:2:3") && text.contains("unknown_key"), "{text}");
    }
}
