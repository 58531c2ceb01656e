// Without a type of its own, `found` is an array only while Foundation is not visible.
struct Planted {
  var known: [UInt64: [String]] = [:]

  func found(_ bits: UInt64, _ block: Range<Int>, _ names: [String], _ start: Int) -> [String] {
    let found =
      known[bits] ?? block.filter { bits >> UInt64($0 - start) & 1 == 1 }.map { names[$0] }
    return found
  }
}
