//! The archive format of an initramfs ("newc"), written.

/// One archive in memory. Paths have no leading slash; folders come before what is in them.
#[derive(Default)]
pub(crate) struct Archive {
    bytes: Vec<u8>,
    count: u32,
}

impl Archive {
    pub(crate) fn dir(&mut self, path: &str) {
        self.entry(path, 0o040_755, &[]);
    }

    pub(crate) fn file(&mut self, path: &str, mode: u32, content: &[u8]) {
        self.entry(path, 0o100_000 | mode, content);
    }

    /// The archive with its trailer.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8]) {
        self.count += 1;
        let fields = [
            self.count, // inode
            mode,
            0, // uid
            0, // gid
            1, // links
            0, // mtime
            content.len() as u32,
            0, // device of the file system, major and minor
            0,
            0, // device of the file, major and minor
            0,
            path.len() as u32 + 1,
            0, // checksum, unused in this format
        ];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_a_header_a_padded_name_and_padded_content() {
        let mut archive = Archive::default();
        archive.file("init", 0o755, b"hello");
        let bytes = archive.finish();
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.starts_with("07070100000001000081ed"), "{text}");
        assert_eq!(&bytes[54..62], b"00000005");
        assert_eq!(&bytes[110..115], b"init\0");
        assert_eq!(&bytes[116..124], b"hello\0\0\0");
        assert_eq!(&bytes[124..130], b"070701");
        assert_eq!(bytes.len() % 4, 0);
    }
}
