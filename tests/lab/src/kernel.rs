//! Which kernel the guests run: chosen by name, never by "the first one found".

/// The newest Debian kernel of this architecture that has headers to build modules with.
/// `images` are the names in `/boot`, `headers` the versions that have `/lib/modules/V/build`.
pub(crate) fn newest(images: &[String], has_headers: impl Fn(&str) -> bool) -> Option<String> {
    images
        .iter()
        .filter_map(|name| name.strip_prefix("vmlinuz-"))
        .filter(|version| {
            version.ends_with("-amd64") && !version.contains("-rt-") && !version.contains("-cloud-")
        })
        .filter(|version| has_headers(version))
        .max_by_key(|version| numbers(version))
        .map(str::to_owned)
}

/// The version's numbers, so that 6.1.0-9 is older than 6.1.0-57.
fn numbers(version: &str) -> Vec<u32> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect()
}

/// The kernel of this machine's guests.
pub(crate) fn choose() -> Result<String, String> {
    let entries = std::fs::read_dir("/boot").map_err(|e| format!("reading /boot: {e}"))?;
    let images: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    let has_headers = |version: &str| {
        std::path::Path::new(&format!("/lib/modules/{version}/build/Makefile")).exists()
    };
    newest(&images, has_headers).ok_or_else(|| {
        "no /boot/vmlinuz-*-amd64 whose headers are in /lib/modules/*/build: install linux-image-amd64 and \
         linux-headers-amd64 of the same version"
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_kernel_with_headers_is_chosen_by_number() {
        let images: Vec<String> = [
            "vmlinuz-6.1.0-9-amd64",
            "vmlinuz-6.1.0-57-amd64",
            "vmlinuz-6.1.0-58-amd64",
            "vmlinuz-6.1.0-57-rt-amd64",
            "vmlinuz-6.1.0-60-cloud-amd64",
            "initrd.img-6.1.0-99-amd64",
        ]
        .map(String::from)
        .to_vec();
        assert_eq!(newest(&images, |_| true), Some("6.1.0-58-amd64".into()));
        assert_eq!(newest(&images, |v| !v.contains("-58-")), Some("6.1.0-57-amd64".into()));
        assert_eq!(newest(&images, |_| false), None);
    }
}
