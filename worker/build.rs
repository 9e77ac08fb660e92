//! Lists the files of the page's build, so that a release holds them. A missing build is no error: the worker then
//! says how to make one. Only releases embed: while developing, the page is read from `editor/dist` at each request.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?);
    let dist = manifest.join("../editor/dist");
    let release = env::var("PROFILE").is_ok_and(|profile| profile == "release");

    let mut files = Vec::new();
    if release {
        println!("cargo:rerun-if-changed={}", dist.display());
        collect(&dist, "", &mut files)?;
        files.sort();
    }
    let mut source = String::from("static EMBEDDED: &[(&str, &[u8])] = &[\n");
    for (name, path) in &files {
        // Writing to a String cannot fail.
        let _ok = writeln!(source, "    ({name:?}, include_bytes!({:?})),", path.display().to_string());
    }
    source.push_str("];\n");
    let tree = (!release).then(|| dist.display().to_string());
    let _ok = writeln!(source, "const SOURCE_TREE: Option<&str> = {tree:?};");
    println!("cargo:rerun-if-changed=build.rs");
    fs::write(Path::new(&env::var("OUT_DIR").map_err(io::Error::other)?).join("page.rs"), source)
}

/// Every file below a directory, by its name relative to the page's root.
fn collect(directory: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.push((name, entry.path().canonicalize()?));
        }
    }
    Ok(())
}
