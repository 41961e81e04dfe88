//! Module files on disk, found as `modprobe` finds them and read without running it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection};

use super::tree::words;
use crate::facts::{ModuleFile, Seen};

/// No module is near this size; what is larger is refused instead of filling memory.
const LARGEST: u64 = 256 << 20;
/// What `sign-file` puts at the very end.
const SIGNATURE: &[u8] = b"~Module signature appended~\n";

/// Files of `wanted` below `modules` (`/lib/modules`) for a kernel release. Known none where neither
/// `modules.dep` nor `modules.builtin` has the module.
pub(crate) fn read(
    modules: &Path,
    release: &str,
    wanted: &BTreeSet<String>,
) -> BTreeMap<String, Seen<Option<ModuleFile>>> {
    if wanted.is_empty() {
        return BTreeMap::new();
    }
    let folder = modules.join(release);
    let list = folder.join("modules.dep");
    let text = match std::fs::read_to_string(&list) {
        Ok(text) => text,
        Err(error) => {
            let unknown = Seen::unknown(words(&error), list.display().to_string());
            return wanted.iter().map(|name| (name.clone(), unknown.clone())).collect();
        }
    };
    let paths = places(&text);
    wanted
        .iter()
        .map(|name| {
            let seen = match paths.get(name.replace('-', "_").as_str()) {
                None => Seen::known(None, list.display().to_string()),
                Some(path) => {
                    // A path in modules.dep is relative to its folder, or absolute.
                    let path = folder.join(path);
                    match open(&path) {
                        Ok(file) => Seen::known(Some(file), path.display().to_string()),
                        Err(why) => Seen::unknown(why, path.display().to_string()),
                    }
                }
            };
            (name.clone(), seen)
        })
        .collect()
}

/// Module name to path, from the text of `modules.dep`: `path: dependencies`.
fn places(text: &str) -> BTreeMap<String, PathBuf> {
    text.lines()
        .filter_map(|line| {
            let path = line.split_once(':')?.0;
            let file = path.rsplit('/').next()?;
            let name = file.split_once(".ko")?.0.replace('-', "_");
            Some((name, PathBuf::from(path)))
        })
        .collect()
}

fn open(path: &Path) -> Result<ModuleFile, String> {
    let file = File::open(path).map_err(|error| words(&error))?;
    let bytes = unpack(file, path.extension().and_then(|end| end.to_str()).unwrap_or_default())?;
    decode(&bytes, &path.display().to_string())
}

/// The module itself, whatever it is compressed with.
fn unpack(file: impl Read, ending: &str) -> Result<Vec<u8>, String> {
    let mut input = BufReader::new(file.take(LARGEST));
    let mut bytes = Bounded(Vec::new());
    let done = match ending {
        "xz" => lzma_rs::xz_decompress(&mut input, &mut bytes).map_err(|error| match error {
            lzma_rs::error::Error::IoError(error) => words(&error),
            other => format!("not a sound xz file: {other:?}"),
        }),
        "zst" => ruzstd::decoding::StreamingDecoder::new(&mut input)
            .map_err(|error| format!("not a sound zstd file: {error}"))
            .and_then(|mut decoder| {
                io::copy(&mut decoder, &mut bytes).map(drop).map_err(|error| words(&error))
            }),
        "gz" => io::copy(&mut flate2::read::MultiGzDecoder::new(&mut input), &mut bytes)
            .map(drop)
            .map_err(|error| words(&error)),
        _ => io::copy(&mut input, &mut bytes).map(drop).map_err(|error| words(&error)),
    };
    done.map(|()| bytes.0)
}

/// Takes no more than [`LARGEST`] bytes.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if (self.0.len() + more.len()) as u64 > LARGEST {
            return Err(io::Error::other("larger than 256 MiB when unpacked"));
        }
        self.0.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the `.modinfo` section of an ELF file says.
pub(crate) fn decode(bytes: &[u8], path: &str) -> Result<ModuleFile, String> {
    let broken = |error: object::Error| format!("not a module file: {error}");
    let elf = object::File::parse(bytes).map_err(broken)?;
    let section =
        elf.section_by_name(".modinfo").ok_or("the file has no .modinfo section: not a module")?;
    let mut module = ModuleFile {
        path: path.to_owned(),
        signed: bytes.ends_with(SIGNATURE),
        ..ModuleFile::default()
    };
    for entry in section.data().map_err(broken)?.split(|byte| *byte == 0) {
        let entry = String::from_utf8_lossy(entry);
        let Some((key, value)) = entry.split_once('=') else {
            continue;
        };
        let value = value.trim();
        match key {
            "version" => module.version = Some(value.to_owned()),
            "srcversion" => module.srcversion = Some(value.to_owned()),
            "vermagic" => module.vermagic = Some(value.to_owned()),
            "intree" => module.in_tree = value == "Y",
            // Both are written for a parameter with a description, only parmtype for one without.
            "parm" | "parmtype" => {
                module.parameters.insert(value.split(':').next().unwrap_or(value).to_owned());
            }
            "depends" => {
                module
                    .depends
                    .extend(value.split(',').filter(|name| !name.is_empty()).map(str::to_owned));
            }
            _ => {}
        }
    }
    Ok(module)
}

#[cfg(test)]
#[path = "module_files_tests.rs"]
mod tests;
