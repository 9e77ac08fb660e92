//! The page's files: embedded in a release, read from a directory while developing, or absent.
//!
//! The build of the page puts files with a hash in their name under `assets/`, each with `.br` and `.gz` beside it:
//! those may be kept for ever. Everything else is asked for again. Nothing here knows HTTP beyond the words of its
//! headers.

use std::path::{Path, PathBuf};

use hyper::body::Bytes;

use crate::access::token::hexadecimal;

include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Where the page comes from.
#[derive(Debug, Clone)]
pub(crate) enum Page {
    /// Part of this program: names and contents.
    Embedded(&'static [(&'static str, &'static [u8])]),
    /// A build of the page on disk, read at each request.
    Directory(PathBuf),
    /// None was built.
    Absent,
}

/// A file as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageFile {
    pub(crate) bytes: Bytes,
    pub(crate) content_type: &'static str,
    pub(crate) encoding: Encoding,
    pub(crate) keep: Keep,
}

/// How a file's bytes are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Identity,
    Gzip,
    Brotli,
}

/// How long a browser may use a file without asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Its name changes with its content.
    ForEver,
    /// It must ask, and names what it has.
    Ask { tag: String },
}

/// First segments of addresses that the page shows something at.
const PAGE_ROUTES: [&str; 6] = ["", "flows", "runs", "tasks", "schedules", "settings"];

/// What is shown in place of a page that was never built. No style: the policy allows none inline.
const NO_PAGE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Weir</title>\
<h1>Weir is running, without its page</h1>\
<p>This worker was built without the page. Run <code>./scripts/start</code>, which builds both, or \
<code>cargo run --release -p build-editor</code> and then <code>weir serve --page editor/dist</code>.</p>\
<p>The API works: see <a href=\"/api/health\">/api/health</a>.</p></html>\n";

impl Page {
    /// The page of this directory when one is named; else the embedded one; else what a development build finds in
    /// its source tree.
    pub(crate) fn locate(directory: Option<&Path>) -> Self {
        if let Some(directory) = directory {
            return Page::Directory(directory.to_owned());
        }
        if !EMBEDDED.is_empty() {
            return Page::Embedded(EMBEDDED);
        }
        match SOURCE_TREE.map(Path::new) {
            Some(built) if built.join("index.html").is_file() => Page::Directory(built.to_owned()),
            Some(_) | None => Page::Absent,
        }
    }

    /// The file at this path of an address, in the best encoding that is both accepted and there.
    pub(crate) fn find(&self, path: &str, accepted: &str) -> Option<PageFile> {
        let name = path.trim_start_matches('/');
        let first = name.split('/').next().unwrap_or_default();
        if PAGE_ROUTES.contains(&first) {
            return self.file("index.html", accepted).or_else(|| Some(no_page()));
        }
        if name
            .split('/')
            .any(|segment| segment.is_empty() || segment.starts_with('.') || segment.contains(['\\', '\0', '%']))
        {
            return None;
        }
        self.file(name, accepted)
    }

    fn file(&self, name: &str, accepted: &str) -> Option<PageFile> {
        [(Encoding::Brotli, "br", ".br"), (Encoding::Gzip, "gzip", ".gz"), (Encoding::Identity, "", "")]
            .into_iter()
            .filter(|(_, word, _)| word.is_empty() || accepts(accepted, word))
            .find_map(|(encoding, _, suffix)| Some((encoding, self.read(&format!("{name}{suffix}"))?)))
            .map(|(encoding, bytes)| PageFile {
                content_type: content_type(name),
                keep: if name.starts_with("assets/") { Keep::ForEver } else { Keep::Ask { tag: tag_of(&bytes) } },
                encoding,
                bytes,
            })
    }

    fn read(&self, name: &str) -> Option<Bytes> {
        match self {
            Page::Embedded(files) => {
                files.iter().find(|(known, _)| *known == name).map(|(_, bytes)| Bytes::from_static(bytes))
            }
            Page::Directory(directory) => std::fs::read(directory.join(name)).ok().map(Bytes::from),
            Page::Absent => None,
        }
    }
}

fn no_page() -> PageFile {
    PageFile {
        bytes: Bytes::from_static(NO_PAGE.as_bytes()),
        content_type: content_type("index.html"),
        encoding: Encoding::Identity,
        keep: Keep::Ask { tag: tag_of(NO_PAGE.as_bytes()) },
    }
}

/// Whether an `Accept-Encoding` takes this coding: named, and not with a weight of zero.
fn accepts(accepted: &str, coding: &str) -> bool {
    accepted.split(',').any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(coding));
        let refused = parts.any(|part| {
            part.strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok()).is_some_and(|weight| weight <= 0.0)
        });
        named && !refused
    })
}

fn tag_of(bytes: &[u8]) -> String {
    use sha2::Digest;
    hexadecimal(&sha2::Sha256::digest(bytes)[..8])
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Page {
        Page::Embedded(&[
            ("index.html", b"<html>"),
            ("index.html.gz", b"zipped"),
            ("assets/app-1a2b.wasm", b"wasm"),
            ("assets/app-1a2b.wasm.br", b"br"),
            ("assets/app-1a2b.wasm.gz", b"gz"),
            ("assets/app-1a2b.js", b"js"),
        ])
    }

    #[test]
    fn the_best_accepted_encoding_that_is_there_is_sent() {
        let cases: [(&str, &str, &[u8]); 6] = [
            ("/assets/app-1a2b.wasm", "gzip, deflate, br", b"br"),
            ("/assets/app-1a2b.wasm", "gzip", b"gz"),
            ("/assets/app-1a2b.wasm", "br;q=0, gzip;q=0.5", b"gz"),
            ("/assets/app-1a2b.wasm", "", b"wasm"),
            ("/assets/app-1a2b.js", "br, gzip", b"js"),
            ("/", "br, gzip", b"zipped"),
        ];
        for (path, accepted, expected) in cases {
            assert_eq!(page().find(path, accepted).unwrap().bytes, expected, "{path} {accepted}");
        }
    }

    #[test]
    fn hashed_files_are_kept_and_the_page_is_asked_for() {
        let wasm = page().find("/assets/app-1a2b.wasm", "").unwrap();
        assert_eq!((wasm.content_type, wasm.keep), ("application/wasm", Keep::ForEver));
        let index = page().find("/flows/nightly", "").unwrap();
        assert_eq!(index.content_type, "text/html; charset=utf-8");
        assert!(matches!(index.keep, Keep::Ask { .. }));
    }

    #[test]
    fn the_pages_own_addresses_show_it_and_others_do_not() {
        for shown in ["/", "/flows/a", "/runs", "/runs/x", "/tasks", "/schedules", "/settings"] {
            assert!(page().find(shown, "").is_some(), "{shown}");
        }
        for missing in
            ["/assets/none.js", "/etc/passwd", "/../index.html", "/assets/../index.html", "/.git/config", "//"]
        {
            assert!(page().find(missing, "").is_none() || missing == "//", "{missing}");
        }
    }

    #[test]
    fn a_directory_gives_only_what_is_in_it() {
        let outer = tempfile::tempdir().unwrap();
        std::fs::write(outer.path().join("secret.txt"), "no").unwrap();
        let dist = outer.path().join("dist");
        std::fs::create_dir(&dist).unwrap();
        std::fs::write(dist.join("index.html"), "yes").unwrap();
        let page = Page::locate(Some(&dist));
        assert_eq!(page.find("/", "").unwrap().bytes, "yes");
        for outside in ["/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", "/./../secret.txt"] {
            assert!(page.find(outside, "").is_none(), "{outside}");
        }
    }

    #[test]
    fn without_a_page_there_is_a_hint() {
        let hint = Page::Absent.find("/", "br").unwrap();
        assert!(std::str::from_utf8(&hint.bytes).unwrap().contains("./scripts/start"));
        assert!(Page::Absent.find("/assets/app.js", "").is_none());
    }
}
