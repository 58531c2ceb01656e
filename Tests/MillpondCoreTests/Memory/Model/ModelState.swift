@testable import MillpondCore

/// The state of a run.
struct ModelState: Sendable {
  /// A token, and the number of writes before it.
  struct Mark: Sendable {
    let token: FillToken
    let writes: ModelWrites.Count
  }

  var reference: ReferenceCache
  var marks: [Int: Mark] = [:]
  var writes = ModelWrites()
  private var values = 0

  init(_ reference: ReferenceCache) {
    self.reference = reference
  }

  /// Returns a value that was not used before, of this cost.
  mutating func nextValue(_ cost: Int) -> Int {
    values += 1
    return values << 8 | cost
  }
}

/// The number of writes of each key.
struct ModelWrites: Sendable {
  private var keys: [Int: Int] = [:]
  private var stripes: [Int: Int] = [:]
  private var all = 0

  mutating func add(_ key: Int) {
    keys[key, default: 0] += 1
    stripes[key.mixedHash & (WriteOrder<Int>.stripeCount - 1), default: 0] += 1
  }

  mutating func addAll() {
    all += 1
  }

  /// Returns the number of writes of a key, and of all that may share its stripe.
  func count(of key: Int) -> Count {
    Count(
      certain: all + keys[key, default: 0],
      doubtful: all + stripes[key.mixedHash & (WriteOrder<Int>.stripeCount - 1), default: 0])
  }

  struct Count: Sendable {
    let certain: Int
    let doubtful: Int
  }
}
