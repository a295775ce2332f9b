// A note: this is our own earlier program, kept as the peer that scripts/bench-allreduce measures beside Tenon. Three figures a shape:
// spawn (threads made each time), persistent (threads kept, timed by the main thread, its wake-up included),
// ranks (threads kept, from the first rank's start to the last one's end: what Tenon's bench times).
// Ring all-reduce as the seed describes it: one thread a worker, std::sync::mpsc channels, scatter-reduce then all-gather.
use std::sync::mpsc::{channel, Receiver, Sender};
use std::thread;
use std::time::Instant;
fn ring(data: &mut Vec<f32>, rank: usize, world: usize, send: &Sender<Vec<f32>>, recv: &Receiver<Vec<f32>>) {
    let n = data.len();
    let b = |i: usize| (i * n / world, (i + 1) * n / world);
    for s in 0..world - 1 {
        let (a, e) = b((rank + world - s) % world);
        send.send(data[a..e].to_vec()).unwrap();
        let (a, _) = b((rank + world - s - 1) % world);
        let v = recv.recv().unwrap();
        for (i, x) in v.iter().enumerate() { data[a + i] += x; }
    }
    for s in 0..world - 1 {
        let (a, e) = b((rank + 1 + world - s) % world);
        send.send(data[a..e].to_vec()).unwrap();
        let (a, _) = b((rank + world - s) % world);
        let v = recv.recv().unwrap();
        data[a..a + v.len()].copy_from_slice(&v);
    }
}
fn once(world: usize, n: usize, persistent: bool, ranks: bool, iters: usize) -> Vec<f64> {
    let mut out = vec![];
    if !persistent {
        for _ in 0..iters {
            let t = Instant::now();
            let mut tx = vec![]; let mut rx = vec![];
            for _ in 0..world { let (a, b) = channel(); tx.push(Some(a)); rx.push(Some(b)); }
            let hs: Vec<_> = (0..world).map(|r| {
                let s = tx[(r + 1) % world].take().unwrap(); let q = rx[r].take().unwrap();
                let mut d = vec![r as f32 + 1.0; n];
                thread::spawn(move || { ring(&mut d, r, world, &s, &q); d[0] })
            }).collect();
            for h in hs { assert_eq!(h.join().unwrap(), (world * (world + 1) / 2) as f32); }
            out.push(t.elapsed().as_secs_f64() * 1e6);
        }
    } else {
        use std::sync::{Arc, Barrier, Mutex};
        let stamps = Arc::new(Mutex::new(vec![(Instant::now(), Instant::now()); world]));
        let bar = Arc::new(Barrier::new(world + 1));
        let mut tx = vec![]; let mut rx = vec![];
        for _ in 0..world { let (a, b) = channel(); tx.push(Some(a)); rx.push(Some(b)); }
        let hs: Vec<_> = (0..world).map(|r| {
            let s = tx[(r + 1) % world].take().unwrap(); let q = rx[r].take().unwrap(); let bar = bar.clone(); let stamps = stamps.clone();
            thread::spawn(move || { let mut d = vec![0f32; n]; for _ in 0..iters { d.fill(r as f32 + 1.0); bar.wait(); let t0 = Instant::now(); ring(&mut d, r, world, &s, &q); let t1 = Instant::now(); if ranks { stamps.lock().unwrap()[r] = (t0, t1); } bar.wait(); } })
        }).collect();
        for _ in 0..iters {
            bar.wait(); let t = Instant::now(); bar.wait();
            let whole = t.elapsed().as_secs_f64() * 1e6;
            // the ranks cannot write again before the main thread comes to the next barrier
            let own = { let v = stamps.lock().unwrap(); (v.iter().map(|x| x.1).max().unwrap() - v.iter().map(|x| x.0).min().unwrap()).as_secs_f64() * 1e6 };
            out.push(if ranks { own } else { whole });
        }
        for h in hs { h.join().unwrap(); }
    }
    out
}
fn main() {
    let only = std::env::args().nth(1); // a shape, such as 8x262144
    for (w, n) in [(4, 1024), (4, 16384), (8, 16384), (8, 262144)] {
        if only.as_ref().is_some_and(|shape| *shape != format!("{w}x{n}")) { continue; }
        for (p, own) in [(false, false), (true, false), (true, true)] {
            let _ = once(w, n, p, own, 50);
            let mut v = once(w, n, p, own, 400); v.sort_by(|a, b| a.partial_cmp(b).unwrap());
            println!("{} {} {} median {:.2} p95 {:.2} min {:.2} max {:.2}", w, n, if own { "ranks" } else if p { "persistent" } else { "spawn" }, v[v.len()/2], v[v.len()*95/100], v[0], v[v.len()-1]);
        }
    }
}
