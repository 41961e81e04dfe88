//! try-out
use roce_setup::smoke::*;
use std::time::Duration;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args.get(1).map(String::as_str) == Some("smoke-child") {
        std::process::exit(i32::from(child::main(&args[2])));
    }
    if args[1] == "list" {
        println!("{:?}", roce_setup::verbs::list_devices());
        return;
    }
    let endpoint = Endpoint {
        netdev: args[2].clone(),
        device: args[3].clone(),
        local: args[4].parse().unwrap(),
        mode: args.get(6).cloned(),
    };
    let address = args[5].parse().unwrap();
    if args[1] == "serve" {
        let options = ServeOptions {
            endpoints: vec![endpoint],
            port: DEFAULT_PORT,
            limits: Limits::default(),
            most_tests: None,
        };
        println!("{:?}", serve(&options, &mut |p| println!("{p:?}")));
        return;
    }
    let wait = std::env::var("WAIT").ok().and_then(|w| w.parse().ok()).unwrap_or(30);
    let peer = match args[1].as_str() {
        "call" => Peer::Serving { address },
        "meet" => Peer::Rendezvous { address, wait: Duration::from_secs(wait) },
        "loop" => Peer::Loopback,
        _ => panic!(),
    };
    let traffic = std::env::var("TRAFFIC").ok().and_then(|w| w.parse().ok()).unwrap_or(30);
    let job = Job {
        endpoint,
        peer,
        port: DEFAULT_PORT,
        tests: Job::default_tests(),
        limits: Limits { traffic: Duration::from_secs(traffic), ..Limits::default() },
    };
    let start = std::time::Instant::now();
    let outcome = run(&job, &mut |p| {
        if !matches!(p, Progress::WaitingForPeer { .. }) {
            eprintln!("{:6.2} {p:?}", start.elapsed().as_secs_f64())
        }
    });
    eprintln!("took {:?}", start.elapsed());
    println!("{}", serde_json::to_string_pretty(&outcome).unwrap());
}
