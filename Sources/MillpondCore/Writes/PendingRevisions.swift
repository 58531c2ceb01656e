import MillpondSignals

/// The numbers of the writes that have begun and not ended, in pages.
///
/// No change takes longer than one page, however many writes are pending.
///
/// - Complexity: O(1) to begin the latest, O(log *n*) to begin an earlier one and to end any.
struct PendingRevisions: Sendable {
  /// Some of the numbers, in ascending order, without those of other pages in between.
  private struct RevisionPage: Sendable {
    /// Each number with its pending writes: several if several layers delay the same write.
    var writes: ContiguousArray<(number: UInt64, count: Int32)> = []

    /// The first place with pending writes, and the number of such places.
    var first = 0
    var pendingCount = 0
  }

  /// The pages, at least one; all have pending writes, except that the last may be empty.
  private var pages: ContiguousArray<RevisionPage> = [RevisionPage()]

  static var pageLength: Int { 1_024 }

  /// The greatest number of places that a change moves.
  var longestPage: Int { max(pages.count, pages.map(\.writes.count).max() ?? 0) }

  /// The earliest pending number.
  var oldest: UInt64 {
    pages[0].pendingCount > 0 ? pages[0].writes[pages[0].first].number : .max
  }

  mutating func begin(_ number: UInt64) {
    let latest = pages.last?.writes.last ?? pages.dropLast().last?.writes.last
    if let latest, latest.number >= number { return beginEarlier(number) }
    if pages[pages.count - 1].writes.count == Self.pageLength { pages.append(RevisionPage()) }
    let last = pages.count - 1
    pages[last].writes.append((number, 1))
    pages[last].pendingCount += 1
  }

  private mutating func beginEarlier(_ number: UInt64) {
    let page = page(of: number)
    let place = place(of: number, in: page)
    let isFirst = pages[page].pendingCount == 0 || place <= pages[page].first
    if place < pages[page].writes.count, pages[page].writes[place].number == number {
      if pages[page].writes[place].count == 0 { pages[page].pendingCount += 1 }
      pages[page].writes[place].count += 1
    } else {
      pages[page].writes.insert((number, 1), at: place)
      pages[page].pendingCount += 1
    }
    if isFirst { pages[page].first = place }
    if pages[page].writes.count >= 2 * Self.pageLength { divide(page) }
  }

  /// Ends one write of a number.
  mutating func end(_ number: UInt64) {
    let page = page(of: number)
    let place = place(of: number, in: page)
    guard place < pages[page].writes.count, pages[page].writes[place].number == number,
      pages[page].writes[place].count > 0
    else { return }
    pages[page].writes[place].count -= 1
    if pages[page].writes[place].count > 0 { return }
    pages[page].pendingCount -= 1
    if pages[page].pendingCount > 0 {
      while pages[page].writes[pages[page].first].count == 0 { pages[page].first += 1 }
    } else if page < pages.count - 1 {
      pages.remove(at: page)
    } else {
      pages[page].writes.removeAll(keepingCapacity: true)
      pages[page].first = 0
    }
  }

  /// Moves the second half of a page to a new one.
  private mutating func divide(_ page: Int) {
    let writes = pages[page].writes
    pages[page] = RevisionPage()
    pages.insert(RevisionPage(), at: page + 1)
    for (place, write) in writes.enumerated() where write.count > 0 {
      let half = place < writes.count / 2 ? page : page + 1
      pages[half].writes.append(write)
      pages[half].pendingCount += 1
    }
    for half in [page + 1, page] where pages[half].pendingCount == 0 && pages.count > 1 {
      pages.remove(at: half)
    }
  }

  /// Returns the last page that does not begin behind a number.
  private func page(of number: UInt64) -> Int {
    var (low, high) = (0, pages.count - 1)
    if high > 0, pages[high].writes.isEmpty { high -= 1 }
    while low < high {
      let middle = (low + high + 1) / 2
      if pages[middle].writes[0].number <= number { low = middle } else { high = middle - 1 }
    }
    return low
  }

  /// Returns the first place of a number in a page, or of the next greater one.
  private func place(of number: UInt64, in page: Int) -> Int {
    let writes = pages[page].writes
    return partitionPoint(writes.count) { writes[$0].number < number }
  }
}
