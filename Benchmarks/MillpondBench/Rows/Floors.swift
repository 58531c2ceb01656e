import MillpondSignals
import Synchronization

/// Returns the floors that the hardware, the runtime and the C library set.
func floorRows() -> [Row] {
  let empty = Work("loop", expected: triangle) { operations in
    let sum = Sum()
    for term in 0..<operations { opaqueAdd(sum, term) }
    return sum.take()
  }
  let floors: [(work: Work, summary: String)] = [
    (.lock, "our lock, acquired and released"),
    (.mutex, "the standard library's Mutex, acquired and released"),
    (.atomic, "an atomic exchange"),
    (.retain, "an object retained and released"),
    (.object, "an object allocated and freed"),
    (.chain(of: 3), "three closures, one inside the other"),
    (.chain(of: 10), "ten closures, one inside the other"),
    (.table, "a dictionary under our lock, by Int"),
    (.stringTable, "a dictionary under our lock, by a String of 40 characters"),
  ]
  return floors.map { floor in
    Row(
      name: "floor-\(floor.work.name)", summary: floor.summary, isFloor: true, baseline: empty,
      body: floor.work)
  }
}

extension Work {
  /// Calls of closures that the optimiser can't see through, one inside the other.
  static func chain(of length: Int) -> Work {
    Work(
      "chain-\(length)", elsewhere: [3: 8.5, 10: 25][length],
      expected: { triangle($0) + length * $0 }
    ) { operations in
      let sum = Sum()
      var first: (Int) -> Void = opaqueCall { sum.add($0) }
      for _ in 0..<length {
        let next = first
        first = opaqueCall { next($0 &+ 1) }
      }
      for term in 0..<operations { first(term) }
      return sum.take()
    }
  }

  /// An object allocated and released.
  static let object = objects(1)

  /// Returns the allocation and release of `count` objects.
  static func objects(_ count: Int) -> Work {
    Work(
      count == 1 ? "object" : "objects-\(count)", elsewhere: 24 * Double(count),
      expected: { triangle($0) * count }
    ) { operations in
      var sum = 0
      for term in 0..<operations {
        for _ in 0..<count { sum &+= opaqueObject(term).value }
      }
      return sum
    }
  }

  /// Our lock, an addition behind it, and a closure called after the unlock.
  static let lock = Work("lock", expected: triangle) { operations in
    let sum = Sum()
    let add: (Int) -> Void = opaqueCall { sum.add($0) }
    let state = Locked(0)
    for term in 0..<operations {
      add(
        state.withLock { last in
          last = term
          return last
        })
    }
    return sum.take()
  }

  /// The standard library's lock around the same.
  static let mutex = Work("mutex", elsewhere: 9.1, expected: triangle) { operations in
    let sum = Sum()
    let add: (Int) -> Void = opaqueCall { sum.add($0) }
    let state = Mutex(0)
    for term in 0..<operations {
      add(
        state.withLock { last in
          last = term
          return last
        })
    }
    return sum.take()
  }

  /// An atomic exchange.
  static let atomic = Work("atomic", expected: { triangle($0 - 1) }) { operations in
    let last = Atomic<Int>(0)
    var sum = 0
    for term in 0..<operations { sum &+= last.exchange(term, ordering: .acquiringAndReleasing) }
    return sum
  }

  /// An object retained and released.
  static let retain = Work("retain", elsewhere: 9.7, expected: triangle) { operations in
    let sum = Sum()
    for term in 0..<operations {
      let retained = Unmanaged.passRetained(opaqueSame(sum))
      opaqueAdd(sum, term)
      retained.release()
    }
    return sum.take()
  }

  /// Our lock around a dictionary of a thousand, by number.
  static let table = lockedTable(
    "table", elsewhere: 15, keys: Array(0..<1_000))

  /// Our lock around a dictionary of a thousand, by a string of 40 characters.
  static let stringTable = lockedTable(
    "table-string", elsewhere: 61, keys: stringKeys)

  private static func lockedTable<Key: Hashable & Sendable>(
    _ name: String, elsewhere: Double, keys: [Key]
  ) -> Work {
    let state = Locked(Dictionary(uniqueKeysWithValues: zip(keys, 0...)))
    return Work(
      name, elsewhere: elsewhere, expected: { $0 / 1_000 * triangle(1_000) }
    ) { operations in
      var sum = 0
      for _ in 0..<(operations / 1_000) {
        for key in keys { sum &+= state.withLock { $0[key] } ?? 0 }
      }
      return sum
    }
  }

  /// A thousand different strings of 40 characters.
  static let stringKeys = (0..<1_000).map(stringKey)

  /// Returns a string of 40 characters, different for each number.
  static func stringKey(_ number: Int) -> String {
    "https://example.org/pictures/" + String(String(100_000_000_000 + number).suffix(11))
  }
}

private final class Number {
  let value: Int

  init(_ value: Int) {
    self.value = value
  }
}

@inline(never)
private func opaqueObject(_ value: Int) -> Number {
  Number(value)
}

@inline(never)
private func opaqueAdd(_ sum: Sum, _ term: Int) {
  sum.add(term)
}

@inline(never)
@_optimize(none)
private func opaqueSame(_ sum: Sum) -> Sum {
  sum
}
