//! A look holds what was asked for.

use super::*;
use crate::facts::{GidScan, Scope, Seen};

#[test]
fn what_was_not_asked_for_is_not_there() {
    let facts = Model::complete(hosts::mlx5()).look(&Scope::default()).unwrap();
    assert_eq!(facts.state.modules.len(), 0);
    assert_eq!(facts.evidence.module_files.len(), 0);
    assert_eq!(facts.evidence.builds.len(), 0);
    assert_eq!(facts.state.devlink.len(), 0);
    assert_eq!(facts.evidence.drivers.len(), 0);
    assert_eq!(facts.state.configfs, Seen::NotAsked);
    assert_eq!(facts.evidence.users, Seen::NotAsked);
    assert_eq!(facts.evidence.userspace, Seen::NotAsked);
    assert_eq!(facts.evidence.verbs, Seen::NotAsked);
    assert_eq!(facts.evidence.lifelines, Seen::NotAsked);
    assert_eq!(hosts::devices(&facts)["mlx5_0"].ports[&1].gids, Seen::NotAsked);
}

#[test]
fn a_scan_for_addresses_ends_where_the_last_one_is_found() {
    let model = Model::complete(hosts::mlx5());
    let until = |text: &str| {
        let gids = GidScan::Until([text.parse().unwrap()].into());
        let facts = model.look(&Scope { gids, ..Scope::default() }).unwrap();
        gids_read(&facts)
    };
    assert_eq!(until("fe80::ee0d:9aff:fe11:2233"), 1);
    assert_eq!(until("10.10.10.1"), 3);
    assert_eq!(until("10.10.10.9"), 4);
    let everything = Scope::everything(["mlx5_ib".to_owned()]);
    assert_eq!(gids_read(&model.look(&everything).unwrap()), 4);
}

fn gids_read(facts: &Facts) -> usize {
    gids(&hosts::devices(facts)["mlx5_0"]).len()
}

#[test]
fn a_whole_host_knows_that_a_module_is_absent_and_a_prediction_does_not() {
    let scope = Scope::everything(["nosuch".to_owned()]);
    let whole = Model::complete(hosts::soft()).look(&scope).unwrap();
    assert!(!whole.state.modules["nosuch"].get().unwrap().loaded);
    assert_eq!(whole.evidence.module_files["nosuch"].get(), Some(&None));
    let part = Model::new(hosts::soft()).look(&scope).unwrap();
    assert_eq!(part.state.modules.get("nosuch"), None);
    assert_eq!(part.evidence.module_files.get("nosuch"), None);
}
