//! scratch
use roce_setup::change::Change;
use roce_setup::facts::{GidScan, Scope};
use roce_setup::host::{Act, Look, linux::Linux};
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let linux = Linux::new();
    match args.first().map(String::as_str) {
        Some("act") => {
            let change: Change = serde_json::from_str(&args[1]).expect("change");
            match linux.act(&change) {
                Ok(()) => println!("{change}: ok"),
                Err(e) => println!("{change}: REFUSED [{:?}] {e}", e.errno),
            }
        }
        Some("time") => {
            let m = ["ice", "irdma", "rdma_rxe", "siw"].map(str::to_owned);
            let until = GidScan::Until(std::iter::once("100.0.1.10".parse().unwrap()).collect());
            let check = Scope {
                modules: m.iter().cloned().collect(),
                gids: until,
                devlink: true,
                userspace: true,
                configfs: true,
                ..Scope::default()
            };
            for (name, scope) in [
                ("default", Scope::default()),
                ("check", check),
                ("everything", Scope::everything(m)),
            ] {
                let mut best = std::time::Duration::MAX;
                let mut first = None;
                for _ in 0..10 {
                    let t = std::time::Instant::now();
                    let f = linux.look(&scope).unwrap();
                    let d = t.elapsed();
                    first.get_or_insert(d);
                    best = best.min(d);
                    std::hint::black_box(f);
                }
                println!("{name}: first {:?} best {best:?}", first.unwrap());
            }
        }
        Some("check") => {
            let m = ["ice", "irdma"].map(str::to_owned);
            let until = GidScan::Until(std::iter::once("100.0.1.10".parse().unwrap()).collect());
            let check = Scope {
                modules: m.iter().cloned().collect(),
                gids: until,
                devlink: true,
                userspace: true,
                configfs: true,
                ..Scope::default()
            };
            println!("{}", linux.look(&check).unwrap().to_json().len());
        }
        _ => {
            let scope = Scope::everything(
                ["ice", "irdma", "rdma_rxe", "siw", "ib_core"].map(str::to_owned),
            );
            println!("{}", linux.look(&scope).unwrap().to_json());
        }
    }
}
