import MillpondSignals
import Dispatch
import Glibc
@inline(never) func opaque<T>(_ x: T) -> T { x }
func best(_ name: String, _ n: Int, _ body: (Int) -> Int) {
  var b = Double.infinity; var sum = 0
  for _ in 0..<7 { let t = ContinuousClock.now; sum = body(n); let d = t.duration(to: .now)
    b = min(b, Double(d.components.attoseconds) / 1e9 / Double(n) + Double(d.components.seconds) * 1e9 / Double(n)) }
  print(name, b, sum)
}
final class Box: @unchecked Sendable { var v = 0 }
func sleepy() { usleep(100000) }
@inline(never) func mk(_ i: Int) -> Signal<Int> { Signal.just(i).map { $0 &+ 1 } }
func rows() {
@inline(never) func live(_ n: Int) -> Int {
  let p = Pipe<Int>(); let box = Box()
  let s = opaque(p.signal).map { $0 &+ 1 }.filter { $0 & 1 == 0 || $0 > -1 }.map { $0 &* 3 }
  s.subscribe(onNext: { box.v &+= $0 })
  for i in 0..<n { p.next(i) }
  return box.v
}
best("1 live", 1_000_000, live)
best("1 cold", 1_000_000) { n in
  let box = Box()
  Signal.from(0..<n).map { $0 &+ 1 }.filter { $0 & 1 == 0 || $0 > -1 }.map { $0 &* 3 }.subscribe(onNext: { box.v &+= $0 })
  return box.v
}
best("3 built", 1_000_000) { n in
  let box = Box()
  for i in 0..<n { Signal.just(i).map { $0 &+ 1 }.subscribe(onNext: { box.v &+= $0 }) }
  return box.v
}
best("3 built opaque", 1_000_000) { n in
  let box = Box()
  for i in 0..<n { mk(i).subscribe(onNext: { box.v &+= $0 }) }
  return box.v
}
let pre = mk(3)
best("3b prebuilt", 1_000_000) { n in
  let box = Box()
  for _ in 0..<n { pre.subscribe(onNext: { box.v &+= $0 }) }
  return box.v
}
let pre2 = Signal<Int>.of(1).map { $0 &+ 1 }
best("3c prebuilt no now", 1_000_000) { n in
  let box = Box()
  for _ in 0..<n { opaque(pre2).subscribe(onNext: { box.v &+= $0 }) }
  return box.v
}
let p1 = Pipe<Int>(); let b1 = Box(); p1.signal.subscribe(onNext: { b1.v &+= $0 })
best("4 pipe 1", 1_000_000) { n in for i in 0..<n { p1.next(i) }; return b1.v }
let p10 = Pipe<Int>(); for _ in 0..<1000 { p10.signal.subscribe(onNext: { b1.v &+= $0 }) }
best("4 pipe 1000 (x1000)", 1_000) { n in for i in 0..<n { p10.next(i) }; return b1.v }
let rep = Signal.of(4).replayLast(); rep.subscribe()
best("5 settled", 1_000_000) { n in for _ in 0..<n { rep.subscribe(onNext: { b1.v &+= $0 }) }; return b1.v }
let rp = Pipe<Int>(); let lr = rp.signal.replayLast(); lr.subscribe()
best("5b live replay sub+dispose", 300_000) { n in for _ in 0..<n { lr.subscribe(onNext: { b1.v &+= $0 }).dispose() }; return b1.v }
best("7 create", 300_000) { n in for i in 0..<n {
  Signal<Int>.create { o, l in l.onEnd { b1.v &+= 1 }; o.next(i) ; b1.v &+= 1; if i < 0 {o.completed()}; l.onEnd {withExtendedLifetime(o) {}} }.map { $0 + 1 }.subscribe(onNext: { b1.v &+= $0 }).dispose() }; return b1.v }
best("6 flatMap just", 300_000) { n in Signal.from(0..<n).flatMap { Signal.just($0) }.subscribe(onNext: { b1.v &+= $0 }); return b1.v }
best("6 latest just", 300_000) { n in Signal.from(0..<n).flatMap(.latest) { Signal.just($0) }.subscribe(onNext: { b1.v &+= $0 }); return b1.v }
let za = Pipe<Int>(), zb = Pipe<Int>(); zip(za.signal, zb.signal).subscribe(onNext: { b1.v &+= $0.0 })
best("6 zip", 300_000) { n in for i in 0..<n { za.next(i); zb.next(i) }; return b1.v }
}
// x
// y
