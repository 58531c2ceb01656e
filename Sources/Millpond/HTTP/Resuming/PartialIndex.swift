/// The index of the partial files, which chooses those to remove so that they stay within a limit.
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

  /// Creates an index.
  ///
  /// - Parameters:
  ///   - files: The files, oldest first.
  ///   - byteLimit: The greatest size of all files in bytes.
  init(_ files: [(name: String, byteCount: Int)] = [], byteLimit: Int) {
    self.byteLimit = byteLimit
    for file in files { put(file.name, file.byteCount) }
  }

  /// Whether a file exists.
  func has(_ name: String) -> Bool { entries[name] != nil }

  /// Adds a file that is about to be written, in place of its former version.
  ///
  /// - Parameters:
  ///   - name: The name of the file.
  ///   - byteCount: Its size in bytes.
  /// - Returns: The files to remove first; nil if it must not be written, since it is larger than the
  ///   limit, or the former version is lent.
  mutating func add(_ name: String, byteCount: Int) -> [String]? {
    if byteCount > byteLimit || lent.contains(name) { return nil }
    put(name, byteCount)
    return surplus()
  }

  /// Removes a file from the index; false if it does not exist or is lent.
  @discardableResult
  mutating func remove(_ name: String) -> Bool {
    guard let entry = entries.removeValue(forKey: name) else { return false }
    total -= entry.byteCount
    return true
  }

  /// Removes all files from the index, including lent ones.
  mutating func removeAll() { (entries, lent, total) = ([:], [], 0) }

  /// Lends a file to one transfer, during which no other finds it; returns whether there is one.
  mutating func lend(_ name: String) -> Bool {
    guard remove(name) else { return false }
    lent.insert(name)
    return true
  }

  /// Keeps a name without a file for one transfer, until ``endLending(_:)``; false if it is not free.
  mutating func reserve(_ name: String) -> Bool { !has(name) && lent.insert(name).inserted }

  /// Records that a lent file was used and no longer exists.
  mutating func endLending(_ name: String) { lent.remove(name) }

  /// Records that a lent file was not used; it is back unless all files were removed meanwhile.
  mutating func takeBack(_ name: String, byteCount: Int) {
    if lent.remove(name) != nil { put(name, byteCount) }
  }

  /// Removes the oldest files from the index until the rest is within the limit, and returns them.
  mutating func surplus() -> [String] {
    var gone: [String] = []
    while total > byteLimit,
      let oldest = entries.min(by: { $0.value.number < $1.value.number })
    {
      remove(oldest.key)
      gone.append(oldest.key)
    }
    return gone
  }

  private mutating func put(_ name: String, _ byteCount: Int) {
    remove(name)
    // Clamped, so that an impossible size does not overflow.
    let byteCount = min(max(0, byteCount), 1 << 50)
    lastNumber += 1
    entries[name] = Entry(byteCount: byteCount, number: lastNumber)
    total += byteCount
  }
}
