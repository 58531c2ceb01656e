/// The files that there are, and the choice of those that go so that they are not too many bytes.
struct PartialIndex: Sendable {
  private var entries: [String: Entry] = [:]
  private var lent: Set<String> = []

  /// The number of writes on their way, by file.
  private var expected: [String: Int] = [:]
  private var total = 0
  private var lastNumber = 0
  private let byteLimit: Int

  private struct Entry: Sendable {
    var byteCount: Int
    let number: Int
  }

  /// - Parameter files: The oldest first.
  init(_ files: [(name: String, byteCount: Int)] = [], byteLimit: Int) {
    self.byteLimit = byteLimit
    for file in files { put(file.name, file.byteCount) }
  }

  /// Whether a file is there, or will be.
  func has(_ name: String) -> Bool { entries[name] != nil || expected[name] != nil }

  /// Notes that a file will be written, unless that is refused.
  mutating func expect(_ name: String) { expected[name, default: 0] += 1 }

  mutating func endExpecting(_ name: String) {
    guard let count = expected[name] else { return }
    expected[name] = count > 1 ? count - 1 : nil
  }

  /// Whether a file of this size may be written: not in place of one that is lent.
  func admits(_ name: String, byteCount: Int) -> Bool {
    byteCount <= byteLimit && !lent.contains(name)
  }

  /// Takes a file in that is about to be written, in place of its former one.
  ///
  /// - Returns: What is to be removed first, and the size of the former one, which is still there if
  ///   the writing fails.
  mutating func add(_ name: String, byteCount: Int) -> (surplus: [String], former: Int?) {
    let former = entries[name]?.byteCount
    put(name, byteCount)
    return (surplus(), former)
  }

  mutating func undoAdding(_ name: String, former: Int?) {
    if let former { put(name, former) } else { remove(name) }
  }

  /// Forgets a file; false if it is not there, or lent: then it is left alone.
  @discardableResult
  mutating func remove(_ name: String) -> Bool {
    guard let entry = entries.removeValue(forKey: name) else { return false }
    total -= entry.byteCount
    return true
  }

  /// Forgets all files, lent ones too.
  mutating func removeAll() { (entries, lent, total) = ([:], [], 0) }

  /// Whether a file is there and may be used by one alone; meanwhile no other transfer finds it.
  mutating func lend(_ name: String) -> Bool {
    guard remove(name) else { return false }
    lent.insert(name)
    return true
  }

  /// Notes that a lent file was used, and is not there any more.
  mutating func endLending(_ name: String) { lent.remove(name) }

  /// Notes that a lent file was not used; it is there still, unless all has been removed meanwhile.
  mutating func takeBack(_ name: String, byteCount: Int) {
    if lent.remove(name) != nil { put(name, byteCount) }
  }

  /// Forgets the oldest until the rest is within the limit.
  mutating func surplus() -> [String] {
    var gone: [String] = []
    while total > byteLimit, let oldest = entries.min(by: { $0.value.number < $1.value.number }) {
      remove(oldest.key)
      gone.append(oldest.key)
    }
    return gone
  }

  private mutating func put(_ name: String, _ byteCount: Int) {
    remove(name)
    // So that a size that can't be does not overflow.
    let byteCount = min(max(0, byteCount), 1 << 50)
    lastNumber += 1
    entries[name] = Entry(byteCount: byteCount, number: lastNumber)
    total += byteCount
  }
}
