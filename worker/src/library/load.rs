//! One file to one entry: what is on disk, what of it is usable, and what is wrong with it.
//!
//! A file is never followed out of the directory, never cut short, and never waited for (a pipe of a flow's name would
//! block for ever): what is not a plain file of a sensible size is refused with a finding.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use weir_shared::check::{CheckedText, Surroundings, check_text};
use weir_shared::finding::{Code, Finding};
use weir_shared::flow::Flow;
use weir_shared::ids::{FlowId, Revision, Timestamp};
use weir_shared::limits::{FLOW_FILE_BYTES, Limits};
use weir_shared::plan::Plan;
use weir_shared::tool::Catalog;

use crate::secret::Secrets;

/// How a flow file's name ends.
pub(super) const ENDING: &str = ".flow.json";

/// A flow as it stands in the directory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) id: FlowId,
    /// Of the bytes on disk.
    pub(crate) revision: Revision,
    /// The text on disk, when it is not readable as a flow.
    pub(crate) text: Option<String>,
    /// The last flow that was readable since this start.
    pub(crate) flow: Option<Arc<Flow>>,
    /// Of the bytes that `flow` was read from; equal to `revision` while the file is readable.
    pub(crate) flow_revision: Option<Revision>,
    /// Of the text on disk.
    pub(crate) findings: Vec<Finding>,
    /// Of the text on disk, when it has no errors.
    pub(crate) plan: Option<Arc<Plan>>,
    /// When the file was last written.
    pub(crate) updated_at: Timestamp,
}

impl Entry {
    /// Whether it says what this file holds, and when it was written.
    pub(super) fn is_of(&self, on_disk: &OnDisk) -> bool {
        self.revision == on_disk.revision() && self.updated_at == on_disk.updated_at()
    }
}

/// What flows are judged against.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    pub(super) catalog: Arc<Catalog>,
    pub(super) limits: Limits,
    /// None: which secrets there are is not known.
    pub(super) secrets: Option<Secrets>,
}

impl Rules {
    pub(super) fn check(&self, text: &[u8]) -> CheckedText {
        let secrets = self.secrets.as_ref().map(Secrets::names);
        check_text(text, &Surroundings { catalog: &self.catalog, limits: &self.limits, secrets })
    }
}

/// A file as it is on disk.
#[derive(Debug)]
pub(super) struct OnDisk {
    pub(super) content: Content,
    pub(super) metadata: Metadata,
}

/// What a file holds, as far as it was read.
#[derive(Debug)]
pub(super) enum Content {
    Bytes(Vec<u8>),
    TooLarge,
    /// Why it was not read at all.
    NotRead(String),
}

impl OnDisk {
    /// Reads a flow's file of the directory; an error of kind `NotFound` when there is none.
    pub(super) fn read(directory: &Path, name: &str) -> io::Result<Self> {
        Self::read_at_most(directory, name, FLOW_FILE_BYTES)
    }

    /// The same for a file that may have this many bytes.
    pub(super) fn read_at_most(directory: &Path, name: &str, most: usize) -> io::Result<Self> {
        let path = directory.join(name);
        let link = fs::symlink_metadata(&path)?;
        if link.is_symlink() && !stays_inside(directory, &path) {
            let reason = "it is a symbolic link that leaves the directory of flows".to_owned();
            return Ok(Self { content: Content::NotRead(reason), metadata: link });
        }
        // Not blocking: opening a pipe that nobody writes to would wait for ever.
        let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(&path);
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
            Err(error) => return Ok(Self { content: Content::NotRead(error.to_string()), metadata: link }),
        };
        let metadata = file.metadata()?;
        Ok(Self { content: content(&file, &metadata, most), metadata })
    }

    /// The revision of what is on disk. A file that is not read has one too, which changes when the file does.
    pub(super) fn revision(&self) -> Revision {
        match &self.content {
            Content::Bytes(bytes) => Revision::of(bytes),
            Content::TooLarge | Content::NotRead(_) => {
                let marks =
                    (self.metadata.ino(), self.metadata.len(), self.metadata.mtime(), self.metadata.mtime_nsec());
                Revision::of(format!("{marks:?}").as_bytes())
            }
        }
    }

    /// When it was last written.
    fn updated_at(&self) -> Timestamp {
        Timestamp(self.metadata.mtime().saturating_mul(1000).saturating_add(self.metadata.mtime_nsec() / 1_000_000))
    }
}

fn content(file: &File, metadata: &Metadata, allowed: usize) -> Content {
    if !metadata.is_file() {
        return Content::NotRead("it is not a plain file".to_owned());
    }
    // One byte more than is allowed tells a file that grows while it is read.
    let most = allowed as u64 + 1;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(most)).unwrap_or(0));
    match file.take(most).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() > allowed => Content::TooLarge,
        Ok(_) => Content::Bytes(bytes),
        Err(error) => Content::NotRead(error.to_string()),
    }
}

/// Whether a link ends up in the directory or below it. One that leads nowhere leaves nothing.
pub(super) fn stays_inside(directory: &Path, link: &Path) -> bool {
    match (fs::canonicalize(directory), fs::canonicalize(link)) {
        (Ok(directory), Ok(target)) => target.starts_with(directory),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

/// The entry of what is on disk; `before` gives the last good flow when this text is not readable.
pub(super) fn entry(id: &FlowId, on_disk: OnDisk, before: Option<&Entry>, rules: &Rules) -> Entry {
    let revision = on_disk.revision();
    let updated_at = on_disk.updated_at();
    let unread = |finding| CheckedText { flow: None, findings: vec![finding], plan: None, canonical: None };
    let (checked, text) = match on_disk.content {
        Content::Bytes(bytes) => {
            let checked = rules.check(&bytes);
            let text = checked.flow.is_none().then(|| String::from_utf8_lossy(&bytes).into_owned());
            (checked, text)
        }
        Content::TooLarge => (unread(too_large(on_disk.metadata.len())), None),
        Content::NotRead(reason) => (unread(not_read(&reason)), None),
    };
    let (flow, flow_revision) = match checked.flow {
        Some(flow) => (Some(Arc::new(flow)), Some(revision.clone())),
        None => (before.and_then(|before| before.flow.clone()), before.and_then(|before| before.flow_revision.clone())),
    };
    let plan = checked.plan.map(Arc::new);
    Entry { id: id.clone(), revision, text, flow, flow_revision, findings: checked.findings, plan, updated_at }
}

fn too_large(bytes: u64) -> Finding {
    let detail = format!("{bytes} bytes, and at most {FLOW_FILE_BYTES} are read");
    Finding::new(Code::UnreadableFile, json!({ "reason": "too_large", "detail": detail }))
}

fn not_read(reason: &str) -> Finding {
    Finding::new(Code::UnreadableFile, json!({ "reason": "not_read", "detail": reason }))
}

/// The file of a flow.
pub(super) fn file_name(id: &FlowId) -> String {
    format!("{id}{ENDING}")
}

/// What a file's name says when it is that of a flow file: its stem. Hidden files are an editor's or ours.
pub(super) fn stem(name: &str) -> Option<&str> {
    name.strip_suffix(ENDING).filter(|stem| !stem.is_empty() && !name.starts_with('.'))
}

/// Where the bytes of a file are: the file a link inside the directory leads to, so that saving keeps the link.
pub(super) fn real_path(directory: &Path, name: &str) -> PathBuf {
    let path = directory.join(name);
    fs::canonicalize(&path).unwrap_or(path)
}
