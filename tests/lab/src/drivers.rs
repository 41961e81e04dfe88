//! The sources of the guests' kernel modules: the stand-ins of `drivers/`, and what is taken from
//! Debian's kernel source at build time.

use std::path::Path;

/// Where Debian's package linux-source-6.1 puts the source.
pub(crate) const KERNEL_SOURCE: &str = "/usr/src/linux-source-6.1.tar.xz";

/// Folders taken from it.
pub(crate) const SIW: &str = "drivers/infiniband/sw/siw";
pub(crate) const E1000E: &str = "drivers/net/ethernet/intel/e1000e";
pub(crate) const NETDEVSIM: &str = "drivers/net/netdevsim";

const ICE_RDMA_C: &str = include_str!("../drivers/ice_rdma.c");
const ICE_RDMA_H: &str = include_str!("../drivers/ice_rdma.h");
const IRDMA_C: &str = include_str!("../drivers/irdma.c");

/// What Intel's out-of-tree ice of the first seed says of itself.
const ICE_VERSION: &str = "1.9.11";

/// Which of the two drivers of the same name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    OutOfTree,
    InKernel,
}

/// An exact place in a file of e1000e and what it becomes. A place that is not there exactly once
/// stops the build: a stand-in without its hook would look like an ice without RDMA.
struct Patch {
    file: &'static str,
    from: &'static str,
    to: &'static str,
}

const PATCHES: [Patch; 5] = [
    Patch {
        file: "netdev.c",
        from: "e1000e_driver_name[] = \"e1000e\"",
        to: "e1000e_driver_name[] = \"ice\"",
    },
    Patch {
        file: "netdev.c",
        from: "#include \"e1000.h\"\n",
        to: "#include \"e1000.h\"\n#include \"ice_rdma.h\"\n",
    },
    Patch {
        file: "netdev.c",
        from: "\terr = register_netdev(netdev);\n\tif (err)\n\t\tgoto err_register;\n",
        to: "\terr = register_netdev(netdev);\n\tif (err)\n\t\tgoto err_register;\n\tice_rdma_add_port(pdev, netdev);\n",
    },
    Patch {
        file: "netdev.c",
        from: "\tunregister_netdev(netdev);\n",
        to: "\tice_rdma_del_port(netdev);\n\tunregister_netdev(netdev);\n",
    },
    // `ethtool -i` then shows the E810's firmware, as devlink does.
    Patch {
        file: "ethtool.c",
        from: "\t\t \"%d.%d-%d\",\n\t\t (adapter->eeprom_vers & 0xF000) >> 12,\n\
               \t\t (adapter->eeprom_vers & 0x0FF0) >> 4,\n\t\t (adapter->eeprom_vers & 0x000F));\n",
        to: "\t\t \"3.20 0x8000d84c 1.3146.0\");\n",
    },
];

/// Everything of the project's own that decides how the modules come out.
pub(crate) fn fingerprint_texts() -> Vec<&'static str> {
    let mut texts = vec![ICE_RDMA_C, ICE_RDMA_H, IRDMA_C, ICE_VERSION];
    // The patches and the makefiles are in this file.
    texts.push(include_str!("drivers.rs"));
    texts.push(include_str!("modules.rs"));
    texts
}

/// Makes a copy of e1000e, unpacked at `e1000e`, an ice in `dir`.
pub(crate) fn write_ice(dir: &Path, e1000e: &Path, form: Form) -> Result<(), String> {
    let entries =
        std::fs::read_dir(e1000e).map_err(|e| format!("reading {}: {e}", e1000e.display()))?;
    let mut objects = vec!["ice_rdma.o".to_owned()];
    for entry in entries {
        let name = entry.map_err(|e| format!("reading {}: {e}", e1000e.display()))?.file_name();
        let name = name.to_string_lossy().into_owned();
        if !name.ends_with(".c") && !name.ends_with(".h") {
            continue;
        }
        let path = e1000e.join(&name);
        let mut text = std::fs::read_to_string(&path)
            .map_err(|e| format!("reading {}: {e}", path.display()))?;
        for patch in PATCHES.iter().filter(|patch| patch.file == name) {
            text = replace_once(&text, patch.from, patch.to)
                .map_err(|e| format!("{}: {e}", path.display()))?;
        }
        // Intel's own release has a version; for the kernel's driver `ethtool -i` says the
        // kernel's release.
        if name == "netdev.c" && form == Form::OutOfTree {
            text += &format!("\nMODULE_VERSION(\"{ICE_VERSION}\");\n");
        }
        if name == "ethtool.c" && form == Form::OutOfTree {
            let driver =
                "\tstrscpy(drvinfo->driver, e1000e_driver_name, sizeof(drvinfo->driver));\n";
            let version = format!(
                "{driver}\tstrscpy(drvinfo->version, \"{ICE_VERSION}\", sizeof(drvinfo->version));\n"
            );
            text = replace_once(&text, driver, &version)
                .map_err(|e| format!("{}: {e}", path.display()))?;
        }
        write(dir, &name, &text)?;
        if let Some(stem) = name.strip_suffix(".c") {
            objects.push(format!("{stem}.o"));
        }
    }
    objects.sort();
    write(dir, "ice_rdma.c", ICE_RDMA_C)?;
    write(dir, "ice_rdma.h", ICE_RDMA_H)?;
    write(dir, "Makefile", &format!("obj-m := ice.o\nice-objs := {}\n", objects.join(" ")))
}

/// The stand-in irdma.
pub(crate) fn write_irdma(dir: &Path, form: Form) -> Result<(), String> {
    let define = match form {
        Form::OutOfTree => "",
        Form::InKernel => "ccflags-y := -DIN_KERNEL\n",
    };
    write(dir, "irdma.c", IRDMA_C)?;
    write(dir, "ice_rdma.h", ICE_RDMA_H)?;
    write(dir, "Makefile", &format!("obj-m := irdma.o\n{define}"))
}

fn write(dir: &Path, name: &str, text: &str) -> Result<(), String> {
    let path = dir.join(name);
    std::fs::write(&path, text).map_err(|e| format!("writing {}: {e}", path.display()))
}

fn replace_once(text: &str, from: &str, to: &str) -> Result<String, String> {
    match text.matches(from).count() {
        1 => Ok(text.replacen(from, to, 1)),
        count => Err(format!("the place to patch is there {count} times, not once: {from:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_applies_only_to_one_place() {
        assert_eq!(replace_once("a b c", "b", "x"), Ok("a x c".into()));
        assert_eq!(
            replace_once("b b", "b", "x"),
            Err("the place to patch is there 2 times, not once: \"b\"".into())
        );
        assert_eq!(
            replace_once("a", "b", "x"),
            Err("the place to patch is there 0 times, not once: \"b\"".into())
        );
    }
}
