import MillpondCore

/// Leases of files: the file of a large value, a copy or a link that a caller has, or that is being
/// written, is not removed before its last lease ends.
///
/// They outlive the closing of the store: the next store of the folder in this process leases the
/// same files until they are given back.
extension DiskIndex {
  /// Whether a file is in use, so that it must not be removed now.
  func isLeased(_ number: UInt64) -> Bool { leases[number] != nil }

  /// Protects the file of a large value from removal; false if it no longer exists.
  mutating func lease(_ hash: KeyHash, _ value: FileValue) -> Bool {
    guard let slot = slot(of: hash), largeValues[slot]?.number == value.number else { return false }
    lease(value.number)
    order.used(slot, hash.bits)
    return true
  }

  /// Protects a file that is about to be written from removal, whatever happens to the write.
  mutating func lease(_ number: UInt64) { leases[number, default: 0] += 1 }

  /// Leases files that were lent before the index was created; those that no entry needs are
  /// removed at the end of their leases.
  mutating func leaseAgain(_ numbers: Set<UInt64>) {
    for number in numbers { lease(number) }
    removedAfterLease = numbers.subtracting(largeValues.values.map(\.number))
  }

  /// Returns the files without a lease; the others are removed at the end of their leases.
  mutating func free(of files: [UInt64]) -> [UInt64] {
    files.filter { number in
      if !isLeased(number) { return true }
      removedAfterLease.insert(number)
      return false
    }
  }

  /// Ends a lease; true if the file is no longer needed.
  mutating func giveBack(_ number: UInt64) -> Bool {
    guard let count = leases[number] else { return false }
    leases[number] = count > 1 ? count - 1 : nil
    return count == 1 && removedAfterLease.remove(number) != nil
  }

  /// Gives up the file of a value that no entry needs, once it has no lease.
  mutating func giveUp(_ value: FileValue) {
    if isLeased(value.number) {
      removedAfterLease.insert(value.number)
    } else {
      consequence.files.append(value.number)
    }
  }
}
