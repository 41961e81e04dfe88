//! How the stand-in irdma's devices come to be.

/// Set before the device is made (by a load of irdma or a devlink change). `Knobs::default()` is
/// the usual: at once, `rdmap2s0f0` for ens1f0 and `irdma1` for ens1f1.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Knobs {
    /// The devices appear that many seconds late.
    pub(crate) delay: u32,
    /// ens1f0's device is called so.
    pub(crate) name: Option<String>,
    /// No device appears.
    pub(crate) never: bool,
}

impl Knobs {
    /// The file that guest/rdma-sync.sh reads.
    pub(crate) const PATH: &str = "/run/lab/rdma.conf";

    pub(super) fn shell(&self) -> String {
        let name = self.name.as_deref().unwrap_or_default();
        let never = if self.never { "1" } else { "" };
        format!("DELAY={}\nNAME={name}\nNEVER={never}\n", self.delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knobs_are_lines_of_shell() {
        let knobs = Knobs { delay: 2, name: Some("rocep2s0".into()), never: false };
        assert_eq!(knobs.shell(), "DELAY=2\nNAME=rocep2s0\nNEVER=\n");
        assert_eq!(Knobs { never: true, ..Knobs::default() }.shell(), "DELAY=0\nNAME=\nNEVER=1\n");
    }
}
