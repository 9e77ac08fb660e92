//! The folder that the worker embeds and serves: names that change with the content, compressed once.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

use crate::Weight;
use crate::wasm::Page;

/// What the page is put together from.
pub(crate) struct Parts {
    pub(crate) page: Page,
    pub(crate) style: String,
    /// `editor/boot.js`: the script that starts the page; `{{glue}}` and `{{wasm}}` in it are the names of files
    /// beside it.
    pub(crate) boot: String,
    /// `editor/index.html`: its placeholders are [`PLACEHOLDERS`].
    pub(crate) index: String,
    /// What all this was made from, see [`mark`].
    pub(crate) mark: String,
}

/// A file of the page and its sizes in bytes.
pub(crate) struct Written {
    pub(crate) name: String,
    pub(crate) bytes: usize,
    pub(crate) gzip: usize,
    pub(crate) brotli: usize,
}

/// The places of `index.html` that are filled with paths on the server. `{{js}}` is the one script it loads: the
/// filled `boot.js`, a file of its own since the Content-Security-Policy allows no script inside the HTML. `{{glue}}`
/// and `{{wasm}}` are what that script loads, for preloading.
const PLACEHOLDERS: [&str; 4] = ["{{css}}", "{{js}}", "{{glue}}", "{{wasm}}"];

/// The widest window of brotli that every browser decodes, as a power of two.
const WINDOW: u32 = 22;

/// The file that holds the mark of the sources a folder was made from.
const MARK: &str = ".made-from";

/// A digest of the sources of a page, of how it is built and of the program that builds it.
pub(crate) fn mark(sources: &[&[u8]], weight: Weight) -> Result<String> {
    let program = std::fs::metadata(std::env::current_exe()?)?.modified()?;
    let program = program.duration_since(std::time::UNIX_EPOCH)?.as_millis();
    let mut digest = Sha256::new();
    for source in sources {
        digest.update((source.len() as u64).to_le_bytes());
        digest.update(source);
    }
    Ok(format!("{} {program} {}\n", weight.profile(), short(&digest.finalize())))
}

/// Whether a folder was made from just these sources.
pub(crate) fn carries(dist: &Path, mark: &str) -> bool {
    std::fs::read_to_string(dist.join(MARK)).is_ok_and(|found| found == mark)
}

/// The first twelve hexadecimal digits of a digest.
fn short(digest: &[u8]) -> String {
    let head = digest.iter().take(6).fold(0_u64, |head, byte| head << 8 | u64::from(*byte));
    format!("{head:012x}")
}

/// Writes everything beside the old folder and then puts it in its place.
pub(crate) fn write(dist: &Path, parts: &Parts, weight: Weight) -> Result<Vec<Written>> {
    let next = dist.with_extension("next");
    remove(&next)?;
    let mut folder = Folder { root: &next, weight, written: Vec::new() };

    for (path, bytes) in &parts.page.snippets {
        folder.put(&format!("assets/{}", path.display()), bytes)?;
    }
    let wasm = folder.put_hashed("weir", "wasm", &parts.page.wasm)?;
    let glue = folder.put_hashed("weir", "js", parts.page.script.as_bytes())?;
    let boot = parts.boot.replace("{{glue}}", file_name(&glue)).replace("{{wasm}}", file_name(&wasm));
    let boot = folder.put_hashed("boot", "js", boot.as_bytes())?;
    let css = folder.put_hashed("weir", "css", parts.style.as_bytes())?;

    let mut index = parts.index.clone();
    ensure!(
        index.contains("{{js}}") && index.contains("{{css}}"),
        "editor/index.html needs {{{{js}}}} and {{{{css}}}}"
    );
    for (placeholder, path) in PLACEHOLDERS.into_iter().zip([css, boot, glue, wasm]) {
        index = index.replace(placeholder, &path);
    }
    folder.put("index.html", index.as_bytes())?;
    let written = folder.written;
    std::fs::write(next.join(MARK), &parts.mark)?;

    let old = dist.with_extension("old");
    remove(&old)?;
    if dist.exists() {
        std::fs::rename(dist, &old)?;
    }
    std::fs::rename(&next, dist).with_context(|| format!("cannot put {} in its place", dist.display()))?;
    remove(&old)?;
    Ok(written)
}

/// The last part of a path on the server.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn remove(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

struct Folder<'a> {
    root: &'a Path,
    weight: Weight,
    written: Vec<Written>,
}

impl Folder<'_> {
    /// Writes `assets/<stem>-<digest>.<extension>` and returns its path on the server.
    fn put_hashed(&mut self, stem: &str, extension: &str, bytes: &[u8]) -> Result<String> {
        let name = format!("assets/{stem}-{}.{extension}", short(&Sha256::digest(bytes)));
        self.put(&name, bytes)?;
        Ok(format!("/{name}"))
    }

    fn put(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.root.join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let gzip = gzip(bytes, self.weight)?;
        let brotli = brotli(bytes, self.weight)?;
        std::fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        std::fs::write(self.root.join(format!("{name}.gz")), &gzip)?;
        std::fs::write(self.root.join(format!("{name}.br")), &brotli)?;
        self.written.push(Written {
            name: name.to_owned(),
            bytes: bytes.len(),
            gzip: gzip.len(),
            brotli: brotli.len(),
        });
        Ok(())
    }
}

fn gzip(bytes: &[u8], weight: Weight) -> Result<Vec<u8>> {
    let level = match weight {
        Weight::Full => Compression::best(),
        Weight::Light => Compression::fast(),
    };
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

fn brotli(bytes: &[u8], weight: Weight) -> Result<Vec<u8>> {
    let quality = match weight {
        Weight::Full => 11,
        Weight::Light => 1,
    };
    let mut out = Vec::new();
    let mut encoder = brotli::CompressorWriter::new(&mut out, 64 * 1024, quality, WINDOW);
    encoder.write_all(bytes)?;
    drop(encoder);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read;

    use super::*;

    fn parts(index: &str) -> Parts {
        let page = Page { script: "export default 1;".into(), wasm: vec![0; 4000], snippets: BTreeMap::new() };
        let boot = "import init from './{{glue}}'; init('./{{wasm}}');".into();
        Parts { page, style: "body {}".into(), boot, index: index.into(), mark: "m".into() }
    }

    #[test]
    fn names_follow_the_content_and_both_encodings_give_it_back() {
        let folder = tempfile::tempdir().unwrap();
        let dist = folder.path().join("dist");
        let template = "<link href=\"{{css}}\"><script src=\"{{js}}\"></script>";
        let first = write(&dist, &parts(template), Weight::Full).unwrap();
        let again = write(&dist, &parts(template), Weight::Full).unwrap();
        let names = |written: &[Written]| written.iter().map(|file| file.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&first), names(&again));

        let named = |start: &str, end: &str| {
            names(&first).into_iter().find(|name| name.starts_with(start) && name.ends_with(end)).unwrap()
        };
        let (wasm, boot) = (named("assets/weir-", ".wasm"), named("assets/boot-", ".js"));
        let boot = std::fs::read_to_string(dist.join(boot)).unwrap();
        assert!(boot.contains(&format!("'./{}'", file_name(&wasm))), "{boot}");
        let mut plain = Vec::new();
        let gz = std::fs::File::open(dist.join(format!("{wasm}.gz"))).unwrap();
        flate2::read::GzDecoder::new(gz).read_to_end(&mut plain).unwrap();
        assert_eq!(plain, vec![0; 4000]);
        plain.clear();
        let br = std::fs::File::open(dist.join(format!("{wasm}.br"))).unwrap();
        brotli::Decompressor::new(br, 4096).read_to_end(&mut plain).unwrap();
        assert_eq!(plain, vec![0; 4000]);
    }

    #[test]
    fn a_template_without_a_script_leaves_the_last_good_page() {
        let folder = tempfile::tempdir().unwrap();
        let dist = folder.path().join("dist");
        write(&dist, &parts("{{css}} {{js}}"), Weight::Light).unwrap();
        assert!(write(&dist, &parts("nothing"), Weight::Light).is_err());
        assert!(dist.join("index.html").exists());
        assert!(carries(&dist, "m") && !carries(&dist, "other"));
    }
}
