import MillpondSignals
import Synchronization

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

  /// Returns the allocation and release of `count` objects.
  static func objects(_ count: Int) -> Work {
    Work(
      "objects-\(count)", elsewhere: 24 * Double(count), expected: { triangle($0) * count }
    ) { operations in
      var sum = 0
      for term in 0..<operations {
        for _ in 0..<count { sum &+= opaqueObject(term).take() }
      }
      return sum
    }
  }

  /// The standard library's lock, an addition behind it, and a closure called after the unlock.
  static let mutex = summing("mutex", elsewhere: 9.1, expected: triangle) { sum, operations in
    let add: (Int) -> Void = opaqueCall { sum.add($0) }
    let state = Mutex(0)
    for term in 0..<operations {
      add(
        state.withLock { last in
          last = term
          return last
        })
    }
  }

  /// Our lock around a dictionary of a thousand, by a string of 40 characters.
  static let stringTable: Work = {
    let state = Locked(Dictionary(uniqueKeysWithValues: zip(stringKeys, 0...)))
    return Work("dictionary", elsewhere: 61, expected: sumOfKeys) { operations in
      var sum = 0
      for _ in 0..<(operations / 1_000) {
        for key in stringKeys { sum &+= state.withLock { $0[key] } ?? 0 }
      }
      return sum
    }
  }()

  /// Returns the sum of that many visits to a thousand keys in turn, by their numbers.
  @Sendable static func sumOfKeys(_ operations: Int) -> Int {
    operations / 1_000 * triangle(1_000)
  }

  /// A thousand different strings of 40 characters.
  static let stringKeys = (0..<1_000).map(stringKey)

  /// Returns a string of 40 characters, different for each number.
  static func stringKey(_ number: Int) -> String {
    "https://example.org/pictures/" + String(String(100_000_000_000 + number).suffix(11))
  }
}

@inline(never)
private func opaqueObject(_ value: Int) -> Sum {
  let sum = Sum()
  sum.add(value)
  return sum
}
