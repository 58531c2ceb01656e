/// Which files there are, and which are to go so that they are not too many bytes.
struct PartialIndex: Sendable {
  private var entries: [String: Entry] = [:]
  private var lent: Set<String> = []
  private var total = 0
  private var lastNumber = 0
  private let byteLimit: Int

  private struct Entry: Sendable {
    var byteCount: Int
    let number: Int
  }

  /// - Parameter files: What is there, the oldest first.
  init(_ files: [(name: String, byteCount: Int)] = [], byteLimit: Int) {
    self.byteLimit = byteLimit
    for file in files { put(file.name, file.byteCount) }
  }

  func has(_ name: String) -> Bool {
    entries[name] != nil
  }

  /// Something will be written.
  mutating func expect(_ name: String) {
    if !has(name) { put(name, 0) }
  }

  /// Takes a file in that is about to be written, in place of its former one.
  ///
  /// - Returns: What is to be removed first: of this itself, if it is too large.
  mutating func add(_ name: String, byteCount: Int) -> [String] {
    remove(name)
    guard byteCount <= byteLimit, !lent.contains(name) else { return [name] }
    put(name, byteCount)
    return surplus()
  }

  mutating func remove(_ name: String) {
    total -= entries.removeValue(forKey: name)?.byteCount ?? 0
  }

  mutating func removeAll() -> [String] {
    defer { self = PartialIndex(byteLimit: byteLimit) }
    return Array(entries.keys) + lent
  }

  /// Whether a file is there and may be used by one alone; meanwhile nobody else finds it.
  mutating func lend(_ name: String) -> Bool {
    guard has(name) else { return false }
    remove(name)
    lent.insert(name)
    return true
  }

  /// A file was used, and is not there any more.
  mutating func endLending(_ name: String) {
    lent.remove(name)
  }

  /// A file was not used; it is there still, unless all has been removed meanwhile.
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
    // So that a size that can't be does not overflow.
    let byteCount = min(max(0, byteCount), 1 << 50)
    lastNumber += 1
    entries[name] = Entry(byteCount: byteCount, number: lastNumber)
    total += byteCount
  }
}
