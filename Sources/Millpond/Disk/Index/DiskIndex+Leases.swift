extension DiskIndex {
  /// Keeps the file of a large value from being removed; false if it is not there any more.
  mutating func lease(_ hash: KeyHash, _ value: LargeValue) -> Bool {
    guard let slot = slot(of: hash), largeValues[slot]?.number == value.number else {
      return false
    }
    leases[value.number, default: 0] += 1
    order.used(slot, hash.bits)
    return true
  }

  /// Keeps a file that is about to be told of from being removed, whatever becomes of that.
  mutating func lease(_ number: UInt64) {
    leases[number, default: 0] += 1
  }

  /// Leases files that were lent before the index was made; those that no entry needs go at the end.
  mutating func leaseAgain(_ numbers: Set<UInt64>) {
    for number in numbers { lease(number) }
    doomed = numbers.subtracting(largeValues.values.map(\.number))
  }

  /// Those of the files that nobody holds; the others go when they are given back.
  mutating func free(of files: [UInt64]) -> [UInt64] {
    files.filter { number in
      if leases[number] == nil { return true }
      doomed.insert(number)
      return false
    }
  }

  /// Gives a lease back; true if the file is not needed any more.
  mutating func giveBack(_ number: UInt64) -> Bool {
    guard let count = leases[number] else { return false }
    leases[number] = count > 1 ? count - 1 : nil
    return count == 1 && doomed.remove(number) != nil
  }
}
